"""Maps of speakers' frames against gradients, an EM step written out, and speakers who were moved on purpose."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import logsumexp
from scipy.stats import norm

from asr.acoustic.constrained_transforms import RowStatistics, best_transform
from asr.acoustic.fmllr import (
    MAX_SILENCE,
    FmllrSettings,
    expected_statistics,
    fit_fmllr,
    fit_speakers,
    fmllr_statistics,
    mapped_table,
    mostly_speech,
)
from asr.acoustic.gmm import GaussianMixtures
from asr.features.frame_table import FrameTable
from discriminants.logistic.affine_transform import AffineTransform, identity_map
from discriminants.parallel.threads import ThreadWorkers

N_FEATURES = 4


def mixtures_of(rng: np.random.Generator, n_states: int = 5, n_components: int = 3) -> GaussianMixtures:
    return GaussianMixtures(
        np.log(rng.dirichlet(np.ones(n_components), n_states)),
        rng.normal(scale=2.0, size=(n_states, n_components, N_FEATURES)),
        rng.uniform(0.3, 1.5, (n_states, n_components, N_FEATURES)),
    )


def drawn_from(mixtures: GaussianMixtures, rng: np.random.Generator, n_frames: int) -> tuple[np.ndarray, np.ndarray]:
    """Frames, float64, and their states."""
    n_states, n_components = mixtures.log_weights.shape
    states = rng.integers(n_states, size=n_frames).astype(np.int32)
    component = np.array([rng.choice(n_components, p=np.exp(mixtures.log_weights[state])) for state in states], int)
    frames = rng.normal(mixtures.means[states, component], np.sqrt(mixtures.variances[states, component]))
    return frames, states


def drawn(seed: int, n_frames: int) -> tuple[np.random.Generator, GaussianMixtures, np.ndarray, np.ndarray]:
    """The generator, mixtures, and frames of theirs with states."""
    rng = np.random.default_rng(seed)
    mixtures = mixtures_of(rng)
    return rng, mixtures, *drawn_from(mixtures, rng, n_frames)


def some_map(rng: np.random.Generator) -> AffineTransform:
    return AffineTransform(np.eye(N_FEATURES) + 0.2 * rng.normal(size=(N_FEATURES,) * 2), rng.normal(size=N_FEATURES))


def unmapped(frame_map: AffineTransform, frames: np.ndarray) -> np.ndarray:
    """The frames that the map takes to these."""
    return np.linalg.solve(frame_map.matrix, (frames - frame_map.offset).T).T.astype(np.float32)


def log_densities(mixtures: GaussianMixtures, frames: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Weighted ones of every component of a frame's state, float64 (n_frames, n_components)."""
    densities = norm.logpdf(frames[:, None], mixtures.means[states], np.sqrt(mixtures.variances[states])).sum(-1)
    return densities + mixtures.log_weights[states]


def log_likelihood(
    mixtures: GaussianMixtures, frames: np.ndarray, states: np.ndarray, frame_map: AffineTransform
) -> float:
    """Of mapped frames, with the logarithm of the volume that the map gives them."""
    volume = np.linalg.slogdet(frame_map.matrix)[1]
    return float(logsumexp(log_densities(mixtures, frame_map(frames), states), axis=1).sum() + len(frames) * volume)


def stacked(frame_map: AffineTransform) -> np.ndarray:
    return np.column_stack([frame_map.matrix, frame_map.offset])


def test_auxiliary_function_is_the_expected_log_likelihood():
    rng, mixtures, frames, states = drawn(0, 60)
    frames = frames.astype(np.float32)
    posteriors_at = some_map(rng)
    statistics = fmllr_statistics(mixtures, frames, states, posteriors_at)
    x = frames.astype(np.float64)
    gamma = log_densities(mixtures, posteriors_at(x), states)
    gamma = np.exp(gamma - logsumexp(gamma, axis=1, keepdims=True))

    def naive(frame_map: AffineTransform) -> float:
        expected = (gamma * log_densities(mixtures, frame_map(x), states)).sum()
        return float(expected + len(x) * np.linalg.slogdet(frame_map.matrix)[1])

    one, other = some_map(rng), some_map(rng)
    difference = statistics.auxiliary(stacked(one)) - statistics.auxiliary(stacked(other))
    assert difference == pytest.approx(naive(one) - naive(other), rel=1e-8)


