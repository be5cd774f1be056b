"""Sound, waveform and spectrogram of utterances."""

import base64
import io
from pathlib import Path

import numpy as np
import pytest
import soundfile
from PIL import Image

from asr.alignment.frame_times import FrameTimes
from asr.alignment.recording_labels import AlignedUtterance, Label
from asr.corpus.data_directory import Utterance
from asr.decode.path_segments import Segment
from asr.report import clip as clip_module
from asr.report.clip import Tier, make_clip, make_clips, spectrogram, tiers_of
from asr.util.errors import CorpusError

RATE = 8000


@pytest.fixture
def utterance(tmp_path):
    def write(seconds=1.0, rate=RATE, channels=1, level=0.5, **options):
        rng = np.random.default_rng(0)
        samples = level * rng.uniform(-1, 1, (round(seconds * rate), channels))
        path = tmp_path / f"{seconds}-{rate}-{channels}.wav"
        soundfile.write(path, samples, rate, subtype="PCM_16")
        return Utterance("u", "s", ("ONE",), path, **options)

    return write


def decoded(uri: str) -> io.BytesIO:
    return io.BytesIO(base64.b64decode(uri.partition("base64,")[2]))


def test_clip_holds_the_samples_of_the_file(utterance):
    one = utterance()
    clip = make_clip(one, [])
    samples, rate = soundfile.read(decoded(clip.sound), dtype="int16")
    assert np.array_equal(samples, soundfile.read(one.audio, dtype="int16")[0])
    assert (rate, clip.seconds, clip.whole_seconds, clip.top_hz) == (RATE, 1.0, 1.0, 4000)
    assert Image.open(decoded(clip.spectrogram)).size == (200, 128)


@pytest.mark.parametrize(("rate", "expected"), [(4000, 8000), (11_025, 11_025), (48_000, 16_000)])
def test_clip_has_a_rate_that_browsers_play(utterance, rate, expected):
    clip = make_clip(utterance(rate=rate, channels=2), [])
    info = soundfile.info(decoded(clip.sound))
    assert (info.samplerate, info.channels, info.subtype) == (expected, 1, "PCM_16")


def test_long_utterance_is_cut_with_its_labels(utterance):
    tiers = [Tier("words", [Label(0.0, 19.0, "A"), Label(19.5, 21.0, "B"), Label(21.0, 22.0, "C")])]
    clip = make_clip(utterance(30.0, start=2.0, end=25.0), tiers)
    assert (clip.seconds, clip.whole_seconds) == (20.0, 23.0)
    assert [tuple(label[:3]) for label in clip.tiers[0].labels] == [(0.0, 19.0, "A"), (19.5, 20.0, "B")]
    assert Image.open(decoded(clip.spectrogram)).size == (1200, 128)
    assert clip.size < 20 * RATE * 2 * 4 / 3 + 300_000


def test_spectrogram_equals_a_direct_sum():
    rng = np.random.default_rng(1)
    samples = (1000 * rng.standard_normal(RATE // 10)).astype(np.float32)
    found = spectrogram(samples, RATE)
    width, columns = 80, 20
    levels = np.empty((128, columns))
    padded = np.pad(samples.astype(float), width // 2, "symmetric")
    for column in range(columns):
        center = int((column + 0.5) * len(samples) / columns)
        frame = padded[center : center + width] * np.hanning(width)
        for row in range(128):
            wave = np.exp(-2j * np.pi * (row + 1) * np.arange(width) / 256)
            levels[127 - row, column] = 20 * np.log10(abs((frame * wave).sum()) * (row + 1))
    expected = np.clip((levels.max() - levels) / 60, 0, 1) * 255
    assert found.shape == (128, columns)
    assert np.abs(found.astype(float) - expected).max() <= 255 / 24 / 2 + 1


def test_tone_is_dark_at_its_frequency():
    shades = spectrogram(1000 * np.sin(2 * np.pi * 1000 * np.arange(RATE) / RATE).astype(np.float32), RATE)
    assert abs((127 - shades.mean(axis=1).argmin() + 1) * RATE / 256 - 1000) <= RATE / 256


@pytest.mark.parametrize("n_samples", [1, 2, 50, 81])
def test_very_short_sound_has_pictures(tmp_path, n_samples):
    soundfile.write(tmp_path / "a.wav", np.zeros(n_samples), RATE)
    clip = make_clip(Utterance("u", "s", (), tmp_path / "a.wav"), [])
    assert np.asarray(Image.open(decoded(clip.spectrogram))).min() == 255  # silence is white
    assert clip.waveform.startswith("M0 50")


def test_missing_audio_is_an_issue_of_the_utterance(utterance, tmp_path):
    utterances = {
        "gone": Utterance("gone", "s", (), tmp_path / "gone.wav"),
        "features": Utterance("features", "s", (), archive=tmp_path / "a.ark"),
        "there": utterance(),
    }
    clips, issues = make_clips(["gone", "features", "unknown", "there"], utterances, {})
    assert list(clips) == ["there"]
    assert [(issue.utterance, issue.code) for issue in issues] == [("gone", "missing-file"), ("features", "no-audio")]
    with pytest.raises(CorpusError):
        make_clip(utterances["gone"], [])


def test_number_and_size_of_clips_are_limited(utterance, monkeypatch):
    one = utterance(0.1)
    utterances = {str(number): one for number in range(30)}
    assert len(make_clips(utterances, utterances, {})[0]) == 20
    monkeypatch.setattr(clip_module, "MAX_CHARACTERS", round(3.5 * make_clip(one, []).size))
    assert list(make_clips(utterances, utterances, {})[0]) == ["0", "1", "2"]


def test_tiers_have_seconds_and_trusts():
    times = FrameTimes(0.01, 0.02, 100, 1.02)
    words, phones = [Segment("ONE", 0, 50)], [Segment("W", 0, 10), Segment("AH", 10, 50)]
    one = AlignedUtterance(Utterance("u", "s", ("ONE",), Path("a")), words, phones, times, 0.5, (0.25,))
    assert tiers_of(one) == [
        Tier("words", [Label(0.0, 0.505, "ONE", 0.25)]),
        Tier("phones", [Label(0.0, 0.105, "W"), Label(0.105, 0.505, "AH")], of_words=False),
    ]
