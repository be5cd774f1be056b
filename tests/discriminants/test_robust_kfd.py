"""Robust discriminants against support vector regression and their own optimality."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_digits, make_moons
from sklearn.svm import SVR

from discriminants import KFDClassifier, RobustKFDClassifier
from discriminants.kernels import GaussianKernel
from discriminants.linear_systems.box_descent import KernelRows, _pairs, box_descent
from discriminants.linear_systems.box_interior import box_interior


def _moons(n: int = 90) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y = make_moons(n, noise=0.3, random_state=0)
    return X, y, GaussianKernel(0.6)(X, X)


def _huber(slack: np.ndarray, delta: float) -> np.ndarray:
    small = np.abs(slack) <= delta
    return np.where(small, slack**2 / (2 * delta) if delta else 0.0, np.abs(slack) - delta / 2)


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_absolute_slacks_are_support_vector_regression_without_a_tube(C: float) -> None:
    X, y, K = _moons()
    learner = RobustKFDClassifier(sigma=0.6, regularization=C, tol=1e-6).fit(X, y)
    reference = SVR(kernel="precomputed", C=1 / C, epsilon=0.0, tol=1e-8).fit(K, 2.0 * y - 1)
    np.testing.assert_allclose(learner.decision_function(X), reference.predict(K), atol=1e-4)


@pytest.mark.parametrize("block_size", [2, 30, 500])
@pytest.mark.parametrize("delta", [0.0, 0.3, 2.0])
def test_primal_and_dual_objective_meet(delta: float, block_size: int) -> None:
    X, y, K = _moons()
    target = 2.0 * y - 1
    found = box_descent(KernelRows(GaussianKernel(0.6), X), target, 0.5, delta, tol=1e-7, block_size=block_size)
    beta = found.beta
    assert found.violation <= 1e-7
    assert np.abs(beta).max() <= 1.0
    assert beta.sum() == pytest.approx(0.0, abs=1e-9)
    slack = target - K @ beta / 0.5 - found.bias
    primal = _huber(slack, delta).sum() + 0.5 * beta @ K @ beta / 0.5
    dual = target @ beta - 0.5 * delta * beta @ beta - 0.5 * beta @ K @ beta / 0.5
    assert primal == pytest.approx(dual, abs=1e-4)


@pytest.mark.parametrize("delta", [0.0, 0.4])
@pytest.mark.parametrize("C", [1e-4, 0.1, 10.0])
def test_the_interior_point_is_next_to_the_maximum_within_the_bounds(C: float, delta: float) -> None:
    X, y, K = _moons()
    target = 2.0 * y - 1
    beta = box_interior(K, target, C, delta, 1e-6)
    assert np.abs(beta).max() <= 1.0 and beta.sum() == pytest.approx(0.0, abs=1e-9)
    best = box_descent(KernelRows(GaussianKernel(0.6), X), target, C, delta, start=beta, tol=1e-8).beta

    def dual(b: np.ndarray) -> float:
        return float(target @ b - 0.5 * delta * b @ b - 0.5 * b @ K @ b / C)

    assert dual(beta) == pytest.approx(dual(best), rel=1e-4, abs=1e-5)


def test_a_descent_that_begins_at_the_interior_point_has_hardly_a_block_to_go() -> None:
    X, y = load_digits(return_X_y=True)
    rows, target = KernelRows(GaussianKernel(30.0), X[:400]), np.where(y[:400] == 8, 1.0, -1.0)
    assert rows.whole is not None
    start = box_interior(rows.whole, target, 0.01, 0.0, 1e-3)
    long, short = (box_descent(rows, target, 0.01, 0.0, start=begin) for begin in (None, start))
    np.testing.assert_allclose(rows.whole @ short.beta, rows.whole @ long.beta, atol=1e-4)
    assert short.n_blocks < 0.1 * long.n_blocks


def test_equal_samples_are_no_trouble_to_the_interior_point() -> None:
    X, y, _ = _moons(30)
    once, twice = (
        RobustKFDClassifier(sigma=0.6, regularization=n * 0.1).fit(X.repeat(n, axis=0), y.repeat(n)) for n in (1, 2)
    )
    np.testing.assert_allclose(twice.decision_function(X), once.decision_function(X), atol=1e-2)


def test_hubers_slacks_are_the_minimum_that_a_general_method_finds() -> None:
    X, y, K = _moons(40)
    target = 2.0 * y - 1

    def objective(theta: np.ndarray) -> float:
        return float(_huber(target - K @ theta[:-1] - theta[-1], 0.4).sum() + 0.25 * theta[:-1] @ K @ theta[:-1])

    learner = RobustKFDClassifier(sigma=0.6, regularization=0.5, loss="huber", delta=0.4, tol=1e-7).fit(X, y)
    theta = np.zeros(41)
    theta[learner.center_indices_] = learner.dual_coef_[:, 0]
    theta[-1] = learner.intercept_[0]
    assert objective(theta) <= minimize(objective, np.zeros(41), options={"maxiter": 2000}).fun + 1e-4


def test_wide_hubers_slacks_are_those_of_least_squares() -> None:
    X, y, _ = _moons()
    robust = RobustKFDClassifier(sigma=0.6, regularization=0.01, loss="huber", delta=50.0, tol=1e-8).fit(X, y)
    plain = KFDClassifier(sigma=0.6, regularization=0.5, penalty="kernel").fit(X, y)  # mu = C delta
    np.testing.assert_allclose(robust.decision_function(X), plain.decision_function(X), atol=1e-4)


def test_columns_evaluated_anew_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = _moons()
    kept = RobustKFDClassifier(sigma=0.6, tol=1e-8).fit(X, y)
    monkeypatch.setattr("discriminants.linear_systems.box_descent._WHOLE", 10)
    np.testing.assert_allclose(clone(kept).fit(X, y).decision_function(X), kept.decision_function(X), atol=1e-6)


def test_two_multipliers_at_a_time_is_what_numpy_does() -> None:
    random = np.random.default_rng(0)
    A = random.normal(size=(12, 12))
    H, target, delta = A @ A.T / 5, random.normal(size=12), 0.2
    compiled, g = np.zeros(12), -target
    _pairs(H, compiled, g, delta, 1e-6, 15)  # after this, rounding decides which of equal samples is moved
    beta, gradient = np.zeros(12), -target
    for _ in range(15):
        i = int(np.argmin(np.where(beta < 1 - 1e-12, gradient, np.inf)))
        difference = np.where(beta > -1 + 1e-12, gradient - gradient[i], -np.inf)
        gains = np.where(difference > 1e-6, difference, 0) ** 2 / (H[i, i] + H.diagonal() - 2 * H[i] + 2 * delta)
        if not gains.any():
            break
        j = int(np.argmax(gains))
        step = min(difference[j] / (H[i, i] + H[j, j] - 2 * H[i, j] + 2 * delta), 1 - beta[i], beta[j] + 1)
        beta[i] += step
        beta[j] -= step
        gradient = H @ beta + delta * beta - target
    np.testing.assert_allclose(compiled, beta, atol=1e-9)


def test_a_sample_with_a_wrong_label_has_no_more_weight_than_any_other_on_the_wrong_side() -> None:
    X, y, _ = _moons()
    y = y.copy()
    y[[3, 20, 40]] = 1 - y[[3, 20, 40]]
    robust = RobustKFDClassifier(sigma=0.6, regularization=0.5, tol=1e-6).fit(X, y)
    weights = np.zeros(len(y))
    weights[robust.center_indices_] = np.abs(robust.dual_coef_[:, 0])
    np.testing.assert_allclose(weights[[3, 20, 40]], 1 / 0.5)
    assert weights.max() <= 1 / 0.5 + 1e-9
