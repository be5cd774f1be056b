"""Least absolute deviations with an L1 penalty, by an interior point method."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack

from discriminants.linear_systems.box_interior import longest_step

_STEP = 0.9995  # fraction of the distance to the nearest bound
_MAX_ITERATIONS = 100
_MAX_GAP = 1e-4  # of sum |y|, at the end: nearly dependent columns leave the last digits undetermined
_RIDGE = 1e-12  # of the mean diagonal entry of the normal equations, for dependent columns


class Deviations(NamedTuple):
    """A minimum of sum_i |y_i - x_i'theta| + sum_j c_j |theta_j|."""

    theta: np.ndarray  # (n_columns,)
    # (n_rows,): a in [-1, 1] with |x_j'a| <= c_j for every column and y'a the minimum: the sign of the deviation
    # if it is not zero
    multipliers: np.ndarray
    gap: float  # difference of the two objectives


class _Rows:
    """X, and below it one row for every penalized column, with a single entry; the rows are implicit.

    Stored rows would double the time of products if there are as many columns as samples.
    """

    def __init__(self, X: np.ndarray, penalty: np.ndarray) -> None:
        self.X, self.n = X, X.shape[0]
        self.columns = np.flatnonzero(penalty)
        self.penalty = penalty[self.columns]

    def times(self, theta: np.ndarray) -> np.ndarray:
        """Shape (n_rows + n_penalties,)."""
        return np.concatenate([self.X @ theta, self.penalty * theta[self.columns]])

    def transposed_times(self, a: np.ndarray) -> np.ndarray:
        """Shape (n_columns,)."""
        found: np.ndarray = a[: self.n] @ self.X
        found[self.columns] += self.penalty * a[self.n :]
        return found

    def weighted_products(self, q: np.ndarray) -> np.ndarray:
        """Return products of the columns, with rows weighted by q; shape (n_columns, n_columns)."""
        weighted = np.sqrt(q[: self.n])[:, None] * self.X
        found: np.ndarray = weighted.T @ weighted  # BLAS halves the work for a matrix times its own transpose
        found[self.columns, self.columns] += self.penalty**2 * q[self.n :]
        return found

    def transposed(self) -> csr_array:
        """Return X' as a sparse matrix of shape (n_columns, n_rows + n_penalties)."""
        below = csr_array(
            (self.penalty, (self.columns, np.arange(self.columns.shape[0]))),
            shape=(self.X.shape[1], self.columns.shape[0]),
        )
        return hstack([csr_array(self.X.T), below], format="csr")


