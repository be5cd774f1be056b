"""MFCC beside a transcription of the formulas frame by frame, and beside kaldi-native-fbank."""

import math
from collections.abc import Sequence

import kaldi_native_fbank
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from asr.corpus.audio import read_audio
from asr.corpus.data_directory import read_data_directory
from asr.features.config import FeatureConfig
from asr.features.mel import mel_filters
from asr.features.mfcc import mfcc
from asr.util.errors import ConfigError, FeatureError


def written_out(signal: np.ndarray, config: FeatureConfig) -> np.ndarray:
    """The formulas of The HTK Book, one frame, one filter and one cepstrum at a time, in double precision."""
    rate = config.sample_rate
    window, shift = int(rate * config.window_ms / 1000), int(rate * config.shift_ms / 1000)
    size = 1
    while size < window:
        size *= 2

    def mel(hertz: float) -> float:
        return 1127 * math.log(1 + hertz / 700)

    low, high = mel(config.low_hz), mel(config.high_hz or rate / 2)
    step = (high - low) / (config.n_filters + 1)
    mels, energies = [], []
    for t in range(1 + (len(signal) - window) // shift if len(signal) >= window else 0):
        frame = [float(value) for value in signal[t * shift : t * shift + window]]
        energies.append(math.log(max(sum(value * value for value in frame), config.log_floor)))
        emphasised = [frame[0] - 0.97 * frame[0]] + [frame[n] - 0.97 * frame[n - 1] for n in range(1, window)]
        tapered = [
            value * (0.54 - 0.46 * math.cos(2 * math.pi * n / (window - 1))) for n, value in enumerate(emphasised)
        ]
        power = np.abs(np.fft.fft(tapered, size)[: size // 2 + 1]) ** 2
        log_mel = []
        for i in range(config.n_filters):
            centre, total = low + (i + 1) * step, 0.0
            for k, value in enumerate(power):
                total += value * max(0.0, 1 - abs(mel(k * rate / size) - centre) / step)
            log_mel.append(math.log(max(total, config.log_floor)))
        mels.append(log_mel)
    if config.dynamic_range_db:
        energies = with_floor(energies, config.dynamic_range_db)
        mels = list(zip(*(with_floor(band, config.dynamic_range_db) for band in zip(*mels, strict=True)), strict=True))
    rows = []
    n_filters = config.n_filters
    for log_mel, energy in zip(mels, energies, strict=True):
        cepstra = []
        for n in range(config.n_cepstra + 1):
            scale = math.sqrt((1 if n == 0 else 2) / n_filters)
            c = scale * sum(value * math.cos(math.pi * n * (j + 0.5) / n_filters) for j, value in enumerate(log_mel))
            cepstra.append(c * (1 + config.lifter / 2 * math.sin(math.pi * n / config.lifter)))
        rows.append([*cepstra[1:], energy if config.energy == "log" else cepstra[0]])
    return np.array(rows)


def with_floor(logs: Sequence[float], decibels: float) -> list[float]:
    """Power over time, plus that of its 95 % quantile less so many dB."""
    place = 0.95 * (len(logs) - 1)
    below, above = sorted(logs)[math.floor(place)], sorted(logs)[math.ceil(place)]
    loud = below + (place - math.floor(place)) * (above - below)
    return [math.log(math.exp(value) + math.exp(loud) * 10 ** (-decibels / 10)) for value in logs]


def kaldi(signal: np.ndarray, config: FeatureConfig, htk_compat: bool = False) -> np.ndarray:
    """kaldi-native-fbank with the same options; its energy or c0 moved to the last column."""
    options = kaldi_native_fbank.MfccOptions()
    frame = options.frame_opts
    frame.samp_freq = config.sample_rate
    frame.frame_length_ms, frame.frame_shift_ms = config.window_ms, config.shift_ms
    frame.dither, frame.preemph_coeff, frame.remove_dc_offset = 0.0, config.preemphasis, False
    frame.window_type, frame.round_to_power_of_two, frame.snip_edges = "hamming", True, True
    options.mel_opts.num_bins, options.mel_opts.low_freq = config.n_filters, config.low_hz
    options.mel_opts.high_freq = config.high_hz or 0.0
    options.num_ceps, options.cepstral_lifter = config.n_cepstra + 1, config.lifter
    options.use_energy, options.raw_energy, options.energy_floor = config.energy == "log", True, 0.0
    options.htk_compat = htk_compat
    computer = kaldi_native_fbank.OnlineMfcc(options)
    computer.accept_waveform(config.sample_rate, signal.tolist())
    computer.input_finished()
    rows = np.array([computer.get_frame(t) for t in range(computer.num_frames_ready)])
    return rows if htk_compat else np.roll(rows, -1, axis=1)


def babble(n: int, seed: int = 0) -> np.ndarray:
    """Noise and tones that swell and fade, on the 16-bit scale, whole numbers."""
    generator = np.random.default_rng(seed)
    t = np.arange(n)
    swell = 40 + 6000 * np.sin(t / 2500) ** 4
    return np.round(
        swell * (np.sin(t * 0.11) + np.sin(t * 0.43 + t**2 * 1e-6) + 0.3 * generator.normal(size=n))
    ).astype(np.float32)


VARIANTS = [
    FeatureConfig(),
    FeatureConfig(energy="c0"),
    FeatureConfig(sample_rate=8000),
    FeatureConfig(sample_rate=8000, energy="c0", n_filters=20, n_cepstra=10),
    FeatureConfig(sample_rate=11025, window_ms=25.6, low_hz=100, high_hz=5000),
    FeatureConfig(sample_rate=22050, shift_ms=8, low_hz=64, high_hz=8000, n_filters=30),
]


RANGES = [FeatureConfig(dynamic_range_db=35), FeatureConfig(sample_rate=8000, energy="c0", dynamic_range_db=20)]


@pytest.mark.slow  # librosa compiles functions when it is imported
@pytest.mark.parametrize("rate", [8000, 16000])
def test_mfcc_without_preemphasis_and_lifter_equal_those_of_librosa(rate):
    librosa = pytest.importorskip("librosa")
    config = FeatureConfig(sample_rate=rate, energy="c0", preemphasis=0.0, lifter=0, dynamic_range_db=0)
    size, window = config.fft_size, config.window_samples
    signal = babble(rate // 2)
    options = {"n_fft": size, "hop_length": config.shift_samples, "win_length": window, "center": False}
    spectrum = librosa.stft(signal.astype(np.float64), window=np.hamming(window), **options)
    mel = mel_filters(rate, size, config.n_filters, config.low_hz, config.high_hz) @ np.abs(spectrum) ** 2
    expected = librosa.feature.mfcc(S=np.log(mel), n_mfcc=config.n_cepstra + 1, dct_type=2, norm="ortho").T
    ours = mfcc(signal[(size - window) // 2 :], config)  # librosa centers the window in the FFT
    np.testing.assert_allclose(np.roll(ours, 1, axis=1)[: len(expected)], expected[: len(ours)], atol=1e-3)


@pytest.mark.parametrize(
    "config",
    VARIANTS + RANGES,
    ids=lambda config: f"{config.sample_rate}-{config.energy}-{config.n_filters}-{config.dynamic_range_db:g}",
)
def test_mfcc_equal_the_formulas_written_out(config):
    signal = babble(config.sample_rate // 2)
    features = mfcc(signal, config)
    assert features.dtype == np.float32 and features.flags.c_contiguous
    np.testing.assert_allclose(features, written_out(signal, config), atol=1e-4)


@pytest.mark.parametrize(
    "config", VARIANTS, ids=lambda config: f"{config.sample_rate}-{config.energy}-{config.n_filters}"
)
def test_mfcc_equal_kaldi_set_to_the_same_options(config):
    signal = babble(2 * config.sample_rate)
    np.testing.assert_allclose(mfcc(signal, config), kaldi(signal, config), atol=1e-3)


@pytest.mark.parametrize("energy", ["log", "c0"])
def test_kaldi_in_htk_order_has_the_same_columns(energy):
    config = FeatureConfig(energy=energy)
    ours, theirs = mfcc(babble(16000), config), kaldi(babble(16000), config, htk_compat=True)
    if energy == "c0":
        ours[:, -1] *= np.sqrt(2)
    np.testing.assert_allclose(ours, theirs, atol=1e-3)


def test_digital_silence_stays_finite_and_equals_kaldi():
    signal = np.concatenate([babble(4000), np.zeros(4000, np.float32), babble(4000)])
    for energy in ("log", "c0"):
        config = FeatureConfig(energy=energy)
        np.testing.assert_allclose(mfcc(signal, config), kaldi(signal, config), atol=1e-3)


@pytest.mark.parametrize("corpus", ["fsdd/test", "an4/audio_test"])
def test_real_speech_equals_kaldi_and_the_formulas(speech_data, corpus):
    config = FeatureConfig(sample_rate=8000 if corpus.startswith("fsdd") else 16000)
    utterances = read_data_directory(speech_data / corpus).utterances
    for utterance in utterances[:: max(len(utterances) // 12, 1)]:
        signal = read_audio(utterance.source, rate=config.sample_rate)
        np.testing.assert_allclose(mfcc(signal, config), kaldi(signal, config), atol=1e-3)
    np.testing.assert_allclose(mfcc(signal[:4000], config), written_out(signal[:4000], config), atol=1e-3)


@settings(max_examples=60, deadline=None)
@given(n=st.integers(0, 3000), rate=st.sampled_from([8000, 11025, 16000]))
def test_only_whole_frames_count(n, rate):
    config = FeatureConfig(sample_rate=rate)
    window, shift = int(0.025 * rate), int(0.010 * rate)
    expected = 1 + (n - window) // shift if n >= window else 0
    assert mfcc(np.ones(n, np.float32), config).shape == (expected, 13)


def test_frames_do_not_depend_on_what_surrounds_them():
    signal, config = babble(16000 * 4), FeatureConfig()
    whole = mfcc(signal, config)
    np.testing.assert_allclose(mfcc(signal[160 * 270 :], config), whole[270:], atol=1e-5)


@pytest.mark.parametrize("energy", ["log", "c0"])
def test_dynamic_range_makes_quiet_parts_alike(energy):
    generator, speech = np.random.default_rng(1), babble(16000)
    pauses = [np.zeros(8000), generator.integers(-1, 2, 8000), 3 * generator.normal(size=8000)]
    within, without = (
        [mfcc(np.concatenate([speech, pause]).astype(np.float32), config) for pause in pauses]
        for config in (FeatureConfig(energy=energy, dynamic_range_db=35), FeatureConfig(energy=energy))
    )
    silent = slice(101, None)
    for other in within[1:]:
        np.testing.assert_allclose(other[silent], within[0][silent], atol=0.5)
    assert min(np.abs(other[silent] - without[0][silent]).max() for other in without[1:]) > 10
    loud = without[0][:98, -1] > np.quantile(without[0][:98, -1], 0.9)
    np.testing.assert_allclose(within[0][:98][loud], without[0][:98][loud], atol=0.5)


def test_a_louder_recording_moves_the_energy_alone():
    speech = np.concatenate([babble(16000), np.zeros(8000, np.float32)])
    quiet, loud = (mfcc(gain * speech, FeatureConfig(dynamic_range_db=35)) for gain in (1.0, 4.0))
    np.testing.assert_allclose(loud[:, :-1], quiet[:, :-1], atol=1e-3)
    np.testing.assert_allclose(loud[:, -1] - quiet[:, -1], 2 * math.log(4), atol=1e-3)


def test_digital_silence_stays_itself_within_a_dynamic_range():
    config = FeatureConfig(dynamic_range_db=35)
    features = mfcc(np.zeros(16000, np.float32), config)
    np.testing.assert_allclose(features, np.repeat(features[:1], len(features), axis=0), atol=1e-4)


def test_signals_that_are_no_signals_are_refused():
    with pytest.raises(FeatureError, match="shape"):
        mfcc(np.zeros((2, 500)), FeatureConfig())
    with pytest.raises(FeatureError, match=r"not finite.* sample 400"):
        mfcc(np.array([0.0] * 400 + [np.inf] * 500), FeatureConfig())


def test_filters_cross_at_half_height_and_cover_the_band():
    weights = mel_filters(16000, 512, 26, 0.0, None)
    assert weights.shape == (26, 257) and weights.min() == 0 and weights.max() <= 1
    inner = slice(weights[0].argmax() + 1, weights[-1].argmax())
    np.testing.assert_allclose(weights.sum(axis=0)[inner], 1, atol=1e-12)


def test_a_filter_without_a_bin_is_refused():
    with pytest.raises(ConfigError, match="covers no bin"):
        mel_filters(16000, 256, 80, 0.0, None)


WRONG = [("n_cepstra", 26), ("high_hz", 9000), ("low_hz", 8000), ("shift_ms", 30), ("energy", "none")]


@pytest.mark.parametrize(("name", "value"), [*WRONG, ("windw_ms", 25), ("shift_ms", 0.01)])
def test_settings_that_make_no_sense_are_refused(name, value):
    with pytest.raises(ValidationError):
        FeatureConfig(**{name: value})
