"""Warped cepstra against the warped spectrum evaluated point by point."""

import numpy as np
import pytest

from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.mfcc import mfcc
from asr.features.warping import warped_copies, warped_hertz, warping_matrix


def test_no_warp_changes_nothing() -> None:
    config = FeatureConfig()
    np.testing.assert_allclose(warping_matrix(1.0, config), np.eye(12), atol=1e-12)


@pytest.mark.parametrize("warp", [0.88, 1.12])
def test_the_matrix_equals_the_spectrum_evaluated_at_warped_places(warp: float) -> None:
    config = FeatureConfig(n_filters=20, n_cepstra=5, lifter=22, low_hz=100.0, high_hz=4000.0)
    cepstra = np.random.default_rng(0).normal(size=5)
    plain = [c / (1 + 11 * np.sin(np.pi * k / 22)) for k, c in enumerate(cepstra, 1)]

    def mel(hertz: float) -> float:
        return 1127.0 * np.log1p(hertz / 700.0)

    step = (mel(4000.0) - mel(100.0)) / 21
    spectrum = []
    for n in range(20):
        hertz = 700.0 * np.expm1((mel(100.0) + (n + 1) * step) / 1127.0)
        place = (mel(float(warped_hertz(np.array(hertz), warp, 4000.0))) - mel(100.0)) / step - 1
        spectrum.append(sum(c * np.cos(np.pi * k * (place + 0.5) / 20) for k, c in enumerate(plain, 1)))
    expected = []
    for k in range(1, 6):
        value = 2 / 20 * sum(s * np.cos(np.pi * k * (n + 0.5) / 20) for n, s in enumerate(spectrum))
        expected.append(value * (1 + 11 * np.sin(np.pi * k / 22)))
    np.testing.assert_allclose(warping_matrix(warp, config) @ cepstra, expected, rtol=1e-10)


def test_warps_there_and_back_nearly_cancel() -> None:
    config = FeatureConfig(n_filters=40)
    there_and_back = warping_matrix(1 / 1.05, config) @ warping_matrix(1.05, config)
    assert np.abs(there_and_back - np.eye(12))[:6, :6].max() < 0.1


def test_a_higher_resonance_is_what_a_warp_below_one_gives() -> None:
    rate, config = 16000, FeatureConfig()
    noise = np.random.default_rng(1).normal(size=rate)

    def resonant(hertz: float) -> np.ndarray:
        spectrum = np.fft.rfft(noise)
        bins = np.fft.rfftfreq(rate, 1 / rate)
        spectrum *= 1 / (1 + ((bins - hertz) / 300.0) ** 2) + 0.01
        return mfcc((1e3 * np.fft.irfft(spectrum)).astype(np.float32), config)[:, :12].mean(axis=0)

    low, high = resonant(1500.0), resonant(1500.0 / 0.9)
    warped = warping_matrix(0.9, config) @ low
    assert np.linalg.norm(warped - high) < 0.5 * np.linalg.norm(low - high)


def test_copies_are_utterances_of_new_speakers_with_the_energy_as_it_was() -> None:
    frames = np.random.default_rng(2).normal(size=(7, 13)).astype(np.float32)
    table = FrameTable.from_utterances(["a", "b"], ["x", "y"], [frames[:3], frames[3:]])
    for energy_first, column in ((False, 12), (True, 0)):
        copies = warped_copies(table, (0.9, 1.1), FeatureConfig(energy_first=energy_first))
        assert copies.ids == ("a", "b", "a/0.9", "b/0.9", "a/1.1", "b/1.1")
        assert copies.speakers == ("x", "y", "x/0.9", "y/0.9", "x/1.1", "y/1.1")
        np.testing.assert_array_equal(copies.utterance("b/1.1")[:, column], frames[3:, column])
        np.testing.assert_array_equal(copies.utterance("a"), frames[:3])
        assert not np.allclose(copies.utterance("b/1.1"), frames[3:])


def test_energy_first_moves_the_energy_column_to_the_front() -> None:
    signal = np.random.default_rng(3).normal(size=8000).astype(np.float32) * 1000
    last = mfcc(signal, FeatureConfig())
    first = mfcc(signal, FeatureConfig(energy_first=True))
    np.testing.assert_array_equal(first, np.roll(last, 1, axis=1))
