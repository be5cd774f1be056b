"""Kernel logistic regression on a selected dictionary."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_softmax
from sklearn.datasets import load_digits, make_blobs
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from discriminants import SparseKernelLogisticClassifier
from discriminants.kernels import GaussianKernel
from discriminants.logistic.loss import LOSSES, log_posteriors
from discriminants.logistic.whitening import whiten
from discriminants.util.sampling import balanced_sample, spread_sample


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, ...]:
    X, y = load_digits(return_X_y=True)
    return tuple(train_test_split(X.astype(np.float32), y, test_size=0.4, random_state=0, stratify=y))


def naive_loss(outputs: np.ndarray, codes: np.ndarray, weight: np.ndarray, loss: str) -> float:
    own = np.eye(outputs.shape[1])[codes]
    if loss == "multinomial":
        return float(-(weight * (log_softmax(outputs, axis=1) * own).sum(axis=1)).sum())
    return float(-(weight[:, None] * (own * np.log(expit(outputs)) + (1 - own) * np.log(expit(-outputs)))).sum())


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_losses_and_their_derivatives_equal_the_formulas(loss: str) -> None:
    random = np.random.default_rng(0)
    outputs, codes, weight = 3 * random.normal(size=(6, 4)), random.integers(0, 4, 6), random.random(6) + 0.1
    derivative = outputs.copy()
    value = LOSSES[loss](derivative, codes, weight)
    assert value == pytest.approx(naive_loss(outputs, codes, weight, loss))
    for i in np.ndindex(outputs.shape):
        step = np.zeros_like(outputs)
        step[i] = 1e-6
        slope = naive_loss(outputs + step, codes, weight, loss) - naive_loss(outputs - step, codes, weight, loss)
        assert derivative[i] == pytest.approx(slope / 2e-6, abs=1e-6)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_log_posteriors_are_finite_and_sum_to_one_for_extreme_outputs(loss: str) -> None:
    outputs = np.array([[1e4, -1e4, 0.0], [-300.0, -300.0, -301.0], [0.0, 0.0, 0.0]], dtype=np.float32)
    found = log_posteriors(outputs, loss)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1.0, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_descent_reaches_the_minimum_that_a_general_optimizer_finds(loss: str) -> None:
    X, y = make_blobs(200, centers=3, cluster_std=2.5, random_state=0)
    alpha = 1e-3
    learner = SparseKernelLogisticClassifier(
        15, loss=loss, alpha=alpha, sigma=3.0, max_iter=3000, learning_rate=0.05, random_state=0
    ).fit(X, y)
    kernel = GaussianKernel(3.0)
    K, K_mm = kernel(X, learner.basis_centers_), kernel(learner.basis_centers_, learner.basis_centers_)

    def objective(flat: np.ndarray) -> float:
        W = flat.reshape(16, 3)
        penalty = 0.5 * alpha * np.trace(W[1:].T @ K_mm @ W[1:])
        return naive_loss(K @ W[1:] + W[0], y, np.ones(200), loss) / 200 + penalty

    found = objective(np.vstack([learner.intercept_, learner.dual_coef_]).ravel())
    best = minimize(objective, np.zeros(48), method="L-BFGS-B", options={"maxiter": 500, "maxfun": 100_000}).fun
    assert found <= best * (1 + 1e-3)


def test_whitening_diagonalises_both_matrices_and_inverts() -> None:
    random = np.random.default_rng(1)
    centers = random.normal(size=(12, 3))
    centers = np.vstack([centers, centers[:2]])  # two dependent directions
    K_mm = GaussianKernel(2.0)(centers, centers)
    features = GaussianKernel(2.0)(random.normal(size=(500, 3)), centers)
    covariance = np.cov(features.T, bias=True)
    w = whiten(K_mm, covariance, features.mean(axis=0), damping=1e-3)
    assert w.transform.shape == (14, 12)
    np.testing.assert_allclose(w.transform.T @ K_mm @ w.transform, np.diag(w.penalty), atol=1e-6 * w.penalty.max())
    total = w.transform.T @ (covariance + 1e-3 * K_mm) @ w.transform
    np.testing.assert_allclose(total, np.eye(12), atol=1e-6)
    np.testing.assert_allclose(w.inverse @ w.transform, np.eye(12), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"selection": "random"}, {"loss": "ovr"}])
def test_200_centres_read_digits(digits: tuple[np.ndarray, ...], options: dict[str, Any]) -> None:
    X, X_test, y, y_test = digits
    learner = SparseKernelLogisticClassifier(200, random_state=0, **options).fit(X, y, X_val=X_test, y_val=y_test)
    assert learner.score(X_test, y_test) > 0.98
    log_proba = learner.predict_log_proba(X_test)
    assert log_proba.dtype == np.float32
    assert learner.loss_curve_[-1] == pytest.approx(-log_proba[np.arange(y_test.size), y_test].mean(), rel=1e-4)
    assert learner.loss_curve_[-1] < 0.08
    assert len(learner.loss_curve_) == len(learner.training_loss_curve_) == learner.n_iter_


def test_progress_is_told_after_every_pass() -> None:
    X, y = make_blobs(100, centers=2, random_state=0)
    seen: list[tuple[int, int, float, float | None]] = []
    learner = SparseKernelLogisticClassifier(5, batch_size=50)
    learner.fit(X, y, progress=lambda *report: seen.append(report))
    assert [report[0] for report in seen] == list(range(1, learner.n_iter_ + 1))
    assert [report[2] for report in seen] == learner.training_loss_curve_ == learner.loss_curve_
    assert {report[1] for report in seen} == {learner.n_iter_}
    assert {report[3] for report in seen} == {None}


def test_a_warm_start_keeps_the_centres_and_goes_on_from_the_weights(digits: tuple[np.ndarray, ...]) -> None:
    X, _, y, _ = digits
    learner = SparseKernelLogisticClassifier(100, batch_size=256, random_state=0, warm_start=True).fit(X, y)
    centers, loss = learner.basis_centers_.copy(), learner.training_loss_curve_[-1]
    learner.fit(X, y)
    np.testing.assert_array_equal(learner.basis_centers_, centers)
    assert learner.training_loss_curve_[0] < 1.5 * loss
    cold = SparseKernelLogisticClassifier(100, batch_size=256, random_state=0).fit(X, y)
    assert cold.training_loss_curve_[0] > 5 * learner.training_loss_curve_[0]


def test_a_warm_start_on_other_classes_begins_anew() -> None:
    X, y = make_blobs(90, centers=3, random_state=0)
    learner = SparseKernelLogisticClassifier(5, warm_start=True).fit(X, y)
    assert learner.fit(X[y < 2], y[y < 2]).dual_coef_.shape[1] == 2


def test_the_same_seed_gives_the_same_model_and_threads_hardly_matter(digits: tuple[np.ndarray, ...]) -> None:
    X, X_test, y, _ = digits
    fits = []
    for threads in (1, 1, 2):
        with threadpool_limits(threads):
            fits.append(SparseKernelLogisticClassifier(60, batch_size=256, random_state=3).fit(X, y))
    np.testing.assert_array_equal(fits[0].dual_coef_, fits[1].dual_coef_)
    np.testing.assert_array_equal(fits[0].basis_centers_, fits[2].basis_centers_)
    np.testing.assert_allclose(fits[0].predict_proba(X_test), fits[2].predict_proba(X_test), atol=1e-3)


def test_fewer_candidates_than_centres_and_foreign_held_out_labels_are_refused() -> None:
    X, y = make_blobs(50, centers=2, random_state=0)
    with pytest.raises(ValueError, match="n_candidates"):
        SparseKernelLogisticClassifier(20, n_candidates=10).fit(X, y)
    with pytest.raises(ValueError, match="y_val"):
        SparseKernelLogisticClassifier(5).fit(X, y, X_val=X, y_val=y + 5)
    with pytest.raises(ValueError, match="y_val"):
        SparseKernelLogisticClassifier(5).fit(X, y, X_val=X)


@pytest.mark.parametrize("size", [3, 10, 57, 100, 1000])
def test_balanced_samples_give_small_classes_all_they_have(size: int) -> None:
    counts = np.array([80, 4, 30, 0, 6])
    codes = np.random.default_rng(0).permutation(np.repeat(np.arange(5), counts))
    rows = balanced_sample(codes, size)
    taken = np.bincount(codes[rows], minlength=5)
    assert np.unique(rows).size == rows.size
    if size >= 120:
        np.testing.assert_array_equal(taken, counts)
    else:
        assert size - 4 < rows.size <= max(size, 4)
        share = taken.max()
        np.testing.assert_array_equal(taken, np.minimum(counts, share))


def test_rounding_of_the_samples_leaves_the_centres_and_the_posteriors_what_they_were() -> None:
    random = np.random.RandomState(3)
    y = random.randint(0, 4, 3000)
    X = (random.normal(size=(3000, 8)) + np.eye(4, 8)[y]).astype(np.float32)
    moved = (X * (1 + 2e-7 * random.choice([-1, 0, 1], X.shape))).astype(np.float32)
    one, other = (
        SparseKernelLogisticClassifier(300, n_candidates=1000, max_iter=2, random_state=0).fit(each, y)
        for each in (X, moved)
    )
    np.testing.assert_allclose(one.basis_centers_, other.basis_centers_, atol=1e-5)
    np.testing.assert_allclose(one.predict_log_proba(X), other.predict_log_proba(X), atol=1e-2)


def test_the_seed_hardly_moves_what_is_learned_from_few_samples() -> None:
    random = np.random.RandomState(4)
    y = random.randint(0, 4, 4000)
    X = random.normal(size=(4000, 8)) + np.eye(4, 8)[y]
    models = [SparseKernelLogisticClassifier(200, n_candidates=600, random_state=seed).fit(X, y) for seed in (0, 1)]
    np.testing.assert_array_equal(models[0].basis_centers_, models[1].basis_centers_)
    np.testing.assert_allclose(models[0].predict_proba(X), models[1].predict_proba(X), atol=0.01)


def test_samples_are_spread_evenly_over_classes_and_order() -> None:
    codes = np.repeat([0, 1, 2], [60, 30, 10])
    rows = spread_sample(codes, 20)
    np.testing.assert_array_equal(np.bincount(codes[rows]), [12, 6, 2])
    assert np.diff(rows).max() <= 6
    np.testing.assert_array_equal(spread_sample(codes, 200), np.arange(100))
