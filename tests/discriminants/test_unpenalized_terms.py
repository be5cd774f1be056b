"""Least-squares machines with polynomial terms without a penalty, against the bordered system."""

from typing import Any

import numpy as np
import pytest

from discriminants import GaussianKernel, LSSVMRegressor, PrunedLSSVMRegressor, WeightedLSSVMRegressor

KERNEL = GaussianKernel(1.0)
MU = 0.3


def _data(n: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.uniform(-2, 2, (n, 2)) + 10
    y = 3 * X[:, 0] - 2 * X[:, 1] + np.sin(3 * X[:, 0]) + 0.1 * random.normal(size=n)
    return X, y, random.uniform(0.5, 2.0, n)


def _bordered(X: np.ndarray, y: np.ndarray, weight: np.ndarray, new: np.ndarray, degrees: list[int]) -> np.ndarray:
    """Outputs for `new` of [K + mu / v, P; P', 0] [alpha; beta] = [y; 0]."""

    def terms(Z: np.ndarray) -> np.ndarray:
        powers = [(Z[:, j] - 10) ** power for j, degree in enumerate(degrees) for power in range(1, degree + 1)]
        return np.column_stack([np.ones(len(Z)), *powers])

    P = terms(X)
    H = KERNEL(X, X) + np.diag(MU / weight)
    system = np.block([[H, P], [P.T, np.zeros((P.shape[1], P.shape[1]))]])
    found = np.linalg.solve(system, np.append(y, np.zeros(P.shape[1])))
    return KERNEL(new, X) @ found[: len(y)] + terms(new) @ found[len(y) :]


@pytest.mark.parametrize("degrees", [[1, 1], [2, 0], [0, 3]])
def test_outputs_are_those_of_the_bordered_system(degrees: list[int]) -> None:
    X, y, weight = _data()
    machine = LSSVMRegressor(kernel=KERNEL, regularization=MU, unpenalized=degrees).fit(X, y, weight)
    new = X[:5] + 1.5
    np.testing.assert_allclose(machine.predict(new), _bordered(X, y, weight, new, degrees), rtol=1e-8)
    for i in range(0, 40, 13):
        rest = np.delete(np.arange(40), i)
        left_out = y[i] - _bordered(X[rest], y[rest], weight[rest], X[i : i + 1], degrees)[0]
        assert machine.leave_one_out_residuals_[i] == pytest.approx(left_out, rel=1e-6)


def test_penalty_is_the_one_with_the_least_leave_one_out_error() -> None:
    X, y, _ = _data()
    penalties = [0.01, 0.1, 1.0, 10.0]
    machine = LSSVMRegressor(kernel=KERNEL, regularization=penalties, unpenalized=1).fit(X, y)
    alone = [LSSVMRegressor(kernel=KERNEL, regularization=mu, unpenalized=1).fit(X, y) for mu in penalties]
    expected = [(each.leave_one_out_residuals_**2).mean() for each in alone]
    np.testing.assert_allclose(machine.criterion_, expected, rtol=1e-8)


@pytest.mark.parametrize("learner", [LSSVMRegressor, WeightedLSSVMRegressor, PrunedLSSVMRegressor])
def test_output_follows_the_line_away_from_the_samples(learner: Any) -> None:
    X, y, _ = _data()
    machine = learner(sigma=1.0, unpenalized=1).fit(X, np.column_stack([y, -y]))
    far = np.array([[40.0, 10.0], [41.0, 10.0]])
    np.testing.assert_allclose(np.diff(machine.predict(far), axis=0), [[3.0, -3.0]], atol=0.5)


@pytest.mark.parametrize(
    "options",
    [
        {"unpenalized": [1, 2, 3]},
        {"unpenalized": -1},
        {"unpenalized": 1.5},
        {"unpenalized": 1, "solver": "conjugate_gradient", "regularization": 1.0},
    ],
)
def test_unsuitable_terms_raise(options: dict[str, Any]) -> None:
    X, y, _ = _data()
    with pytest.raises(ValueError, match="unpenalized"):
        LSSVMRegressor(**options).fit(X, y)