def statistics_of_a_map(rng: np.random.Generator, n_frames: int) -> RowStatistics:
    """Of frames that a map brings to where mixtures have them."""
    mixtures = mixtures_of(rng)
    frames, states = drawn_from(mixtures, rng, n_frames)
    return fmllr_statistics(mixtures, unmapped(some_map(rng), frames), states, identity_map(N_FEATURES))


@pytest.mark.slow
def test_rows_end_where_the_numerical_gradient_is_zero():
    statistics = statistics_of_a_map(np.random.default_rng(1), 200)
    start = stacked(identity_map(N_FEATURES))
    values = [statistics.auxiliary(best_transform(statistics, start, sweeps=n)) for n in range(12)]
    assert np.all(np.diff(values) >= -1e-8)
    found = best_transform(statistics, start, sweeps=2000)
    gradient = approx_fprime(found.ravel(), lambda theta: statistics.auxiliary(theta.reshape(found.shape)), 1e-6)
    at_start = approx_fprime(start.ravel(), lambda theta: statistics.auxiliary(theta.reshape(found.shape)), 1e-6)
    assert np.abs(gradient).max() < 1e-2 * np.abs(at_start).max()


@pytest.mark.slow
@pytest.mark.parametrize("cross", [-1.0, 0.0, 1.0])
def test_one_row_is_the_best_on_its_side(cross):
    statistics = RowStatistics(7.0, np.array([[5.0 * cross, 1.0]]), np.array([[[3.0, 0.5], [0.5, 2.0]]]))
    found = best_transform(statistics, np.array([[1.0, 0.0]]))
    scale, offset = np.meshgrid(np.linspace(0.01, 6, 300), np.linspace(-3, 3, 301))
    values = [statistics.auxiliary(np.array([[a, b]])) for a, b in zip(scale.ravel(), offset.ravel(), strict=True)]
    assert found[0, 0] > 0
    assert statistics.auxiliary(found) >= max(values)


def test_what_the_mixtures_expect_has_the_identity_as_its_best_map():
    statistics = expected_statistics(mixtures_of(np.random.default_rng(2)))
    identity = stacked(identity_map(N_FEATURES))
    np.testing.assert_allclose(best_transform(statistics, identity), identity, atol=1e-8)
    rng = np.random.default_rng(3)
    for _ in range(20):
        assert statistics.auxiliary(stacked(some_map(rng))) < statistics.auxiliary(identity)


def test_expected_statistics_are_those_of_many_frames_of_the_mixtures():
    rng = np.random.default_rng(4)
    mixtures = mixtures_of(rng, n_components=1)
    frames, states = drawn_from(mixtures, rng, 60_000)
    found = fmllr_statistics(mixtures, frames.astype(np.float32), states, identity_map(N_FEATURES)) * (1 / 60_000)
    expected = expected_statistics(mixtures)
    np.testing.assert_allclose(found.first, expected.first, atol=0.2)
    np.testing.assert_allclose(found.second, expected.second, atol=0.4)


def test_iterations_undo_the_move_of_a_speaker():
    rng, mixtures, frames, states = drawn(5, 3000)
    moved = some_map(rng)
    seen = unmapped(moved, frames)
    settings = FmllrSettings(prior=0.0, iterations=1)
    values, found = [], identity_map(N_FEATURES)
    for _ in range(8):
        values.append(log_likelihood(mixtures, seen.astype(np.float64), states, found))
        found = fit_fmllr(mixtures, seen, states, settings, start=found)
    assert np.all(np.diff(values) > -1e-6)
    np.testing.assert_allclose(found.matrix, moved.matrix, atol=0.1)
    np.testing.assert_allclose(found.offset, moved.offset, atol=0.15)


