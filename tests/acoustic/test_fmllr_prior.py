"""What speakers' maps tell of another's: against a numerical search, the maps, and speakers who were moved."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from asr.acoustic import fmllr_prior
from asr.acoustic.constrained_transforms import RowStatistics, best_transform
from asr.acoustic.fmllr import FmllrSettings, expected_statistics, fit_fmllr, fit_speakers, fmllr_statistics
from asr.acoustic.fmllr_prior import MIN_SPEAKERS, FmllrPrior, expected_under, fit_fmllr_prior
from asr.acoustic.gmm import GaussianMixtures
from asr.features.frame_table import FrameTable
from discriminants.logistic.affine_transform import AffineTransform, identity_map
from tests.acoustic.test_fmllr import N_FEATURES as N
from tests.acoustic.test_fmllr import drawn_from, mixtures_of, stacked, unmapped


def of_speaker(
    mixtures: GaussianMixtures, transform: np.ndarray, rng: np.random.Generator, n_frames: int
) -> tuple[np.ndarray, np.ndarray]:
    """Frames, and their states, that this map takes to frames of the mixtures."""
    frames, states = drawn_from(mixtures, rng, n_frames)
    return np.ascontiguousarray(unmapped(AffineTransform(transform[:, :N], transform[:, N]), frames)), states


def population(rng: np.random.Generator, n_speakers: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Maps that differ in two directions, the mean, and these directions."""
    mean = np.eye(N, N + 1)
    mean[:, N] = 0.5
    directions = 0.2 * rng.normal(size=(2, N, N + 1))
    return mean + np.tensordot(rng.normal(size=(n_speakers, 2)), directions, 1), mean, directions


@pytest.fixture
def known():
    rng = np.random.default_rng(0)
    mixtures = mixtures_of(rng)
    maps, mean, directions = population(rng, 40)
    prior = fit_fmllr_prior(list(maps), expected_statistics(mixtures))
    assert prior is not None
    return rng, mixtures, prior, mean, directions, maps


def test_the_likeliest_map_is_that_of_a_numerical_search(known):
    rng, mixtures, prior, *_ = known
    for n_frames in (0, 5, 60, 2000):
        transform = prior.mean + np.tensordot(rng.normal(size=len(prior.directions)), prior.directions, 1)
        statistics = fmllr_statistics(mixtures, *of_speaker(mixtures, transform, rng, n_frames), identity_map(N))

        def loss(coordinates, statistics=statistics):
            moved = prior.mean + np.tensordot(coordinates, prior.directions.astype(np.float64), 1)
            return -statistics.auxiliary(moved) + 0.5 * coordinates @ coordinates

        searched = minimize(loss, np.zeros(len(prior.directions)), method="BFGS")
        for start in (None, rng.normal(size=len(prior.directions))):
            coordinates = prior.map_estimate(statistics, start)
            assert loss(coordinates) <= searched.fun + 1e-3
            assert np.abs(approx_fprime(coordinates, loss, 1e-6)).max() < 0.02 * max(n_frames, 1)


def test_where_the_determinant_bends_the_wrong_way_each_step_still_gains():
    statistics = RowStatistics(1.0, np.zeros((2, 3)), np.tile(1e-3 * np.eye(3), (2, 1, 1)))
    mean = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], np.float32)
    turn = np.array([[[0.0, 3.0, 0.0], [-3.0, 0.0, 0.0]]], np.float32)  # log|det| = log(1 + 9 d^2): convex at zero
    start = statistics.auxiliary(mean.astype(np.float64))
    shifted = FmllrPrior(mean + np.float32(0.1) * turn[0], turn)
    found = shifted.at(shifted.map_estimate(statistics))
    assert found.shape == (2, 3)
    assert statistics.auxiliary(found) > start


def test_a_prior_holds_what_its_speakers_have_in_common():
    rng = np.random.default_rng(1)
    expected = expected_statistics(mixtures_of(rng))
    maps, *_ = population(rng, 60)
    prior = fit_fmllr_prior(list(maps), expected)
    assert prior is not None
    np.testing.assert_allclose(prior.mean, maps.mean(axis=0), atol=1e-6)
    flat = prior.directions.reshape(len(prior.directions), -1).T.astype(np.float64)
    assert flat.shape[1] == 2  # the only difference
    coordinates, *_ = np.linalg.lstsq(flat, (maps - maps.mean(axis=0)).reshape(60, -1).T, rcond=None)
    np.testing.assert_allclose(flat @ coordinates, (maps - maps.mean(axis=0)).reshape(60, -1).T, atol=1e-5)
    np.testing.assert_allclose(np.cov(coordinates), np.eye(2), atol=1e-4)
    metric = np.einsum("aij,ijk,bik->ab", prior.directions, expected.second, prior.directions)
    assert abs(metric[0, 1]) < 1e-4 * metric[0, 0]
    assert metric[0, 0] >= metric[1, 1]


