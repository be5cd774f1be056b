"""Small mixtures beside scipy's densities, and on frames whose kinds are known."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from asr.features.speaker_background import MAX_FRAMES, MIN_FRAMES, SmallMixture, fit_mixture


def test_the_density_is_scipys():
    rng = np.random.default_rng(0)
    mixture = SmallMixture(np.array([0.3, 0.7]), rng.normal(size=(2, 3)), rng.uniform(0.5, 2.0, (2, 3)))
    frames = rng.normal(size=(20, 3))
    joint = np.stack(
        [
            np.log(weight) + multivariate_normal(mean, np.diag(variance)).logpdf(frames)
            for weight, mean, variance in zip(mixture.weights, mixture.means, mixture.variances, strict=True)
        ],
        axis=1,
    )
    constant = 1.5 * np.log(2.0 * np.pi)
    np.testing.assert_allclose(mixture.joint(frames), joint + constant)
    np.testing.assert_allclose(mixture.log_density(frames), logsumexp(joint, axis=1) + constant)
    np.testing.assert_allclose(mixture.posteriors(frames), np.exp(joint - logsumexp(joint, axis=1, keepdims=True)))


def test_two_kinds_of_frames_are_told_apart():
    rng = np.random.default_rng(1)
    frames = np.concatenate([rng.normal(size=(300, 2)), rng.normal(size=(900, 2)) * 0.5 + 6.0]).astype(np.float32)
    found = fit_mixture(frames, 2, 0.01)
    order = np.argsort(found.means[:, 0])
    np.testing.assert_allclose(found.means[order], [[0, 0], [6, 6]], atol=0.2)
    np.testing.assert_allclose(found.weights[order], [0.25, 0.75], atol=0.01)
    np.testing.assert_allclose(found.variances[order], [[1, 1], [0.25, 0.25]], rtol=0.2)


@pytest.mark.parametrize(("n", "size"), [(10, 1), (2 * MIN_FRAMES, 2), (9 * MIN_FRAMES, 8), (3 * MAX_FRAMES, 8)])
def test_few_frames_have_few_components_and_no_variance_is_below_the_floor(n, size):
    frames = np.random.default_rng(2).normal(size=(n, 2)) * (1.0, 0.0)
    found = fit_mixture(frames, 8, np.array([0.01, 0.5]))
    assert found.means.shape == (size, 2)
    assert (found.variances[:, 1] == 0.5).all()
    assert np.isfinite(found.log_density(frames)).all()
