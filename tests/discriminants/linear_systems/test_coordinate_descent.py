"""Coordinate descent against the system solved at once."""

import numpy as np
import pytest

from discriminants.kernels import GaussianKernel
from discriminants.linear_systems.bordered_system import BorderedSystem
from discriminants.linear_systems.coordinate_descent import block_descent, working_set


def two_at_a_time(K: np.ndarray, y: np.ndarray, mu: float, figures: float) -> tuple[np.ndarray, float, int]:
    """The source's method as printed (Mika 2002, section 3.5.3), its C being mu and its multipliers mu alpha."""
    multipliers = np.zeros_like(y)
    for step in range(100_000):
        gradient = K @ multipliers / mu + multipliers - y
        bias = -gradient.mean()
        slack = y - K @ multipliers / mu - bias
        norm = 0.5 * multipliers @ K @ multipliers / mu
        primal, dual = 0.5 * slack @ slack + norm, y @ multipliers - 0.5 * multipliers @ multipliers - norm
        infeasible = np.linalg.norm(K @ multipliers / mu + multipliers + bias - y) / np.linalg.norm(y)
        if -np.log10(abs(primal - dual) / (abs(primal) + 1)) >= figures and infeasible <= 10.0**-figures:
            return multipliers / mu, bias, step
        i, j = int(np.argmax(gradient)), int(np.argmin(gradient))
        r = -(gradient[i] - gradient[j]) / ((K[i, i] + K[j, j] - 2 * K[i, j]) / mu + 2)
        multipliers[i] += r
        multipliers[j] -= r
    raise AssertionError("no end")


def problem(n: int = 200) -> tuple[np.ndarray, np.ndarray, GaussianKernel]:
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 2))
    codes = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 0] > 1)
    return X, np.where(codes[:, None] == np.arange(3), 1.0, -1.0), GaussianKernel(0.5)


@pytest.mark.parametrize("block_size", [6, 40, 500])
@pytest.mark.parametrize("figures", [1, 3, 6])
def test_the_solution_has_as_many_figures_as_were_asked_for(figures: int, block_size: int) -> None:
    X, Y, kernel = problem()
    mu = 0.1
    found = block_descent(kernel, X, Y, mu, block_size=block_size, figures=figures)
    K = kernel(X, X)
    H = K.copy()
    H.flat[::201] += mu
    alpha, bias = BorderedSystem(H).solve(Y)
    np.testing.assert_allclose(found.alpha.sum(axis=0), 0.0, atol=1e-9)
    slack = Y - K @ found.alpha - found.bias
    assert np.linalg.norm(slack - mu * found.alpha, axis=0).max() <= 10.0**-figures * np.sqrt(200) * (1 + 1e-9)
    value, best = (
        0.5 * (e * e).sum(axis=0) + 0.5 * mu * np.einsum("ij,ij->j", a, K @ a)
        for e, a in ((slack, found.alpha), (Y - K @ alpha - bias[0], alpha))
    )
    assert (value - best <= 10.0**-figures * (value + 1)).all()
    assert (value >= best - 1e-9).all()
    assert found.figures >= figures
    assert found.infeasibility <= 10.0**-figures


def test_a_block_of_all_samples_solves_the_system_at_once() -> None:
    X, Y, kernel = problem(100)
    found = block_descent(kernel, X, Y, 0.5, block_size=1000, figures=8)
    H = kernel(X, X) + 0.5 * np.eye(100)
    alpha, bias = BorderedSystem(H).solve(Y)
    assert found.n_blocks == 1
    np.testing.assert_allclose(found.alpha, alpha, atol=1e-10)
    np.testing.assert_allclose(found.bias, bias[0], atol=1e-10)


def test_blocks_arrive_where_two_coordinates_at_a_time_do() -> None:
    X, Y, kernel = problem(80)
    alpha, bias, _ = two_at_a_time(kernel(X, X), Y[:, 0], 0.5, 6)
    found = block_descent(kernel, X, Y[:, :1], 0.5, block_size=8, figures=6)
    np.testing.assert_allclose(found.alpha[:, 0], alpha, atol=2e-3)
    assert found.bias[0] == pytest.approx(bias, abs=1e-4)


def test_columns_of_earlier_blocks_save_blocks() -> None:
    X, Y, kernel = problem()
    alone, cached = (block_descent(kernel, X, Y, 0.01, block_size=20, n_cached=n, figures=5) for n in (0, 40))
    np.testing.assert_allclose(cached.alpha, alone.alpha, atol=1e-2)
    assert cached.n_blocks < 0.6 * alone.n_blocks


def test_a_descent_that_is_cut_short_says_how_far_it_came() -> None:
    X, Y, kernel = problem()
    found = block_descent(kernel, X, Y, 1e-3, block_size=6, figures=6, max_blocks=3)
    assert found.n_blocks == 3
    assert found.figures < 6


def test_both_ends_of_every_gradient_are_in_the_working_set() -> None:
    gradient = np.random.default_rng(0).normal(size=(40, 2))
    chosen = working_set(gradient, 8, np.random.default_rng(1))
    pool = np.random.default_rng(1).choice(40, 8, replace=False)
    for s in range(2):
        ascending = pool[np.argsort(gradient[pool, s])]
        assert np.isin(np.r_[ascending[:2], ascending[-2:]], chosen).all()
    np.testing.assert_array_equal(working_set(gradient, 100, np.random.default_rng(1)), np.arange(40))