def test_few_frames_hardly_move_the_map_and_none_leave_the_identity():
    rng, mixtures, frames, states = drawn(6, 3000)
    seen = unmapped(some_map(rng), frames)

    def distance(n_frames: int, prior: float) -> float:
        found = fit_fmllr(mixtures, seen[:n_frames], states[:n_frames], FmllrSettings(prior=prior))
        return float(np.abs(stacked(found) - stacked(identity_map(N_FEATURES))).max())

    assert distance(0, 200.0) < 1e-8
    assert distance(0, 0.0) == 0.0  # nothing determines it
    assert distance(3, 0.0) == 0.0
    assert distance(20, 200.0) < 0.5 * distance(3000, 200.0)


def test_numbers_without_sense_leave_the_identity():
    _, mixtures, frames, states = drawn(9, 100)
    huge = (frames * 1e30).astype(np.float32)
    far = GaussianMixtures(mixtures.log_weights, mixtures.means * 1e200, mixtures.variances)
    with np.errstate(all="ignore"):
        found = fit_fmllr(far, huge, states)
    np.testing.assert_array_equal(stacked(found), stacked(identity_map(N_FEATURES)))


def test_frames_without_state_and_values_that_are_no_numbers_are_left_out():
    _, mixtures, frames, states = drawn(7, 100)
    frames = frames.astype(np.float32)
    more = np.vstack([frames, np.full((3, N_FEATURES), np.nan, np.float32), frames[:5]])
    labels = np.concatenate([states, states[:3], np.full(5, -1, np.int32)])
    found, expected = fit_fmllr(mixtures, more, labels), fit_fmllr(mixtures, frames, states)
    np.testing.assert_array_equal(stacked(found), stacked(expected))


def test_maps_of_speakers_are_those_of_their_frames_whoever_computes_them():
    _, mixtures, frames, states = drawn(8, 600)
    offsets = np.arange(0, 601, 100, dtype=np.int64)
    speakers = ("a", "b", "a", "c", "b", "a")
    table = FrameTable(tuple("uvwxyz"), speakers, np.ascontiguousarray(frames, np.float32), offsets)
    maps = fit_speakers(mixtures, table, states)
    again = fit_speakers(mixtures, table, states, workers=ThreadWorkers(3))
    assert list(maps) == ["a", "b", "c"]
    rows = np.r_[100:200, 400:500]
    expected = fit_fmllr(mixtures, table.frames[rows], states[rows])
    np.testing.assert_array_equal(stacked(maps["b"]), stacked(expected))
    assert all(np.array_equal(stacked(maps[name]), stacked(again[name])) for name in maps)
    mapped = mapped_table(table, {"b": maps["b"]})
    np.testing.assert_array_equal(mapped.utterance("v"), maps["b"](table.utterance("v")))
    np.testing.assert_array_equal(mapped.utterance("u"), table.utterance("u"))


def test_silence_counts_as_a_quarter_of_the_speech_at_most():
    rng = np.random.default_rng(3)
    states = np.where(rng.random(900) < 0.6, rng.integers(0, 2, 900), rng.integers(2, 7, 900)).astype(np.int32)
    states[::11] = -1
    left = mostly_speech(states, (0, 1))
    silent, kept = np.isin(states, (0, 1)), np.isin(left, (0, 1))
    np.testing.assert_array_equal(left[~silent], states[~silent])
    assert kept.sum() == int(MAX_SILENCE * (states >= 2).sum())
    np.testing.assert_array_equal(left[kept], states[kept])
    assert np.ptp(np.diff(np.cumsum(silent)[kept])) <= 1  # evenly spaced
    np.testing.assert_array_equal(mostly_speech(np.full(5, 1, np.int32), (0, 1)), np.full(5, -1))
    some = np.array([2, 3, 4, 5, 0, 2, 3, 4, 5, 1], np.int32)
    np.testing.assert_array_equal(mostly_speech(some, (0, 1)), some)
    np.testing.assert_array_equal(mostly_speech(states, ()), states)
