"""Row-by-row estimation of transforms of frames for diagonal Gaussians.

With diagonal covariances, the rows of the transform interact in the expected log-likelihood only through the
determinant (Gales 1998, "Maximum likelihood linear transformations for HMM-based speech recognition", section 4; Gales
1999, "Semi-tied covariance matrices", section III).
"""

from dataclasses import dataclass

import numpy as np

from discriminants.util.numba_cache import njit

_MIN_GAIN = 1e-5  # per frame: stop after a sweep with a smaller gain


@dataclass(frozen=True)
class RowStatistics:
    """Sufficient statistics of a transform (A b) of the frames (x 1), or of A alone without offset."""

    count: float  # frames
    first: np.ndarray
    second: np.ndarray

    def __add__(self, other: "RowStatistics") -> "RowStatistics":
        return RowStatistics(self.count + other.count, self.first + other.first, self.second + other.second)

    def __mul__(self, factor: float) -> "RowStatistics":
        return RowStatistics(self.count * factor, self.first * factor, self.second * factor)

    def auxiliary(self, transform: np.ndarray) -> float:
        """Return the expected log-likelihood, with log|det A| per frame, of a transform (n, d), up to a constant."""
        _, log_determinant = np.linalg.slogdet(transform[:, : len(transform)])
        fit = (transform * self.first).sum() - 0.5 * np.einsum("ij,ijk,ik->", transform, self.second, transform)
        return float(self.count * log_determinant + fit)


def best_transform(statistics: RowStatistics, start: np.ndarray, *, sweeps: int = 50) -> np.ndarray:
    """Return the transform that maximizes the auxiliary function, float64 (n, d).

    Each row is optimized with the others fixed. With p the row's cofactors (and 0 for the offset) it is (alpha p + k)
    G^-1, where alpha solves alpha^2 p G^-1 p' + alpha p G^-1 k' = count (Gales 1998, equations 44 to 46). No update
    lowers the auxiliary function.

    `statistics`: the matrices `second` must be positive definite. `start`, float64 (n, d): initial transform; its
    square part must be invertible. `sweeps`: maximum number of sweeps over all rows; stops earlier when the gain is
    small.
    """
    transform = np.array(start, np.float64, order="C")
    n_rows = len(transform)
    inverses = np.linalg.inv(statistics.second)
    unconstrained = np.einsum("ijk,ik->ij", inverses, statistics.first)
    value = statistics.auxiliary(transform)
    for _ in range(sweeps):
        inverse = np.linalg.inv(transform[:, :n_rows])
        _sweep(transform, inverse, inverses, unconstrained, np.ascontiguousarray(statistics.first), statistics.count)
        before, value = value, statistics.auxiliary(transform)
        if value - before < _MIN_GAIN * statistics.count:
            break
    return transform


def best_of(statistics: RowStatistics, matrices: np.ndarray) -> np.ndarray:
    """Return the best of several matrices, with the best scale and offset of each row, float64 (n, n + 1).

    For a row a of a matrix and the frames (a x, 1) the value of (s, b) is count log s + (s, b) k' - 1/2 (s, b) G (s,
    b)'. So b = (k_b - G_sb s) / G_bb, and s solves count / s + c - g s = 0.

    `statistics`: with offset; the matrices `second` must be positive definite. `matrices`, float64 (m, n, n):
    invertible matrices.
    """
    n_rows = matrices.shape[1]
    products = np.einsum("mij,ijk->mik", matrices, statistics.second[:, :n_rows])
    square, cross = (products[:, :, :n_rows] * matrices).sum(axis=2), products[:, :, n_rows]
    linear, constant = (matrices * statistics.first[:, :n_rows]).sum(axis=2), statistics.first[:, n_rows]
    count = statistics.second[:, n_rows, n_rows]
    g, c = square - cross**2 / count, linear - cross * constant / count
    scale = (c + np.sqrt(c**2 + 4.0 * g * statistics.count)) / (2.0 * g)
    offset = (constant - cross * scale) / count
    transforms = np.concatenate([scale[:, :, None] * matrices, offset[:, :, None]], axis=2)
    return transforms[int(np.argmax([statistics.auxiliary(transform) for transform in transforms]))]


@njit(cache=True, nogil=True)
def _sweep(
    transform: np.ndarray,
    inverse: np.ndarray,
    inverses: np.ndarray,
    unconstrained: np.ndarray,
    first: np.ndarray,
    count: float,
) -> None:
    """Optimize each row of `transform` in turn, in place, and update `inverse` (of its first n columns) with it.

    The cofactors of a row are its column of the inverse up to a factor, which alpha absorbs. The solution that keeps
    the sign of the determinant is used; there the function is concave (Gales 1998, equations 44 to 46).

    `transform`, `unconstrained`, `first`, float64 (n, d): the transform, k G^-1 of every row, and k of every row.
    `inverse`, `inverses`, float64 (n, n), (n, d, d): the inverse of the matrix, and G^-1 of every row. `count`: frames.
    """
    n_rows, n_columns = transform.shape
    column, from_cofactors, change, changed = np.empty(n_rows), np.empty(n_columns), np.empty(n_rows), np.empty(n_rows)
    for row in range(n_rows):
        for i in range(n_rows):  # slice assignments take seconds to compile
            column[i] = inverse[i, row]
            changed[i] = 0.0
        square, cross = 0.0, 0.0
        for i in range(n_columns):
            total = 0.0
            for j in range(n_rows):
                total += inverses[row, i, j] * column[j]
            from_cofactors[i] = total
            cross += total * first[row, i]
            if i < n_rows:
                square += total * column[i]
        root = np.sqrt(cross**2 + 4.0 * square * count)
        alpha = 2.0 * count / (cross + root) if cross >= 0 else (root - cross) / (2.0 * square)
        for i in range(n_columns):
            updated = alpha * from_cofactors[i] + unconstrained[row, i]
            if i < n_rows:
                change[i] = updated - transform[row, i]
            transform[row, i] = updated
        # Sherman-Morrison: update the inverse for the changed row.
        for i in range(n_rows):
            for j in range(n_rows):
                changed[j] += change[i] * inverse[i, j]
        for i in range(n_rows):
            factor = column[i] / (1.0 + changed[row])
            for j in range(n_rows):
                inverse[i, j] -= factor * changed[j]
