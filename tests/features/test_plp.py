"""PLP against the definition by other means: Fourier transforms and normal equations, one frame at a time."""

import numpy as np
import pytest
from scipy.linalg import solve_toeplitz

from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.features.mfcc import mfcc
from asr.features.warping import warping_matrix
from tests.features.test_mfcc import babble

VARIANTS = [
    FeatureConfig(kind="plp"),
    FeatureConfig(kind="plp", energy="c0", energy_first=True),
    FeatureConfig(kind="plp", sample_rate=8000, n_filters=20, n_cepstra=8, lifter=0, energy="c0", low_hz=100),
]


def written_out(signal: np.ndarray, config: FeatureConfig) -> np.ndarray:
    """Cepstra, then c0, of HTK's PLP: the mel powers of `kind = "fbank"`, and the formulas behind them."""
    powers = np.exp(mfcc(signal, config.model_copy(update={"kind": "fbank", "energy": "log", "energy_first": False})))
    mel = np.linspace(
        1127 * np.log1p(config.low_hz / 700), 1127 * np.log1p(config.sample_rate / 1400), config.n_filters + 2
    )
    rows = []
    for power in powers[:, :-1].astype(float):
        bands = []
        for value, place in zip(power, mel[1:-1], strict=True):
            f2 = (700 * (np.exp(place / 1127) - 1)) ** 2
            bands.append((value * (f2 / (f2 + 1.6e5)) ** 2 * (f2 + 1.44e6) / (f2 + 9.61e6)) ** 0.33)
        lags = np.fft.irfft([bands[0], *bands, bands[-1]])[: config.n_cepstra + 1]
        predictor = np.concatenate([[1.0], solve_toeplitz(lags[:-1], -lags[1:])])
        gain = predictor @ lags
        model = gain / np.abs(np.fft.fft(predictor, 4096)) ** 2
        cepstra = np.fft.ifft(np.log(model)).real[: config.n_cepstra + 1]
        n = np.arange(config.n_cepstra + 1)
        lifter = 1 + config.lifter / 2 * np.sin(np.pi * n / config.lifter) if config.lifter else np.ones(len(n))
        rows.append([*(lifter * cepstra)[1:], np.log(gain)])
    return np.array(rows)


@pytest.mark.parametrize("config", VARIANTS, ids=lambda config: f"{config.sample_rate}-{config.energy}")
def test_plp_equals_the_definition(config: FeatureConfig) -> None:
    signal = babble(config.sample_rate // 2)
    found = np.roll(mfcc(signal, config), -1, axis=1) if config.energy_first else mfcc(signal, config)
    expected = written_out(signal, config)
    assert found.shape == expected.shape and found.dtype == np.float32
    columns = slice(None) if config.energy == "c0" else slice(0, config.n_cepstra)
    np.testing.assert_allclose(found[:, columns], expected[:, columns], atol=1e-3)


def test_plp_of_digital_silence_is_finite() -> None:
    assert np.isfinite(mfcc(np.zeros(8000, np.float32), FeatureConfig(kind="plp", energy="c0"))).all()


@pytest.mark.parametrize("chunk", [1, 160, 1000])
def test_plp_streamed_equals_batch(chunk: int) -> None:
    config = FeatureConfig(kind="plp", sample_rate=8000)
    signal = babble(4000 if chunk > 1 else 600)
    table = FrameTable.from_utterances(["u"], ["s"], [mfcc(signal, config)])
    front_end = FrontEnd(config).fit(table)
    stream = front_end.stream()
    parts = [stream.push(signal[first : first + chunk]) for first in range(0, len(signal), chunk)]
    streamed = np.concatenate([*parts, stream.finish()])
    np.testing.assert_allclose(streamed, front_end.transform(table).frames, atol=3e-5, rtol=1e-5)


def test_warped_plp_is_that_of_the_spectrum_at_warped_frequencies() -> None:
    config = FeatureConfig(kind="plp", n_filters=40)
    np.testing.assert_allclose(warping_matrix(1.0, config), np.eye(12), atol=1e-12)
    plain = FeatureConfig(kind="plp", n_filters=40, lifter=0)
    smooth = np.random.default_rng(0).normal(size=12) * 0.5 ** np.arange(12)

    def slope(values: np.ndarray, *hertz: float) -> float:
        """Difference of the log spectrum at two frequencies; its mean is in c0."""
        angles = np.pi * np.log1p(np.array(hertz) / 700) / np.log1p(8000 / 700)
        return float(np.diff(2 * values @ np.cos(np.outer(np.arange(1, 13), angles)))[0])

    found = slope(warping_matrix(0.9, plain) @ smooth, 1000.0, 2000.0)
    assert found == pytest.approx(slope(smooth, 900.0, 1800.0), abs=0.01)
