"""Linear programming machines against the linear program of all columns."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import load_iris, make_moons

from discriminants import GaussianKernel, LPMachineClassifier, LPMachineRegressor


def _hinge(X: np.ndarray, y: np.ndarray, weight: np.ndarray, C: float) -> float:
    """Minimum of the sum of hinge losses and absolute weights, over all columns."""
    K, n = GaussianKernel(0.5)(X, X), len(y)
    signed = y[:, None] * np.hstack([K, -K, np.ones((n, 1))])
    cost = np.concatenate([np.full(2 * n, C), [0.0], weight])
    bounds = [(0, None)] * (2 * n) + [(None, None)] + [(0, None)] * n
    return float(linprog(cost, A_ub=-np.hstack([signed, np.eye(n)]), b_ub=-np.ones(n), bounds=bounds).fun)


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_classifier_reaches_the_minimum_over_all_columns(C: float) -> None:
    X, y = make_moons(90, noise=0.25, random_state=0)
    weight, signs = np.random.default_rng(0).uniform(0.5, 2.0, len(y)), 2.0 * y - 1
    machine = LPMachineClassifier(sigma=0.5, regularization=C).fit(X, y, weight)
    losses = np.maximum(0.0, 1.0 - signs * machine.decision_function(X))
    assert weight @ losses + C * np.abs(machine.dual_coef_).sum() == pytest.approx(
        _hinge(X, signs, weight, C), rel=2e-3
    )
    assert machine.n_centers_[0] < 30


@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_regressor_reaches_the_minimum_over_all_columns(epsilon: float) -> None:
    random = np.random.default_rng(0)
    X, C = random.uniform(-3, 3, (70, 1)), 0.3
    y = 100 + 5 * np.sin(X[:, 0]) + random.normal(0, 0.5, 70)
    K, n = GaussianKernel(0.5)(X, X), len(y)
    features = np.hstack([K, -K, np.ones((n, 1))])
    cost = np.concatenate([np.full(2 * n, C), [0.0], np.ones(n)])
    rows = np.vstack([np.hstack([features, -np.eye(n)]), np.hstack([-features, -np.eye(n)])])
    bounds = [(0, None)] * (2 * n) + [(None, None)] + [(0, None)] * n
    twin = linprog(cost, A_ub=rows, b_ub=np.concatenate([epsilon + y, epsilon - y]), bounds=bounds).fun
    machine = LPMachineRegressor(sigma=0.5, regularization=C, epsilon=epsilon).fit(X, y)
    losses = np.maximum(0.0, np.abs(y - machine.predict(X)) - epsilon)
    assert losses.sum() + C * np.abs(machine.dual_coef_).sum() == pytest.approx(twin, rel=2e-3)


def test_large_penalty_keeps_the_bias_alone() -> None:
    X, y = make_moons(60, noise=0.25, random_state=0)
    machine = LPMachineClassifier(sigma=0.5, regularization=1e3).fit(X[10:], y[10:])
    assert machine.n_centers_[0] == 0
    assert not machine.dual_coef_.any()


def test_several_classes_share_their_centers() -> None:
    X, y = load_iris(return_X_y=True)
    machine = LPMachineClassifier().fit(X, y)
    assert machine.score(X, y) > 0.95
    assert max(machine.n_centers_) <= len(machine.basis_centers_) <= sum(machine.n_centers_)
