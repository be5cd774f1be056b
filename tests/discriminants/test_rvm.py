"""Relevance vector machines against re-estimation of all precisions (Tipping 2001) and its formulas."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import load_iris, make_moons

from discriminants import GaussianKernel, RVMClassifier, RVMRegressor

SIGMA = 1.0


def _curve(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    x = random.uniform(-10, 10, n)[:, None]
    return x, np.sinc(x[:, 0] / np.pi) + random.normal(0, 0.1, n)


def _reestimated(K: np.ndarray, y: np.ndarray, rounds: int = 3000) -> tuple[np.ndarray, np.ndarray, float]:
    """(16), (18): columns, precisions and noise precision by updates of all precisions, with a flat bias."""
    active, alpha, beta = np.arange(K.shape[1]), np.ones(K.shape[1]), 1 / np.var(y)
    for _ in range(rounds):
        features = np.column_stack([K[:, active], np.ones(len(y))])
        covariance = np.linalg.pinv(beta * features.T @ features + np.diag(np.append(alpha, 0)), hermitian=True)
        mean = beta * covariance @ features.T @ y
        determined = 1 - alpha * covariance.diagonal()[:-1]
        beta = (len(y) - 1 - determined.sum()) / ((y - features @ mean) ** 2).sum()
        alpha = np.maximum(determined, 1e-300) / mean[:-1] ** 2
        active, alpha = active[alpha < 1e9], alpha[alpha < 1e9]
    return active, alpha, beta


def _log_evidence(K: np.ndarray, y: np.ndarray, alpha: np.ndarray, beta: float) -> float:
    """Log of the integral of N(y | b, C) over the bias b, with C = 1 / beta + K diag(1 / alpha) K'."""
    C = np.eye(len(y)) / beta + (K / alpha) @ K.T
    of_ones, of_targets = np.linalg.solve(C, np.column_stack([np.ones(len(y)), y])).T
    bias = of_targets.sum() / of_ones.sum()
    squares = (y - bias) @ (of_targets - bias * of_ones)
    determinant = np.linalg.slogdet(C)[1]
    return float(-0.5 * ((len(y) - 1) * np.log(2 * np.pi) + determinant + squares + np.log(of_ones.sum())))


def test_regressor_evidence_is_that_of_reestimation() -> None:
    x, y = _curve()
    active, alpha, beta = _reestimated(GaussianKernel(SIGMA)(x, x), y)
    machine = RVMRegressor(sigma=SIGMA, tol=1e-8).fit(x, y)
    twin = _log_evidence(GaussianKernel(SIGMA)(x, x[active]), y, alpha, beta)
    assert machine.log_evidence_[0] == pytest.approx(twin, abs=1.0)
    assert len(machine.basis_centers_) <= len(active) + 1


