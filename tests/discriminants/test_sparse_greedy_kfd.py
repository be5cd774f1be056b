"""Greedy selection with a penalty on the weights against its definition."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_moons

from discriminants import KFDClassifier, SparseGreedyKFDClassifier
from discriminants.center_selection.forward.kernel_matrix import KernelMatrix
from discriminants.center_selection.forward.normal_equations_state import NormalEquationsState
from discriminants.kernels import GaussianKernel
from discriminants.linear_systems.penalty_choice import usual_penalties
from discriminants.linear_systems.penalty_path import PenaltyPath

PENALTIES = ["identity", "kernel"]


def _moons(n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    X, y = make_moons(n, noise=0.3, random_state=0)
    targets = np.stack([2.0 * y - 1, np.where(X[:, 0] > 1.2, 1.0, -1.0)], axis=1)
    return X, y, targets, GaussianKernel(0.5)(X, X)


def _restricted(
    K: np.ndarray, targets: np.ndarray, chosen: list[int], mu: float, penalty: str
) -> tuple[np.ndarray, np.ndarray]:
    """Weights with the bias first, and the objective of each target, by (3.59) as it stands."""
    A = np.hstack([np.ones((len(K), 1)), K[:, chosen]])
    H = A.T @ A
    H[1:, 1:] += mu * (np.eye(len(chosen)) if penalty == "identity" else K[np.ix_(chosen, chosen)])
    c = A.T @ targets
    weights = np.linalg.solve(H, c)
    return weights, (targets**2).sum(axis=0) - np.einsum("is,is->s", c, weights)


@pytest.mark.parametrize("mu", [1e-3, 0.5])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_every_step_is_the_penalised_least_squares_of_its_centres(penalty: str, mu: float) -> None:
    X, _, targets, K = _moons()
    state = NormalEquationsState(KernelMatrix(GaussianKernel(0.5), X, np.arange(60)), targets, 10, mu, penalty)
    chosen: list[int] = []
    before = (targets**2).sum() - 60 * (targets.mean(axis=0) ** 2).sum()
    for candidate in (3, 17, 40, 41, 8):
        some = np.array([candidate, 5, 20])
        gains = state.error_reduction(some)
        for j, gain in zip(some, gains, strict=True):
            objective = _restricted(K, targets, [*chosen, int(j)], mu, penalty)[1].sum()
            assert gain == pytest.approx(before - objective, abs=1e-9)
        np.testing.assert_allclose(state.error_reduction()[some], gains, atol=1e-12)
        assert state.append(candidate)
        chosen.append(candidate)
        weights, objectives = _restricted(K, targets, chosen, mu, penalty)
        np.testing.assert_allclose(state.system.weights(), weights, atol=1e-7)
        np.testing.assert_allclose(state.system.unexplained, objectives, atol=1e-9)
        np.testing.assert_allclose(state.residual(), targets - K[:, chosen] @ weights[1:] - weights[0], atol=1e-8)
        before = objectives.sum()
    assert not state.available[chosen].any()


@pytest.mark.parametrize("penalty", PENALTIES)
def test_both_forms_choose_the_same_centres(penalty: str) -> None:
    X, y, _, _ = _moons(120)
    by_columns, by_products = (
        SparseGreedyKFDClassifier(
            15, sigma=0.5, penalty=penalty, rule="error_reduction", tol=0.0, n_candidates=n, random_state=0
        ).fit(X, y)
        for n in (None, 120)
    )
    np.testing.assert_array_equal(by_columns.center_indices_, by_products.center_indices_)
    np.testing.assert_allclose(by_columns.objective_, by_products.objective_, rtol=1e-8)
    np.testing.assert_allclose(by_columns.decision_function(X), by_products.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_with_every_sample_as_a_centre_it_is_the_dense_discriminant(penalty: str) -> None:
    X, y, _, _ = _moons(40)
    greedy = SparseGreedyKFDClassifier(40, sigma=0.5, regularization=0.1, penalty=penalty, tol=0.0, random_state=0).fit(
        X, y
    )
    dense = KFDClassifier(sigma=0.5, regularization=0.1, penalty=penalty).fit(X, y)
    np.testing.assert_allclose(greedy.decision_function(X), dense.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("n_candidates", [None, 20])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_without_a_penalty_given_that_of_least_error_with_labels_left_out_is_taken(
    penalty: str, n_candidates: int | None
) -> None:
    X, y, _, _ = _moons(80)
    y, K = y + (X[:, 0] > 1.2), GaussianKernel(0.5)(X, X)
    greedy = SparseGreedyKFDClassifier(12, sigma=0.5, penalty=penalty, n_candidates=n_candidates, random_state=0)
    targets = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    penalties = usual_penalties(K, penalty=penalty)
    outputs = PenaltyPath(K.copy(), penalty).leave_one_out_outputs(targets, penalties)
    best = penalties[int(((targets - outputs) ** 2).sum(axis=(1, 2)).argmin())]
    assert greedy.fit(X, y).regularization_ == best
    given = clone(greedy).set_params(regularization=best).fit(X, y)
    np.testing.assert_array_equal(given.dual_coef_, greedy.dual_coef_)
    matrix = clone(greedy).set_params(kernel="precomputed", sigma="scale").fit(K, y)
    assert matrix.regularization_ == pytest.approx(best)


def test_it_ends_when_the_objective_hardly_falls() -> None:
    X, y, _, _ = _moons(300)
    sizes = []
    for tol in (0.1, 0.01, 0.001):
        learner = SparseGreedyKFDClassifier(250, sigma=0.7, tol=tol, random_state=0).fit(X, y)
        sizes.append(int(learner.n_centers_[0]))
        objective = learner.objective_
        falls = (objective[:-5] - objective[5:]) / 5
        assert falls[-1] < tol * objective[-1]
        assert (falls[:-1] >= tol * objective[5:-1]).all()
        assert (np.diff(objective) <= 0).all()
    assert sizes[0] < sizes[1] < sizes[2] < 250


def test_private_dictionaries_choose_for_each_class() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:600] / 16.0, y[:600]
    shared, private = (
        SparseGreedyKFDClassifier(20, sigma=1.5, dictionary=d, tol=0.0, random_state=0).fit(X, y)
        for d in ("shared", "private")
    )
    assert shared.basis_centers_.shape[0] == 20
    assert private.n_centers_.tolist() == [20] * 10
    assert 100 < private.basis_centers_.shape[0] <= 200
    assert ((private.dual_coef_ != 0).sum(axis=0) == 20).all()


@pytest.mark.parametrize("dictionary", ["shared", "private"])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_leaving_one_out_in_closed_form_is_leaving_out_its_label(penalty: str, dictionary: str) -> None:
    X, y, _, K = _moons(40)
    y = y + (X[:, 0] > 1.2)
    settings = {"sigma": 0.5, "regularization": 0.1, "penalty": penalty, "tol": 0.0, "dictionary": dictionary}
    learner = SparseGreedyKFDClassifier(6, **settings, calibrate_on="leave_one_out", random_state=0)
    seen: dict[str, np.ndarray] = {}

    class Spy(SparseGreedyKFDClassifier):
        def _calibration_outputs(self, X: np.ndarray, targets: np.ndarray) -> np.ndarray:
            seen["outputs"] = super()._calibration_outputs(X, targets)
            return seen["outputs"]

    spy = Spy(**learner.get_params()).fit(X, y)
    for c in range(3):
        chosen = [int(i) for i in spy.center_indices_[spy.dual_coef_[:, c] != 0]]
        target = np.where(y == c, 1.0, -1.0)
        for i in (0, 11, 39):
            rest = np.delete(np.arange(40), i)
            A = np.hstack([np.ones((39, 1)), K[np.ix_(rest, chosen)]])
            H = A.T @ A
            H[1:, 1:] += 0.1 * (np.eye(len(chosen)) if penalty == "identity" else K[np.ix_(chosen, chosen)])
            weights = np.linalg.solve(H, A.T @ target[rest])
            assert seen["outputs"][i, c] == pytest.approx(weights[0] + K[i, chosen] @ weights[1:], abs=1e-7)
