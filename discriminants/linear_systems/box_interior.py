"""Interior point method for a box-constrained dual with a stored kernel matrix."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

_STEP = 0.995  # fraction of the distance to the nearest bound
_MAX_ITERATIONS = 50
_RIDGE = 1e-12  # of the mean diagonal entry, for equal samples
_AT_BOUND = 1e-5  # multipliers this close to a bound are set to it


def box_interior(K: np.ndarray, target: np.ndarray, regularization: float, delta: float, tol: float) -> np.ndarray:
    """Maximize y'beta - delta |beta|^2 / 2 - beta'K beta / (2 C) approximately, 1'beta = 0, -1 <= beta_i <= 1.

    Mehrotra's predictor-corrector method (SIAM Journal on Optimization 2, 1992), as in
    `discriminants.fisher.least_absolute_deviations`. It takes about ten iterations, each with a Cholesky factorisation,
    O(N^3). Unlike pairwise descent, it does not depend on the condition of K. Memory is 16 N^2 bytes in addition to K.
    It stops when multipliers times distances from the bounds sum to less than `tol`. If rounding stops it earlier, the
    result is further from the maximum.
    """
    n_samples = target.shape[0]
    H = K / regularization
    H.flat[:: n_samples + 1] += delta
    diagonal, ridge = H.diagonal().copy(), _RIDGE * H.diagonal().mean()
    beta, bias = np.zeros(n_samples), float(target.mean())
    gradient = bias - target  # H beta + b - y, zero at the solution if beta is between its bounds
    below, above = np.maximum(gradient, 0.0) + 0.1, np.maximum(-gradient, 0.0) + 0.1  # multipliers of the bounds
    for _ in range(_MAX_ITERATIONS):
        x, s = 1.0 + beta, 1.0 - beta
        gap = float(below @ x + above @ s)
        if gap <= max(tol, n_samples * np.finfo(np.float64).eps):  # smaller values are rounding
            break
        H.flat[:: n_samples + 1] = diagonal + ridge + below / x + above / s
        try:
            factor = cho_factor(H.T, lower=True, check_finite=False)
        except LinAlgError:
            break
        ones = cho_solve(factor, np.ones(n_samples), check_finite=False)
        d, _ = _newton(factor, ones, -gradient, beta)
        db, da = -below * d / x - below, above * d / s - above
        length = min(longest_step(x, d), longest_step(s, -d), longest_step(below, db), longest_step(above, da))
        after = float((below + length * db) @ (x + length * d) + (above + length * da) @ (s - length * d))
        centre = gap * (after / gap) ** 3 / (2 * n_samples)
        at_below, at_above = centre - db * d, centre + da * d  # target products of multipliers and distances
        d, rise = _newton(factor, ones, at_below / x - at_above / s - gradient, beta)
        db, da = (at_below - below * d) / x - below, (at_above + above * d) / s - above
        length = min(longest_step(x, d), longest_step(s, -d), longest_step(below, db), longest_step(above, da))
        if not length > 0.0:
            break
        beta, bias, below, above = beta + length * d, bias + length * rise, below + length * db, above + length * da
        gradient = K @ beta / regularization + delta * beta + bias - target
    return _at_bounds(beta)


def _newton(
    factor: tuple[np.ndarray, bool], ones: np.ndarray, right: np.ndarray, beta: np.ndarray
) -> tuple[np.ndarray, float]:
    """Compute the step of the multipliers, after which they sum to zero, and of the bias; `ones` is the solution for
    1.
    """
    d = cho_solve(factor, right, check_finite=False)
    rise = float((d.sum() + beta.sum()) / ones.sum())
    return d - rise * ones, rise


def longest_step(v: np.ndarray, dv: np.ndarray, share: float = _STEP) -> float:
    """Return the step from v along dv, both (n,), at a fraction of the distance to the boundary v >= 0; at most one."""
    falling = dv < 0
    return min(1.0, share * float((-v[falling] / dv[falling]).min(initial=np.inf)))


def _at_bounds(beta: np.ndarray) -> np.ndarray:
    """Set multipliers close to a bound to it; the others keep the sum at zero, or nothing changes."""
    put = np.where(1.0 - np.abs(beta) < _AT_BOUND, np.sign(beta), beta)
    free = np.abs(put) < 1.0
    if free.any():
        put[free] -= put.sum() / free.sum()
    return put if free.any() and np.abs(put).max() <= 1.0 else beta - beta.mean()
