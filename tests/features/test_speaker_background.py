"""How far a speaker lies off, whatever was said."""

import numpy as np
import pytest

from asr.features.speaker_background import MIN_FRAMES, BackgroundModel, fit_background

CENTRES = np.array([[-3.0, 0.0], [3.0, 1.0], [0.0, -4.0]])


def frames(rng: np.random.Generator, which: tuple[int, ...], n: int) -> np.ndarray:
    return (CENTRES[rng.choice(which, n)] + 0.3 * rng.standard_normal((n, 2))).astype(np.float32)


@pytest.fixture(scope="module")
def background() -> BackgroundModel:
    rng = np.random.default_rng(0)
    return fit_background(frames(rng, (0, 1, 2), 5000), 0.5 * rng.standard_normal((20, 2)))


@pytest.mark.parametrize("which", [(0,), (1, 2), (0, 1, 2)])
def test_the_offset_of_a_speaker_is_found_from_whatever_sounds_there_are(background: BackgroundModel, which) -> None:
    offset = np.array([0.6, -0.4])
    said = frames(np.random.default_rng(1), which, 400)
    np.testing.assert_allclose(background.offset(said + offset), offset, atol=0.1)
    np.testing.assert_allclose(background.offset(said), 0, atol=0.1)


def test_of_few_frames_little_is_made(background: BackgroundModel) -> None:
    far = np.array([[1.0, 1.0]], np.float32) + CENTRES[0].astype(np.float32)
    assert (np.abs(background.offset(far)) < 0.9).all()
    np.testing.assert_array_equal(background.offset(np.empty((0, 2), np.float32)), 0)


@pytest.mark.parametrize("which", [(0, 1), (1, 2), (0, 0, 0, 0, 1, 2)])
def test_offset_and_scale_are_found_whatever_part_each_sound_has(background: BackgroundModel, which) -> None:
    offset, size = np.array([0.6, -0.4]), np.array([1.3, 0.8])
    said = frames(np.random.default_rng(1), which, 600) * size + offset
    found, scale = background.offset_and_scale(said, len(said), 1.0)
    np.testing.assert_allclose(found, offset, atol=0.15)
    np.testing.assert_allclose(1 / scale, size, rtol=0.1)


@pytest.mark.parametrize("which", [(0,), (1, 2), (0, 0, 0, 0, 1, 2)])
def test_the_shift_of_a_composition_is_that_of_the_mean(background: BackgroundModel, which) -> None:
    said = frames(np.random.default_rng(1), which, 3000)
    usual = frames(np.random.default_rng(2), (0, 1, 2), 3000)
    moved = np.mean(np.square(said.mean(axis=0) - CENTRES.mean(axis=0)))
    np.testing.assert_allclose(background.composition_shift(said), moved, rtol=0.1)
    assert background.composition_shift(usual) < 0.01 * moved
    assert background.composition_shift(said[:0]) == 0.0


def test_offset_and_scale_are_the_likeliest(background: BackgroundModel) -> None:
    said = frames(np.random.default_rng(4), (0, 1), 300) * 1.2 + 0.3
    weight = 100.0
    offset, scale = background.offset_and_scale(said, len(said), weight)

    def objective(offset: np.ndarray, scale: np.ndarray) -> float:
        """Of the scale: the speaker's frames, and `weight` that the mixture expects about the offset found."""
        own = background.log_density(scale * (said - offset)).sum() + len(said) * np.log(scale).sum()
        others = sum(
            share * 0.5 * ((scale * m - m) ** 2 + (scale**2) * v) @ (1 / v)
            for share, m, v in zip(background.weights, background.means, background.variances, strict=True)
        )
        return float(own + weight * (np.log(scale).sum() - others))

    best = objective(offset, scale)
    for column in range(2):
        for step in (-0.02, 0.02):
            changed = scale.copy()
            changed[column] *= 1 + step
            assert objective(offset, changed) < best


def test_of_few_frames_the_scale_is_the_background_s(background: BackgroundModel) -> None:
    said = 1.5 * frames(np.random.default_rng(6), (0, 1), 20)
    _, scale = background.offset_and_scale(said, 20, 1000.0)
    np.testing.assert_allclose(scale, 1, atol=0.05)
    for part in zip(background.offset_and_scale(np.empty((0, 2), np.float32), 0, 1000.0), (0.0, 1.0), strict=True):
        np.testing.assert_allclose(*part)


def test_some_frames_stand_for_all(background: BackgroundModel) -> None:
    said = 1.2 * frames(np.random.default_rng(7), (0, 1, 2), 1000)
    every = background.offset_and_scale(said, 1000, 200.0)
    half = background.offset_and_scale(said[::2], 1000, 200.0)
    np.testing.assert_allclose(half[1], every[1], rtol=0.05)


def test_the_mixture_is_no_larger_than_its_frames_allow() -> None:
    rng = np.random.default_rng(2)
    for n, size in ((10, 1), (2 * MIN_FRAMES, 2), (9 * MIN_FRAMES, 8), (10_000, 32)):
        found = fit_background(rng.standard_normal((n, 3)).astype(np.float32), np.zeros((1, 3)))
        assert found.means.shape == found.variances.shape == (size, 3)
        assert found.weights.sum() == pytest.approx(1)


def test_one_speaker_says_nothing_of_how_speakers_differ() -> None:
    rng = np.random.default_rng(3)
    sample = rng.standard_normal((500, 3)).astype(np.float32)
    one = fit_background(sample, np.zeros((1, 3)))
    assert (np.abs(one.offset(sample[:50] + 1)) < 0.05).all()
    many = fit_background(sample, rng.standard_normal((300, 3)))
    np.testing.assert_allclose(many.spread, 1, rtol=0.3)


@pytest.mark.parametrize("gain", [-4.0, 0.0, 7.0])
def test_level_of_frames_is_the_difference_of_their_quantiles(background: BackgroundModel, gain: float) -> None:
    said = frames(np.random.default_rng(2), (0, 1, 2), 5000) + np.array([gain, 0.0])
    assert background.level(said, 0) == pytest.approx(gain, abs=0.1)
    assert background.level(said, 1) == pytest.approx(0.0, abs=0.1)
    assert background.level(said[:0], 0) == 0.0
