"""Least squares with a penalty on the sum of absolute weights, by an interior point method."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from discriminants.linear_systems.box_interior import longest_step

_MAX_ITERATIONS = 200
_PATIENCE = 10  # iterations without improvement after which the best solution is returned
_MAX_GAP = 1e-3  # of y'y, at the end: nearly dependent columns leave the last digits undetermined


def l1_least_squares(gram: np.ndarray, correlation: np.ndarray, energy: float, penalty: float) -> np.ndarray:
    """Minimize |y - X alpha|^2 / 2 + C sum_j |alpha_j| from X'X, X'y and y'y; alpha of shape (n,), C > 0.

    Coordinate descent, as in scikit-learn's Lasso, needs more sweeps with a smaller penalty and with similar columns,
    such as those of a wide kernel. This function uses the predictor and corrector of Mehrotra, with alpha split into
    its positive and negative part. It solves about 20 systems with one equation per column, for any penalty and
    columns. Raises ValueError if the objectives of the problem and its dual do not meet.
    """
    n = gram.shape[0]
    if penalty >= np.abs(correlation).max():
        return np.zeros(n)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # the final gap reveals failures
        return _interior(gram, correlation, energy, penalty)


def _interior(gram: np.ndarray, correlation: np.ndarray, energy: float, penalty: float) -> np.ndarray:
    n = gram.shape[0]
    # p, q >= 0 with multipliers z, w; alpha = p - q; g = X'(X alpha - y). The start is a ridge solution.
    mean = max(float(gram.diagonal().mean()), np.finfo(np.float64).tiny)
    u = cho_solve(_factor(gram, np.full(n, 1e3 / mean)), correlation, check_finite=False)
    g = gram @ u - correlation
    spare = 0.1 * float(np.abs(u).mean()) + np.finfo(np.float64).tiny
    p, q = np.maximum(u, 0.0) + spare, np.maximum(-u, 0.0) + spare
    z, w = np.maximum(penalty + g, 0.1 * penalty), np.maximum(penalty - g, 0.1 * penalty)
    limit = 1e-10 * max(energy, np.finfo(np.float64).tiny)
    best, least, since = (p, q, z, w), np.inf, 0
    for _ in range(_MAX_ITERATIONS):
        g = gram @ (p - q) - correlation
        difference = _difference(g, correlation, energy, penalty, p - q)
        best, least, since = ((p, q, z, w), difference, 0) if difference < least else (best, least, since + 1)
        gap = float(p @ z + q @ w)
        if least <= limit or gap <= 1e-3 * limit or since >= _PATIENCE:  # further steps would be rounding
            break
        first, second = g + penalty - z, -g + penalty - w
        factor = _factor(gram, p / z + q / w)
        affine = _direction(gram, factor, p, q, z, w, first, second, np.zeros(n), np.zeros(n))
        length = _length((p, q, z, w), affine)
        dp, dq, dz, dw = affine
        after = float((p + length * dp) @ (z + length * dz) + (q + length * dq) @ (w + length * dw))
        mu = gap * (after / gap) ** 3 / (2 * n)
        aim_p, aim_q = mu - dp * dz, mu - dq * dw
        if since:  # predictor and corrector can cycle; a step to the center ends the cycle
            aim_p = aim_q = np.full(n, 0.5 * gap / (2 * n))
        step = _direction(gram, factor, p, q, z, w, first, second, aim_p, aim_q)
        length = _length((p, q, z, w), step)
        p, q, z, w = (v + length * dv for v, dv in zip((p, q, z, w), step, strict=True))
    if not least <= _MAX_GAP * max(energy, np.finfo(np.float64).tiny):
        raise ValueError(
            f"no convergence with regularization = {penalty:.3g}: the objectives differ by {least:.3g}. "
            "Use a larger regularization or a narrower kernel"
        )
    p, q, z, w = best
    alpha = p - q
    # At the minimum a part or its multiplier is zero: set the smaller one to zero, each in its own units.
    largest = float(np.abs(alpha).max(initial=0.0))
    sparse = np.where((p * penalty <= z * largest) & (q * penalty <= w * largest), 0.0, alpha)
    after_all = _difference(gram @ sparse - correlation, correlation, energy, penalty, sparse)
    return sparse if after_all <= least + _MAX_GAP * energy else alpha


def _factor(gram: np.ndarray, ratio: np.ndarray) -> tuple[np.ndarray, bool]:
    """Factor G + D^-1, D = p / z + q / w."""
    A = gram.copy()
    diagonal = gram.diagonal() + 1.0 / ratio
    jitter = 0.0
    while True:
        A.flat[:: A.shape[0] + 1] = diagonal + jitter
        try:
            found: tuple[np.ndarray, bool] = cho_factor(A, check_finite=False)
            return found
        except LinAlgError:
            jitter = max(100.0 * jitter, 1e-14 * float(diagonal.mean()))


def _direction(
    gram: np.ndarray,
    factor: tuple[np.ndarray, bool],
    p: np.ndarray,
    q: np.ndarray,
    z: np.ndarray,
    w: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    aim_p: np.ndarray,
    aim_q: np.ndarray,
) -> tuple[np.ndarray, ...]:
    """Return Newton's step towards p z = aim_p, q w = aim_q and zero residuals."""
    a, b = aim_p / p - z - first, aim_q / q - w - second
    ratio = p / z + q / w
    du = cho_solve(factor, (p / z * a - q / w * b) / ratio, check_finite=False)
    dg = gram @ du
    dp, dq = p / z * (a - dg), q / w * (b + dg)
    return dp, dq, (aim_p - z * dp) / p - z, (aim_q - w * dq) / q - w


def _length(values: tuple[np.ndarray, ...], steps: tuple[np.ndarray, ...]) -> float:
    """Return the longest step, at most one, that keeps all values positive."""
    return min(longest_step(v, dv) for v, dv in zip(values, steps, strict=True))


def _difference(g: np.ndarray, correlation: np.ndarray, energy: float, penalty: float, alpha: np.ndarray) -> float:
    """Return the duality gap at the residual, scaled until it is feasible in the dual."""
    squares = max(energy - correlation @ alpha + g @ alpha, 0.0)
    largest = float(np.abs(g).max())
    shrink = min(1.0, penalty / largest) if largest > 0 else 1.0
    primal = 0.5 * squares + penalty * np.abs(alpha).sum()
    return float(primal - shrink * (energy - correlation @ alpha) + 0.5 * shrink**2 * squares)
