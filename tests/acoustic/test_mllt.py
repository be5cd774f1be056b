"""Semi-tied covariances against the likelihood written out, and frames that were turned on purpose."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.mllt import fit_mllt, lda_mllt
from asr.acoustic.state_mixtures import mixtures_of_states
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from discriminants.parallel.threads import ThreadWorkers


def turned_frames(n_features: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Frames of six states with diagonal covariances, turned; their states; and the matrix that turned them."""
    rng = np.random.default_rng(0)
    states = np.repeat(np.arange(6), 200).astype(np.int32)
    deviations = rng.uniform(0.2, 3.0, (6, n_features))
    frames = rng.normal(scale=4.0, size=(6, n_features))[states] + deviations[states] * rng.normal(
        size=(len(states), n_features)
    )
    mixing = np.eye(n_features) + 0.5 * rng.normal(size=(n_features, n_features))
    return (frames @ mixing.T).astype(np.float32), states, mixing


def log_likelihood(frames: np.ndarray, states: np.ndarray, matrix: np.ndarray) -> float:
    """Of turned frames under one diagonal Gaussian a state, each fitted to them."""
    turned = frames.astype(np.float64) @ matrix.T
    total = len(frames) * np.linalg.slogdet(matrix)[1]
    for state in np.unique(states):
        own = turned[states == state]
        total += multivariate_normal.logpdf(own, own.mean(0), np.diag(own.var(0))).sum()
    return float(total)


def test_every_alternation_makes_turned_frames_likelier():
    frames, states, mixing = turned_frames()
    gaussians = mixtures_of_states(frames, states, 6, 1)
    matrices = [fit_mllt(gaussians, frames, states, alternations=n) for n in (0, 1, 2, 5, 50)]
    np.testing.assert_array_equal(matrices[0], np.eye(3))
    values = [log_likelihood(frames, states, matrix) for matrix in matrices]
    assert np.all(np.diff(values) >= -1e-9 * abs(values[0]))
    assert values[-1] > log_likelihood(frames, states, np.linalg.inv(mixing)) - 1e-6 * abs(values[-1])
    undone = np.abs(matrices[-1] @ mixing)
    undone /= undone.max(axis=1, keepdims=True)
    assert (np.sort(undone, axis=1)[:, :-1] < 0.1).all()  # rows may have another order and size


def test_covariances_are_those_about_the_mean_of_each_gaussian():
    frames, states, _ = turned_frames()
    frames, states = frames[::3], np.where(np.arange(len(frames[::3])) % 10 == 0, -1, states[::3])
    rng = np.random.default_rng(1)
    gaussians = GaussianMixtures(
        np.log(rng.dirichlet(np.ones(2), 6)), rng.normal(scale=3.0, size=(6, 2, 3)), rng.uniform(1, 4, (6, 2, 3))
    )
    found = fit_mllt(gaussians, frames, states, alternations=1)
    np.testing.assert_array_equal(fit_mllt(gaussians, frames, states, alternations=1, workers=ThreadWorkers(2)), found)
    second, total = np.zeros((3, 3, 3)), 0.0
    for state in range(6):
        x = frames[states == state].astype(np.float64)
        scores = np.stack(
            [
                multivariate_normal.logpdf(x, gaussians.means[state, m], np.diag(gaussians.variances[state, m]))
                + gaussians.log_weights[state, m]
                for m in range(2)
            ],
            axis=1,
        )
        for gamma in np.exp(scores - logsumexp(scores, axis=1, keepdims=True)).T:
            if gamma.sum() >= 6:
                covariance = np.cov(x.T, aweights=gamma, ddof=0)
                second += gamma.sum() * covariance / np.diag(covariance)[:, None, None]
                total += gamma.sum()

    def auxiliary(matrix: np.ndarray) -> float:
        return total * np.linalg.slogdet(matrix)[1] - 0.5 * np.einsum("ij,ijk,ik->", matrix, second, matrix)

    best = auxiliary(found)
    for _ in range(20):
        assert auxiliary(found + 0.05 * rng.normal(size=(3, 3))) < best + 1e-3 * total


@pytest.mark.parametrize("n_frames", [0, 2])
def test_gaussians_of_few_frames_say_nothing(n_frames):
    frames, states, _ = turned_frames()
    few = np.where(states == 5, -1, states)
    few[np.flatnonzero(states == 5)[:n_frames]] = 5
    gaussians = mixtures_of_states(frames, states, 6, 1)
    without = np.where(states == 5, -1, states)
    np.testing.assert_allclose(fit_mllt(gaussians, frames, few), fit_mllt(gaussians, frames, without), atol=1e-10)


def test_turned_front_end_makes_diagonal_gaussians_likelier():
    frames, states, _ = turned_frames()
    static = FrameTable(("u", "v"), ("s", "t"), frames, np.array([0, 500, len(frames)]))
    found = lda_mllt(FeatureConfig(delta_order=1), static, states, 6)
    assert (found.config.delta_order, found.config.context, found.n_features_) == (0, 4, 5)
    plain = FrontEnd(found.config).fit(static, states)
    turn = np.linalg.lstsq(plain.lda_, found.lda_, rcond=None)[0].T
    np.testing.assert_allclose(plain.lda_ @ turn.T, found.lda_, atol=1e-4)
    before = plain.transform(static).frames
    np.testing.assert_allclose(before @ turn.T, found.transform(static).frames, atol=1e-3)
    assert log_likelihood(before, states, turn) > log_likelihood(before, states, np.eye(5))
