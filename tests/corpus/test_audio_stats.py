"""What is measured of samples, beside the same by other means."""

from pathlib import Path

import numpy as np
import pytest
import scipy.signal
import soundfile
import soxr
from hypothesis import given
from hypothesis import strategies as st

from asr.alignment.forced_alignment import shortest_path_frames
from asr.alignment.transcript_graph import transcript_graph
from asr.corpus.audio_stats import Channels, cut_off, measure
from asr.corpus.data_directory import Utterance, read_data_directory
from asr.features.config import FeatureConfig
from asr.features.mfcc import mfcc
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon
from asr.validation.transcripts import frames_of, shortest_frames

SPEECH = scipy.signal.lfilter([1.0], [1.0, -0.9], np.random.default_rng(0).standard_normal(48000)).astype(np.float32)


def as_16_bit(samples: np.ndarray) -> np.ndarray:
    return (np.round(samples / np.abs(samples).max() * 20000) / 32768).astype(np.float32)


def test_speech_of_the_whole_band_has_no_cut_off():
    for rate in (8000, 16000, 44100):
        assert cut_off(as_16_bit(SPEECH), rate) is None


@pytest.mark.parametrize("low", [8000, 11025])
@pytest.mark.parametrize("high", [16000, 44100, 48000])
def test_speech_converted_to_a_higher_rate_ends_at_half_its_own(low: int, high: int):
    assert cut_off(as_16_bit(soxr.resample(as_16_bit(SPEECH), low, high)), high) == low / 2


def test_the_filter_of_scipy_is_noticed_too():
    assert cut_off(as_16_bit(scipy.signal.resample_poly(as_16_bit(SPEECH), 2, 1)), 16000) == 4000


def test_no_silence_or_short_click_has_a_cut_off():
    assert cut_off(np.zeros(16000, np.float32), 16000) is None
    assert cut_off(np.ones(100, np.float32), 16000) is None


def spoken(seed: int, n_samples: int = 48000) -> np.ndarray:
    """Noise of the colour and with the pauses of speech."""
    noise = scipy.signal.lfilter([1.0], [1.0, -0.9], np.random.default_rng(seed).standard_normal(n_samples))
    syllables = np.abs(np.sin(np.arange(n_samples) * (2 + seed) / 16000 * np.pi))
    return 0.05 * noise * syllables


def differ(left: np.ndarray, right: np.ndarray, rate: int = 16000, block: int = 20_000) -> bool:
    pair = np.stack([left, right], axis=1).astype(np.float32)
    channels = Channels()
    for first in range(0, len(pair), block):
        channels.add(pair[first : first + block])
    return channels.measured(pair.mean(axis=1), rate).differing


@pytest.mark.parametrize("delay", [0, 1, 8, 16])
@pytest.mark.parametrize("gain", [1.0, 0.4, -0.7])
def test_one_speaker_before_two_microphones_is_the_same_on_both_channels(delay: int, gain: float):
    hiss = np.random.default_rng(9).normal(0, 0.005, (2, 48000))
    speech = spoken(0)
    for one, other in ((0, delay), (delay, 0)):
        assert not differ(np.roll(speech, one) + hiss[0], gain * np.roll(speech, other) + hiss[1])


@pytest.mark.parametrize("rate", [8000, 16000, 48000])
@pytest.mark.parametrize("n_samples", [4000, 48000])
def test_speech_beside_noise_or_another_speaker_differs(rate: int, n_samples: int):
    speech = spoken(0, n_samples)
    noise = np.random.default_rng(1).normal(0, speech.std(), n_samples)
    assert differ(speech, noise, rate) and differ(noise, 0.3 * speech, rate)
    assert differ(speech, spoken(1, n_samples), rate)
    assert differ(speech + 0.5, noise + 0.5, rate)  # a constant offset in both does not make them similar


def test_speakers_who_take_turns_differ():
    first = np.arange(48000) < 24000
    assert differ(spoken(0) * first, spoken(1) * ~first)


def test_a_channel_that_is_silent_or_nearly_so_does_not_differ():
    speech = spoken(0)
    hum = np.random.default_rng(1).normal(0, speech.std(), 48000)
    assert not differ(speech, 0 * speech) and not differ(0 * speech, speech)
    assert not differ(speech, 0.05 * hum) and not differ(0.05 * hum, speech)
    assert not differ(0 * speech, 0 * speech)


@given(words=st.lists(st.sampled_from(["A", "B", "CC"]), min_size=1, max_size=6).map(tuple), states=st.integers(1, 4))
def test_fewest_frames_are_those_of_the_shortest_path(words, states):
    lexicon = Lexicon({"A": (("a", "b"), ("b",)), "B": (("b", "a", "b"),), "CC": (("c", "c"), ("a", "c", "b"))})
    graph = transcript_graph(words, lexicon, Topology(lexicon.phones, states))
    assert shortest_frames(words, lexicon, states) == shortest_path_frames(graph)


@given(n_samples=st.integers(1, 3000), rate=st.sampled_from([8000, 11025, 16000]))
def test_frames_are_counted_as_the_front_end_counts_them(n_samples, rate):
    config = FeatureConfig(sample_rate=rate)
    assert frames_of(n_samples / rate, config) == len(mfcc(np.zeros(n_samples), config))


def test_a_segment_is_measured_by_itself(tmp_path: Path):
    path = tmp_path / "a.wav"
    soundfile.write(path, np.concatenate([np.zeros(8000), np.full(8000, 0.5), np.ones(8000)]), 8000)
    first, second, third = (
        measure(Utterance("a", "s", None, audio=path, start=start, end=start + 1.0), 8000, True) for start in (0, 1, 2)
    )
    assert [found.n_samples for found in (first, second, third)] == [8000] * 3
    assert [round(found.peak, 3) for found in (first, second, third)] == [0, 0.5, 1]
    assert [found.clipped for found in (first, second, third)] == [0, 0, 1]
    assert len({first.digest, second.digest, third.digest}) == 3


@pytest.mark.corpus
def test_real_recordings_have_a_cut_off_once_converted(speech_data: Path):
    for utterance in read_data_directory(speech_data / "speechocean762" / "dev").utterances:
        samples, rate = soundfile.read(utterance.source, dtype="float32")
        assert cut_off(samples, rate) is None, utterance.id
        narrow = soxr.resample(samples, rate, 8000)
        assert cut_off(soxr.resample(narrow, 8000, rate), rate) == 4000, utterance.id
