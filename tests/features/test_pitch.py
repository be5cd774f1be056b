"""Pitch of synthetic tones, in batch and in a stream; slow because librosa compiles for 20 s."""

from pathlib import Path

import numpy as np
import pytest

from asr.features.config import FeatureConfig
from asr.features.extraction import signal_features
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.features.level import silent_utterances, utterance_levels
from asr.features.pitch import LOOKAHEAD, pitch_features
from asr.util.errors import FeatureError
from benchmarks.tones import errors, make_corpus

pytestmark = pytest.mark.slow

RATE = 8000
CONFIG = FeatureConfig(sample_rate=RATE, pitch=True)
SECONDS = np.arange(3 * RATE) / RATE
PITCH = 160 * 2 ** (np.sin(2 * SECONDS) / 2)
HUM = np.cumsum(PITCH) / RATE
VOICED = (np.sin(5 * SECONDS) > -0.5) & (SECONDS < 2.5)
SIGNAL = sum(np.cos(2 * np.pi * k * HUM) / k for k in range(1, 9)) * VOICED
SIGNAL = (1000 * (SIGNAL + 0.003 * np.random.default_rng(0).normal(size=len(SIGNAL)))).astype(np.float32)


@pytest.fixture(scope="module")
def static() -> np.ndarray:
    return signal_features(SIGNAL, CONFIG, source="test")


def test_pitch_of_a_glide_is_found_and_interpolated(static: np.ndarray) -> None:
    log_pitch, voicing = static[:, -2:].T
    centers = np.arange(len(static)) * CONFIG.shift_samples + CONFIG.window_samples // 2
    inside = np.convolve(VOICED, np.ones(800), "same")[centers] == 800
    outside = np.convolve(VOICED, np.ones(800), "same")[centers] == 0
    assert np.abs(12 / np.log(2) * (log_pitch - np.log(PITCH[centers])))[inside].max() < 0.5
    assert voicing[inside].min() > 0.4 > 0.2 > voicing[outside].max()
    assert np.abs(np.diff(log_pitch)).max() < 0.1
    assert np.ptp(log_pitch[centers > 2.6 * RATE]) < 0.2


@pytest.mark.parametrize("chunk", [37, 1000, 30_000])
def test_pitch_streamed_equals_batch(static: np.ndarray, chunk: int) -> None:
    table = FrameTable.from_utterances(["u"], ["s"], [static])
    front_end = FrontEnd(CONFIG).fit(table)
    stream, waiting, parts = front_end.stream(), 0, []
    for first in range(0, len(SIGNAL), chunk):
        parts.append(stream.push(SIGNAL[first : first + chunk]))
        known = max(0, 1 + (min(first + chunk, len(SIGNAL)) - CONFIG.window_samples) // CONFIG.shift_samples)
        waiting = max(waiting, known - sum(map(len, parts)))
    parts.append(stream.finish())
    np.testing.assert_allclose(np.concatenate(parts), front_end.transform(table).frames, atol=3e-5)
    assert waiting <= LOOKAHEAD + 2 * CONFIG.delta_window + 2  # the windows of pitch are longer


@pytest.mark.parametrize("n_samples", [0, 199, 200, 280, 8199])
def test_pitch_has_the_frames_of_the_cepstra(n_samples: int) -> None:
    rows = pitch_features(np.zeros(n_samples, np.float32), CONFIG)
    assert len(rows) == max(0, 1 + (n_samples - 200) // 80)
    assert not rows[:, 1].any() and not np.diff(rows[:, 0]).any()


def test_model_with_pitch_refuses_frames_without(static: np.ndarray) -> None:
    front_end = FrontEnd(CONFIG).fit(FrameTable.from_utterances(["u"], ["s"], [static]))
    assert FrontEnd.from_arrays(*front_end.to_arrays()).config.pitch
    with pytest.raises(FeatureError, match="pitch"):
        front_end.transform(FrameTable.from_utterances(["u"], ["s"], [static[:, :-2]]))


def test_mean_of_the_speaker_is_subtracted_from_log_pitch(static: np.ndarray) -> None:
    higher = static + np.eye(static.shape[1], dtype=np.float32)[-2] * 0.5
    table = FrameTable.from_utterances(["u", "v"], ["s", "t"], [static, higher])
    frames = (
        FrontEnd(CONFIG.model_copy(update={"normalize": "speaker", "speaker_prior": 0.0})).fit(table).transform(table)
    )
    np.testing.assert_allclose(frames.utterance("u"), frames.utterance("v"), atol=1e-3)


def test_level_and_silence_are_found_next_to_pitch(static: np.ndarray) -> None:
    silence = signal_features(np.zeros(RATE, np.float32), CONFIG, source="test")
    table = FrameTable.from_utterances(["u", "z"], ["s", "s"], [static, silence])
    without = FrameTable.from_utterances(["u", "z"], ["s", "s"], [static[:, :-2], silence[:, :-2]])
    plain = CONFIG.model_copy(update={"pitch": False})
    assert silent_utterances(table, CONFIG) == {"z"}
    np.testing.assert_array_equal(utterance_levels(table, CONFIG), utterance_levels(without, plain))


def test_pitch_with_a_long_shift_is_refused() -> None:
    with pytest.raises(ValueError, match="shift_ms"):
        FeatureConfig(pitch=True, shift_ms=60, window_ms=80)


def test_tones_are_recognized_with_pitch(tmp_path: Path) -> None:
    make_corpus(tmp_path, n_speakers=4, n_test_speakers=2, n_utterances=5, seed=0)
    (without, *_), (having, *_) = (errors(tmp_path, pitch, 0, "gmm") for pitch in (False, True))
    assert having <= without / 2