def least_absolute_deviations(
    X: np.ndarray, y: np.ndarray, penalty: np.ndarray | None = None, *, tol: float = 1e-9
) -> Deviations:
    """Minimize sum_i |y_i - x_i'theta| + sum_j c_j |theta_j| by Frisch and Newton's method.

    Source: S. Portnoy, R. Koenker, The Gaussian hare and the Laplacian tortoise, Statistical Science 12, 1997. A weight
    with a penalty is one more deviation from zero, in a row with c_j in its own column. With these rows the dual is max
    y'a for X'a = 0 and -1 <= a <= 1. It has bounds on every variable and few equations. Each iteration of Mehrotra's
    predictor and corrector therefore solves weighted least squares in the columns of X: O(n_rows n_columns^2) time,
    about 20 times. If columns are so nearly dependent that the objectives do not meet, HiGHS solves the dual, which
    takes longer.

    X and y are float64; `penalty` is c >= 0, none by default. The iteration ends when the two objectives differ by less
    than the fraction `tol` of sum |y|. Raises ValueError if the objectives of neither solver meet.
    """
    # Solve min c'x, X'x = X'1 / 2, 0 <= x <= 1, with a = 2 x - 1 and c = -y; the equations' multipliers are -theta.
    rows = _Rows(X, np.zeros(X.shape[1]) if penalty is None else penalty)
    y = np.concatenate([y, np.zeros(rows.columns.shape[0])])
    c, limit = -y, tol * max(float(np.abs(y).sum()), np.finfo(np.float64).tiny)
    x = np.full(y.shape[0], 0.5)
    s = 1.0 - x
    dual = _solver(rows, np.ones_like(y))(rows.transposed_times(c))
    r = c - rows.times(dual)
    z = np.maximum(r, 0.0) + max(0.1 * float(np.abs(r).mean()), np.finfo(np.float64).tiny)
    w = z - r
    gap = np.inf
    for _ in range(_MAX_ITERATIONS):
        gap = float(z @ x + w @ s)
        if gap <= limit:
            break
        q = 1.0 / (z / x + w / s)
        solve = _solver(rows, q)
        r = z - w
        step = solve(rows.transposed_times(q * r))
        dx = q * (rows.times(step) - r)
        dz, dw = -z * (1.0 + dx / x), -w * (1.0 - dx / s)
        primal, other = _lengths(x, s, z, w, dx, dz, dw)
        if min(primal, other) < 1.0:
            after = (z + other * dz) @ (x + primal * dx) + (w + other * dw) @ (s - primal * dx)
            mu = gap * (after / gap) ** 3 / (2 * y.shape[0])
            xi = mu * (1.0 / x - 1.0 / s)
            second, third = dx * dz / x, -dx * dw / s
            step = solve(rows.transposed_times(q * (r + second - third - xi)))
            dx = q * (rows.times(step) + xi - r - second + third)
            dz = mu / x - z - z * dx / x - second
            dw = mu / s - w + w * dx / s - third
            primal, other = _lengths(x, s, z, w, dx, dz, dw)
        x, s = x + primal * dx, s - primal * dx
        dual, z, w = dual + other * step, z + other * dz, w + other * dw
    found = _with_gap(rows, y, -dual, 2.0 * x - 1.0)
    if not _met(found, y):
        programme = linprog(-y, A_eq=rows.transposed(), b_eq=np.zeros(X.shape[1]), bounds=(-1.0, 1.0), method="highs")
        if programme.x is not None:
            found = _with_gap(rows, y, -programme.eqlin.marginals, programme.x)
    if not _met(found, y):
        raise ValueError(f"least absolute deviations did not converge: the objectives differ by {found.gap:.3g}")
    return found


def _with_gap(rows: _Rows, y: np.ndarray, theta: np.ndarray, multipliers: np.ndarray) -> Deviations:
    gap = float(np.abs(y - rows.times(theta)).sum() - y @ multipliers)
    return Deviations(theta, multipliers[: rows.n], gap)


def _met(found: Deviations, y: np.ndarray) -> bool:
    return bool(abs(found.gap) <= _MAX_GAP * np.abs(y).sum())


def _solver(rows: _Rows, q: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that solves X' diag(q) X v = b over all rows."""
    A = rows.weighted_products(q)
    diagonal = A.diagonal().copy()
    ridge = _RIDGE * max(float(diagonal.mean()), np.finfo(np.float64).tiny)
    while True:
        A.flat[:: A.shape[0] + 1] = diagonal + ridge
        try:
            factor = cho_factor(A, check_finite=False)
        except LinAlgError:
            ridge *= 100.0
            continue
        break

    def solve(b: np.ndarray) -> np.ndarray:
        return cho_solve(factor, b, check_finite=False)

    return solve


def _lengths(
    x: np.ndarray, s: np.ndarray, z: np.ndarray, w: np.ndarray, dx: np.ndarray, dz: np.ndarray, dw: np.ndarray
) -> tuple[float, float]:
    """Return the longest steps in x and in (z, w) that stay inside the bounds, at most one."""
    in_x = min(longest_step(x, dx, _STEP), longest_step(s, -dx, _STEP))
    return in_x, min(longest_step(z, dz, _STEP), longest_step(w, dw, _STEP))