def test_regressor_posterior_is_that_of_its_precisions() -> None:
    x, y = _curve()
    machine = RVMRegressor(sigma=SIGMA, tol=1e-10).fit(x, y)
    covariance, weights = machine.covariance_[0], machine.dual_coef_[:, 0]
    K = GaussianKernel(SIGMA)(x, machine.basis_centers_)
    features = np.column_stack([K, np.ones(len(y))])
    alpha = 1 / (weights**2 + covariance.diagonal()[:-1])  # a fixed point of EM at every maximum
    beta = 1 / machine.noise_variance_[0]
    expected = np.linalg.inv(beta * features.T @ features + np.diag(np.append(alpha, 0)))
    np.testing.assert_allclose(covariance, expected, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(weights, (beta * expected @ features.T @ y)[:-1], rtol=1e-4)
    assert machine.log_evidence_[0] == pytest.approx(_log_evidence(K, y, alpha, beta), abs=1e-3)
    used = len(weights) - alpha @ covariance.diagonal()[:-1]
    assert 1 / beta == pytest.approx(((y - machine.predict(x)) ** 2).sum() / (len(y) - 1 - used), rel=1e-3)
    _, deviations = machine.predict(x, return_std=True)
    np.testing.assert_allclose(deviations**2, 1 / beta + ((features @ expected) * features).sum(axis=1), rtol=1e-4)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_regressor_follows_scale_and_offset_of_targets(scale: float) -> None:
    x, y = _curve()
    first = RVMRegressor(sigma=SIGMA).fit(x, y)
    second = RVMRegressor(sigma=SIGMA).fit(x, scale * (y + 5))
    np.testing.assert_allclose(second.predict(x), scale * (first.predict(x) + 5), rtol=1e-6)
    assert second.log_evidence_[0] == pytest.approx(first.log_evidence_[0] - (len(y) - 1) * np.log(scale))


def test_outputs_have_their_own_weights_and_deviations() -> None:
    x, y = _curve()
    both = RVMRegressor(sigma=SIGMA).fit(x, np.column_stack([y, np.cos(x[:, 0]), np.ones(len(y))]))
    means, deviations = both.predict(x, return_std=True)
    for s, target in enumerate((y, np.cos(x[:, 0]))):
        alone = RVMRegressor(sigma=SIGMA).fit(x, target)
        mean, deviation = alone.predict(x, return_std=True)
        np.testing.assert_allclose(means[:, s], mean, atol=1e-9)
        np.testing.assert_allclose(deviations[:, s], deviation, rtol=1e-4)
    np.testing.assert_allclose(means[:, 2], 1.0)
    assert not both.dual_coef_[:, 2].any()


@pytest.mark.parametrize("sigma", [0.05, 20.0, 200.0])
def test_regressor_stays_finite_for_extreme_widths_without_noise(sigma: float) -> None:
    x = np.linspace(-10, 10, 80)[:, None]
    machine = RVMRegressor(sigma=sigma).fit(x, np.sinc(x[:, 0]))
    assert np.isfinite(machine.predict(x, return_std=True)).all()


def _reestimated_classes(K: np.ndarray, signs: np.ndarray, rounds: int = 300) -> tuple[int, float]:
    """Tipping 2001, section 3: number of columns, and the evidence by Laplace's method, with a flat bias."""
    active, alpha, theta = np.arange(K.shape[1]), np.full(K.shape[1], 0.01), np.zeros(K.shape[1] + 1)
    for _ in range(rounds):
        features, prior = np.column_stack([K[:, active], np.ones(len(signs))]), np.diag(np.append(alpha, 0))
        for _ in range(20):
            p = expit(features @ theta)
            hessian = features.T @ (features * (p * (1 - p))[:, None]) + prior
            theta = theta + np.linalg.solve(hessian, features.T @ ((signs > 0) - p) - prior @ theta)
        loss = np.logaddexp(0, -signs * (features @ theta)).sum() + 0.5 * alpha @ theta[:-1] ** 2
        determinant = np.linalg.slogdet(hessian)[1]
        evidence = -loss + 0.5 * (np.log(alpha).sum() - determinant + np.log(2 * np.pi))
        determined = 1 - alpha * np.linalg.inv(hessian).diagonal()[:-1]
        alpha = np.maximum(determined, 1e-300) / theta[:-1] ** 2
        kept = alpha < 1e6
        active, alpha, theta = active[kept], alpha[kept], theta[np.append(kept, True)]
    return len(active), float(evidence)


@pytest.mark.parametrize("seed", [0, 1])
def test_classifier_evidence_is_that_of_reestimation(seed: int) -> None:
    X, y = make_moons(100, noise=0.3, random_state=seed)
    n_columns, evidence = _reestimated_classes(GaussianKernel(SIGMA)(X, X), 2.0 * y - 1)
    machine = RVMClassifier(sigma=SIGMA, tol=1e-8).fit(X, y)
    assert machine.log_evidence_[0] == pytest.approx(evidence, abs=0.5)
    assert len(machine.basis_centers_) <= n_columns + 1
    new, labels = make_moons(1000, noise=0.3, random_state=seed + 10)
    assert machine.score(new, labels) > 0.88
    np.testing.assert_allclose(machine.predict_proba(new)[:, 1], expit(machine.decision_function(new)))


def test_classes_have_normalized_probabilities_of_their_outputs() -> None:
    X, y = load_iris(return_X_y=True)
    machine = RVMClassifier().fit(X, y)
    odds = expit(machine.decision_function(X))
    np.testing.assert_allclose(machine.predict_proba(X), odds / odds.sum(axis=1, keepdims=True))
    assert machine.score(X, y) > 0.95
    assert len(machine.basis_centers_) < 20
