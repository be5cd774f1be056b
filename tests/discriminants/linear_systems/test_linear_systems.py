"""The shared linear systems against the same written out."""

import numpy as np
import pytest

from discriminants.kernels import GaussianKernel, PolynomialKernel
from discriminants.linear_systems.bordered_system import BorderedSystem, extended_factor
from discriminants.linear_systems.centred_scatter import PENALTIES, RidgeSolution, centred_scatter
from discriminants.linear_systems.penalty_path import PenaltyPath
from discriminants.linear_systems.pivoted_cholesky import pivoted_cholesky

MUS = [1e-3, 0.1, 10.0]


def samples(n: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, two targets, and their kernel matrix."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    Y = np.stack([np.where(X[:, 0] > 0.3, 1.0, -1.0), np.sin(X[:, 1])], axis=1)
    return X, Y, GaussianKernel(1.5)(X, X)


def ridge(K: np.ndarray, Y: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least squares in [K, 1] with the penalty alpha'R alpha, by the normal equations."""
    A = np.hstack([K, np.ones((K.shape[0], 1))])
    penalty = np.zeros((A.shape[1], A.shape[1]))
    penalty[:-1, :-1] = R
    solution = np.linalg.solve(A.T @ A + penalty, A.T @ Y)
    return solution[:-1], solution[-1]


def penalty_matrix(K: np.ndarray, penalty: str) -> np.ndarray:
    return np.eye(K.shape[1]) if penalty == "identity" else K


@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_centred_matrix_is_that_of_the_definition_but_for_the_constant_vector(penalty: str) -> None:
    _, _, K = samples()
    H = np.eye(30) - 1 / 30
    expected = H @ K @ H if penalty == "kernel" else H @ K @ K.T @ H
    found, means = centred_scatter(K.copy(), penalty)
    np.testing.assert_allclose(H @ found @ H, expected, atol=1e-12)
    np.testing.assert_allclose(means, K.mean(axis=0))


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_one_factorisation_solves_regularized_least_squares(penalty: str, mu: float) -> None:
    _, Y, K = samples()
    solution = RidgeSolution(K.copy(), Y, mu, penalty)
    alpha, bias = ridge(K, Y, mu * penalty_matrix(K, penalty))
    np.testing.assert_allclose(K @ solution.alpha + solution.bias, K @ alpha + bias, atol=1e-7)
    np.testing.assert_allclose(solution.bias, bias, atol=1e-7)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_path_holds_the_solution_of_every_penalty(penalty: str) -> None:
    _, Y, K = samples()
    path = PenaltyPath(K.copy(), penalty)
    for mu in MUS:
        direct = RidgeSolution(K.copy(), Y, mu, penalty)
        alpha, bias = path.solve(Y, mu)
        np.testing.assert_allclose(alpha, direct.alpha, atol=1e-8)
        np.testing.assert_allclose(bias, direct.bias, atol=1e-8)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_leaving_one_out_is_the_same_by_factor_and_by_path(penalty: str) -> None:
    _, Y, K = samples()
    for own_column in (True, False):
        path = PenaltyPath(K.copy(), penalty).leave_one_out_outputs(Y, MUS, own_column=own_column)
        for row, mu in zip(path, MUS, strict=True):
            by_factor = RidgeSolution(K.copy(), Y, mu, penalty).leave_one_out_outputs(own_column=own_column)
            np.testing.assert_allclose(by_factor, row, atol=1e-7)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_effective_parameters_and_gcv_are_those_of_the_smoother(penalty: str) -> None:
    _, Y, K = samples()
    path = PenaltyPath(K.copy(), penalty)
    for mu, parameters, gcv in zip(
        MUS, path.effective_parameters(MUS), path.generalised_cross_validation(Y, MUS), strict=True
    ):
        alpha, bias = ridge(K, np.eye(30), mu * penalty_matrix(K, penalty))
        S = K @ alpha + bias
        assert parameters == pytest.approx(np.trace(S), rel=1e-7)
        assert gcv == pytest.approx(30 * ((Y - S @ Y) ** 2).sum() / (30 - np.trace(S)) ** 2, rel=1e-6)


def test_a_low_rank_kernel_loses_nothing_to_the_constant_vector() -> None:
    X, Y, _ = samples()
    K = PolynomialKernel(2, gamma=0.3)(X[:, :1], X[:, :1])  # rank three of thirty
    path = PenaltyPath(K.copy(), "kernel")
    alpha, bias = path.solve(Y, 0.01)
    expected = RidgeSolution(K.copy(), Y, 0.01, "kernel")
    np.testing.assert_allclose(K @ alpha + bias, K @ expected.alpha + expected.bias, atol=1e-8)


def test_a_border_of_several_functions_is_solved_like_the_whole_matrix() -> None:
    X, Y, K = samples()
    P = np.column_stack([np.ones(30), X[:, 0]])
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 30)
    H = K + np.diag(0.2 / weights)
    whole = np.block([[H, P], [P.T, np.zeros((2, 2))]])
    system = BorderedSystem(H.copy(), P)
    alpha, b = system.solve(Y)
    np.testing.assert_allclose(np.vstack([alpha, b]), np.linalg.solve(whole, np.vstack([Y, np.zeros((2, 2))])))
    np.testing.assert_allclose(system.inverse_diagonal(), np.linalg.inv(whole).diagonal()[:30], rtol=1e-9)


def test_leaving_one_out_of_a_bordered_system_with_weights_is_solving_without_the_sample() -> None:
    _, Y, K = samples()
    H = K + np.diag(0.2 / np.random.default_rng(1).uniform(0.5, 2.0, 30))
    system = BorderedSystem(H.copy())
    alpha, _ = system.solve(Y)
    residuals = system.leave_one_out_residuals(alpha)
    for i in range(30):
        rest = np.delete(np.arange(30), i)
        a, b = BorderedSystem(H[np.ix_(rest, rest)].copy()).solve(Y[rest])
        np.testing.assert_allclose(Y[i] - (K[i, rest] @ a + b[0]), residuals[i], atol=1e-9)


def test_a_matrix_that_is_not_positive_definite_is_refused() -> None:
    with pytest.raises(ValueError, match="positive definite"):
        BorderedSystem(-np.eye(3))
    with pytest.raises(ValueError, match="dependent"):
        BorderedSystem(np.eye(3), np.ones((3, 2)))


def test_a_partial_cholesky_factor_leaves_a_positive_remainder_whose_diagonal_it_knows() -> None:
    X, _, K = samples(60)
    found = pivoted_cholesky(GaussianKernel(1.5), X, 12)
    rest = K - found.G @ found.G.T
    assert found.G.shape == (60, 12)
    assert np.unique(found.pivots).shape == (12,)
    np.testing.assert_allclose(rest.diagonal(), found.residual, atol=1e-12)
    np.testing.assert_allclose(rest[found.pivots], 0.0, atol=1e-12)
    assert np.linalg.eigvalsh(rest)[0] > -1e-12
    # each pivot is the sample worst represented by those before it
    before = K - found.G[:, :11] @ found.G[:, :11].T
    assert found.pivots[11] == np.argmax(before.diagonal())


def test_a_partial_cholesky_factor_ends_where_the_kernel_has_no_more_rank() -> None:
    X, _, _ = samples(60)
    kernel = PolynomialKernel(2, gamma=0.3)
    found = pivoted_cholesky(kernel, X, 60, tol=1e-9)
    assert found.pivots.shape[0] == 10  # monomials of three variables up to degree two
    np.testing.assert_allclose(found.G @ found.G.T, kernel(X, X), atol=1e-7)


def test_new_columns_of_a_cholesky_factor_are_those_of_the_larger_matrix() -> None:
    random = np.random.default_rng(0)
    A = random.normal(size=(9, 7))
    H = A.T @ A
    R = np.linalg.cholesky(H[:4, :4]).T
    columns, pivots = extended_factor(R, H[:4, 4:], H.diagonal()[4:])
    for j in range(3):
        rows = [0, 1, 2, 3, 4 + j]
        whole = np.linalg.cholesky(H[np.ix_(rows, rows)]).T
        np.testing.assert_allclose(columns[:, j], whole[:4, 4])
        assert np.sqrt(pivots[j]) == pytest.approx(whole[4, 4])
