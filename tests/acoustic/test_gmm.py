"""Gaussian mixtures against scipy, scikit-learn and an EM step written out."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.mixture import GaussianMixture

from asr.acoustic.gmm import GaussianMixtures, single_gaussians

FLOOR = np.full(3, 1e-3)


def random_mixtures(rng: np.random.Generator, n_states: int = 2, n_components: int = 4) -> GaussianMixtures:
    """Three features."""
    return GaussianMixtures(
        np.log(rng.dirichlet(np.ones(n_components), n_states)),
        rng.normal(size=(n_states, n_components, 3)),
        rng.uniform(0.3, 2.0, (n_states, n_components, 3)),
    )


def naive_component_scores(mixtures: GaussianMixtures, frames: np.ndarray) -> np.ndarray:
    """Weighted log densities, float64 (n_frames, n_states, n_components)."""
    densities = norm.logpdf(frames[:, None, None].astype(np.float64), mixtures.means, np.sqrt(mixtures.variances)).sum(
        -1
    )
    return densities + mixtures.log_weights


def naive_em_step(
    mixtures: GaussianMixtures, state: int, frames: np.ndarray, weights: np.ndarray, floor: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    scores = naive_component_scores(mixtures, frames)[:, state]
    responsibility = np.exp(scores - logsumexp(scores, axis=1, keepdims=True)) * weights[:, None]
    counts = responsibility.sum(0)
    means, variances = np.empty_like(mixtures.means[state]), np.empty_like(mixtures.means[state])
    for component, gamma in enumerate(responsibility.T):
        means[component] = np.average(frames, axis=0, weights=gamma)
        variances[component] = np.average((frames - means[component]) ** 2, axis=0, weights=gamma)
    return np.log(counts / counts.sum()), means, np.maximum(variances, floor)


def total(mixtures: GaussianMixtures, frames: np.ndarray) -> float:
    """Log-likelihood of the frames under state 0, in double precision."""
    return float(logsumexp(naive_component_scores(mixtures, frames)[:, 0], axis=1).sum())


@pytest.mark.parametrize("n_frames", [0, 1, 50])
def test_densities_are_those_of_scipy(n_frames):
    rng = np.random.default_rng(n_frames)
    mixtures = random_mixtures(rng)
    frames = rng.normal(scale=2.0, size=(n_frames, 3)).astype(np.float32)
    scores = mixtures.log_likelihood(frames, block=16)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, logsumexp(naive_component_scores(mixtures, frames), axis=2), atol=1e-4)


def test_a_component_of_weight_zero_counts_for_nothing():
    rng = np.random.default_rng(0)
    mixtures = random_mixtures(rng, n_states=1, n_components=3)
    mixtures.log_weights[0, 1] = -np.inf
    kept = GaussianMixtures(mixtures.log_weights[:, ::2], mixtures.means[:, ::2], mixtures.variances[:, ::2])
    frames = rng.normal(size=(20, 3)).astype(np.float32)
    np.testing.assert_allclose(mixtures.log_likelihood(frames), kept.log_likelihood(frames), atol=1e-5)
    update = mixtures.update(lambda state: (frames, None), variance_floor=FLOOR, minimum_count=0.5)
    assert update.log_weights[0, 1] == -np.inf
    assert np.isfinite(update.means).all() and (update.variances > 0).all()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_states_may_have_any_numbers_of_components(counts, seed):
    rng = np.random.default_rng(seed)
    mixtures = random_mixtures(rng, n_states=len(counts), n_components=9)
    for state, count in enumerate(counts):
        dropped = rng.permutation(9)[count:]
        mixtures.log_weights[state, dropped] = -np.inf
    frames = rng.normal(scale=2.0, size=(7, 3)).astype(np.float32)
    naive = logsumexp(naive_component_scores(mixtures, frames), axis=2)
    np.testing.assert_allclose(mixtures.log_likelihood(frames), naive, atol=1e-4)
    scores = naive_component_scores(mixtures, frames)[:, 0]
    posteriors = mixtures.responsibilities(0, frames.astype(np.float64))
    np.testing.assert_allclose(posteriors, np.exp(scores - logsumexp(scores, axis=1, keepdims=True)), atol=1e-9)


def test_some_states_are_split_and_the_others_stay():
    mixtures = random_mixtures(np.random.default_rng(0), n_states=3, n_components=2)
    split = mixtures.split(0.1, range(1))
    assert np.isfinite(split.log_weights).sum(axis=1).tolist() == [4, 2, 2]
    frames = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    np.testing.assert_allclose(split.log_likelihood(frames)[:, 1:], mixtures.log_likelihood(frames)[:, 1:], atol=1e-5)
    np.testing.assert_allclose(np.exp(split.log_weights[0]).sum(), 1.0)


def test_frames_far_from_every_component_have_finite_scores():
    mixtures = random_mixtures(np.random.default_rng(0))
    assert np.isfinite(mixtures.log_likelihood(np.full((1, 3), 1e4, np.float32))).all()


@pytest.mark.parametrize("block", [16384, 25], ids=["at once", "in blocks"])
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1), weighted=st.booleans())
def test_one_step_is_that_of_the_formulas(monkeypatch, block, seed, weighted):
    monkeypatch.setattr("asr.acoustic.gmm._BLOCK", block)
    rng = np.random.default_rng(seed)
    mixtures = random_mixtures(rng)
    frames = [rng.normal(size=(60, 3)).astype(np.float32) for _ in range(2)]
    weights = rng.uniform(0.1, 1.0, 60) if weighted else None
    updated = mixtures.update(lambda state: (frames[state], weights), variance_floor=FLOOR, minimum_count=0.0)
    for state in range(2):
        expected = naive_em_step(mixtures, state, frames[state], np.ones(60) if weights is None else weights, FLOOR)
        np.testing.assert_allclose(updated.log_weights[state], expected[0], atol=1e-8)
        np.testing.assert_allclose(updated.means[state], expected[1], atol=1e-8)
        np.testing.assert_allclose(updated.variances[state], expected[2], atol=1e-8)


@pytest.mark.parametrize(("prior", "counts_as"), [(15.0, 9.6), (20.0, 20.0), (30.0, 30.0)])
def test_with_a_prior_the_variance_of_the_state_counts_as_so_many_frames(prior, counts_as):
    rng = np.random.default_rng(8)
    mixtures = random_mixtures(rng)
    n_frames = 18.75 * mixtures.n_components  # fifteen of them are below the average of a component
    frames = rng.normal(size=(60, 3)).astype(np.float32)
    weights = np.full(60, n_frames / 60)
    options = {"variance_floor": FLOOR, "minimum_count": 0.0}
    free, held = (
        mixtures.update(lambda state: (frames, weights), variance_smoothing=given, **options) for given in (0.0, prior)
    )
    np.testing.assert_array_equal(held.means, free.means)
    counts = n_frames * np.exp(free.log_weights)[..., None]
    of_state = frames.astype(np.float64).var(axis=0)
    expected = (counts * free.variances + counts_as * of_state) / (counts + counts_as)
    np.testing.assert_allclose(held.variances, expected, atol=1e-8)


def test_a_prior_leaves_a_single_gaussian_as_it_is():
    rng = np.random.default_rng(9)
    frames = rng.normal(size=(60, 3)).astype(np.float32)
    single = single_gaussians(np.zeros(3), np.ones(3), 1)
    free, held = (
        single.update(lambda state: (frames, None), variance_floor=FLOOR, variance_smoothing=prior)
        for prior in (0.0, 15.0)
    )
    np.testing.assert_array_equal(held.variances, free.variances)


def test_three_steps_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    mixtures = random_mixtures(rng, n_states=1, n_components=2)
    frames = np.concatenate([rng.normal(-2, 1, (150, 3)), rng.normal(2, 0.5, (100, 3))]).astype(np.float32)
    start = {"weights_init": np.exp(mixtures.log_weights[0]), "means_init": mixtures.means[0]}
    start["precisions_init"] = 1 / mixtures.variances[0]
    peer = GaussianMixture(2, covariance_type="diag", max_iter=3, tol=0.0, reg_covar=0.0, **start)
    with pytest.warns(UserWarning, match="did not converge"):
        peer.fit(frames.astype(np.float64))
    for _ in range(3):
        mixtures = mixtures.update(lambda state: (frames, None), variance_floor=np.zeros(3))
    np.testing.assert_allclose(np.exp(mixtures.log_weights[0]), peer.weights_, atol=1e-8)
    np.testing.assert_allclose(mixtures.means[0], peer.means_, atol=1e-8)
    np.testing.assert_allclose(mixtures.variances[0], peer.covariances_, atol=1e-8)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_re_estimation_never_lowers_the_likelihood(seed):
    rng = np.random.default_rng(seed)
    mixtures = random_mixtures(rng, n_states=1)
    floor = np.full(3, 0.3)
    frames = (rng.normal(size=(80, 3)) * rng.uniform(0.1, 2.0, 3)).astype(np.float32)
    before = total(mixtures, frames)
    for _ in range(5):
        mixtures = mixtures.update(lambda state: (frames, None), variance_floor=floor, minimum_count=0.0)
        after = total(mixtures, frames)
        assert after >= before - 1e-8
        before = after


def test_states_that_share_a_mixture_score_alike():
    rng = np.random.default_rng(6)
    mixtures, frames = random_mixtures(rng), rng.normal(size=(20, 3)).astype(np.float32)
    states = np.array([1, 0, 1])
    np.testing.assert_array_equal(
        mixtures.for_states(states).log_likelihood(frames), mixtures.log_likelihood(frames)[:, states]
    )


def test_split_doubles_components_and_keeps_moments():
    mixtures = random_mixtures(np.random.default_rng(2))
    split = mixtures.split()
    assert split.n_components == 8
    np.testing.assert_allclose(np.exp(split.log_weights).sum(axis=1), 1.0)
    np.testing.assert_allclose((split.means[:, :4] + split.means[:, 4:]) / 2, mixtures.means)
    distance = (split.means[:, :4] - split.means[:, 4:]) / np.sqrt(mixtures.variances)
    np.testing.assert_allclose(distance, 0.4)
    np.testing.assert_array_equal(split.variances[:, :4], mixtures.variances)


def test_steps_after_a_split_find_two_clusters():
    rng = np.random.default_rng(3)
    frames = np.concatenate([rng.normal(-3, 0.5, (200, 3)), rng.normal(3, 0.5, (200, 3))]).astype(np.float32)
    mixtures = single_gaussians(frames.mean(0), frames.var(0), 1).split()
    for _ in range(20):
        mixtures = mixtures.update(lambda state: (frames, None), variance_floor=FLOOR)
    np.testing.assert_allclose(np.sort(mixtures.means[0, :, 0]), [-3, 3], atol=0.15)
    np.testing.assert_allclose(mixtures.variances, 0.25, atol=0.08)


def test_a_state_without_enough_frames_stays_as_it_is():
    mixtures = random_mixtures(np.random.default_rng(4), n_states=1)
    for frames in (np.zeros((0, 3), np.float32), np.ones((7, 3), np.float32)):
        updated = mixtures.update(lambda state, frames=frames: (frames, None), variance_floor=FLOOR)
        np.testing.assert_array_equal(updated.means, mixtures.means)
        np.testing.assert_array_equal(updated.log_weights, mixtures.log_weights)


def test_state_of_few_frames_keeps_its_largest_component():
    mixtures = random_mixtures(np.random.default_rng(4), n_states=1)
    frames = np.random.default_rng(5).normal(size=(12, 3)).astype(np.float32)
    updated = mixtures.update(lambda state: (frames, None), variance_floor=FLOOR, minimum_count=20.0)
    assert np.isfinite(updated.log_weights).sum() == 1
    assert not np.array_equal(updated.means, mixtures.means)


def test_component_of_too_few_frames_is_dropped():
    mixtures = GaussianMixtures(np.log([[0.5, 0.5]]), np.array([[[0.0] * 3, [50.0] * 3]]), np.ones((1, 2, 3)))
    frames = np.random.default_rng(5).normal(size=(40, 3)).astype(np.float32)
    updated = mixtures.update(lambda state: (frames, None), variance_floor=FLOOR)
    assert updated.log_weights.tolist() == [[0.0, -np.inf]]
    assert np.isfinite(updated.split().log_likelihood(frames)).all()


def test_frames_all_alike_are_kept_from_collapsing_by_the_floor():
    mixtures = random_mixtures(np.random.default_rng(6), n_states=1)
    frames = np.full((50, 3), 0.5, np.float32)
    for _ in range(5):
        mixtures = mixtures.update(lambda state: (frames, None), variance_floor=FLOOR)
    assert (mixtures.variances >= 1e-3).all()
    assert np.isfinite(mixtures.log_likelihood(frames)).all()


@pytest.mark.parametrize(
    ("counts", "length", "n_rows"), [([8] * 20, 8, 20), ([32, 32] + [8] * 20, 8, 28), ([1] * 5, 1, 5)]
)
def test_components_are_packed_into_few_long_rows(counts, length, n_rows):
    log_weights = np.full((len(counts), max(counts)), -np.inf)
    for state, count in enumerate(counts):
        log_weights[state, :count] = -np.log(count)
    shape = (*log_weights.shape, 3)
    components, states = GaussianMixtures(log_weights, np.zeros(shape), np.ones(shape))._rows
    assert components.shape == (n_rows, length)
    assert len(states) == n_rows
    assert (components >= 0).sum() == sum(counts)


def test_components_of_any_numbers_are_packed_into_few_rows_too():
    rng = np.random.default_rng(3)
    counts = rng.integers(9, 17, 100)
    log_weights = np.where(np.arange(16) < counts[:, None], -1.0, -np.inf)
    shape = (*log_weights.shape, 3)
    components, states = GaussianMixtures(log_weights, np.zeros(shape), np.ones(shape))._rows
    assert len(states) <= 150
    assert components.size <= 1.5 * counts.sum()