def test_number_of_directions_follows_the_speakers(monkeypatch):
    rng = np.random.default_rng(2)
    expected = expected_statistics(mixtures_of(rng))
    maps = [np.eye(N, N + 1) + 0.1 * rng.normal(size=(N, N + 1)) for _ in range(30)]
    assert fit_fmllr_prior(maps[: MIN_SPEAKERS - 1], expected) is None
    assert fit_fmllr_prior(maps[:MIN_SPEAKERS], expected).directions.shape == (MIN_SPEAKERS - 1, N, N + 1)
    monkeypatch.setattr(fmllr_prior, "MAX_DIRECTIONS", 7)
    assert fit_fmllr_prior(maps, expected).directions.shape == (7, N, N + 1)
    assert fit_fmllr_prior([np.eye(N, N + 1)] * 12, expected) is None


def test_speakers_who_are_made_up_count_beside_those_who_are_there(known):
    *_, maps = known
    expected = expected_statistics(mixtures_of(np.random.default_rng(0)))
    own, others = list(maps[:6]), list(maps[6:])
    both, together = fit_fmllr_prior(own, expected, others), fit_fmllr_prior([*own, *others], expected)
    np.testing.assert_array_equal(both.mean, together.mean)
    np.testing.assert_array_equal(both.directions, together.directions)
    assert fit_fmllr_prior(own[: MIN_SPEAKERS - 1], expected, others) is None


def test_numbers_without_sense_leave_the_mean(known):
    _, mixtures, prior, *_ = known
    huge = np.full((30, N), 3e38, np.float32)
    found = fit_fmllr(mixtures, huge, np.zeros(30, np.int32), FmllrSettings(fmllr_basis_prior=0.0), prior=prior)
    np.testing.assert_allclose(stacked(found), prior.mean, atol=1e-6)


def test_what_is_expected_under_a_map_has_it_as_the_best(known):
    rng, mixtures, prior, *_ = known
    expected = expected_statistics(mixtures)
    for _ in range(5):
        transform = prior.mean + np.tensordot(rng.normal(size=len(prior.directions)), prior.directions, 1)
        statistics = expected_under(expected, transform)
        np.testing.assert_allclose(best_transform(statistics, transform, sweeps=2000), transform, atol=1e-6)
        away = transform + 0.1 * rng.normal(size=transform.shape)
        assert statistics.auxiliary(best_transform(statistics, away)) <= statistics.auxiliary(transform) + 1e-9


def test_seconds_of_a_speaker_are_enough_where_others_are_known(known):
    rng, mixtures, prior, mean, directions, _ = known
    distances = []
    for _ in range(8):
        truth = mean + np.tensordot(rng.normal(size=2), directions, 1)
        frames, states = of_speaker(mixtures, truth, rng, 30)
        found = [
            fit_fmllr(mixtures, frames, states, prior=prior),
            fit_fmllr(mixtures, frames, states),
            AffineTransform(prior.mean[:, :N], prior.mean[:, N]),
        ]
        distances.append([np.abs(stacked(one) - truth).mean() for one in found])
    with_prior, without, alone = np.mean(distances, axis=0)
    assert with_prior < 0.5 * without
    assert with_prior < 0.6 * alone


def test_much_speech_leaves_the_directions_of_others(known):
    rng, mixtures, prior, mean, *_ = known
    truth = mean + 0.2 * rng.normal(size=mean.shape)
    frames, states = of_speaker(mixtures, truth, rng, 30_000)
    found = fit_fmllr(mixtures, frames, states, FmllrSettings(fmllr_basis_prior=100.0, iterations=8), prior=prior)
    np.testing.assert_allclose(stacked(found), truth, atol=0.08)
    for settings in (FmllrSettings(), FmllrSettings(fmllr_basis_prior=0.0)):
        none = fit_fmllr(mixtures, frames[:0], states[:0], settings, prior=prior)
        np.testing.assert_allclose(stacked(none), prior.mean, atol=1e-6)
    table = FrameTable.from_utterances(["a"], ["b"], [frames[:40]])
    (of_table,) = fit_speakers(mixtures, table, states[:40], prior=prior).values()
    np.testing.assert_array_equal(of_table.matrix, fit_fmllr(mixtures, frames[:40], states[:40], prior=prior).matrix)
