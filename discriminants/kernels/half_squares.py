"""-|x - c|^2 / (2 sigma^2) as a matrix product, with cancelling pairs recomputed."""

import numpy as np

from discriminants.util.numba_cache import njit

_FLOAT32_SPREAD = 1e3  # above this squared norm (in widths) the product has relative errors above 1e-4 in float32
FLOAT64_SPREAD = 1e6  # the same for about 1e-9 in float64
_WIDTH_RATIO = 1e6  # of the largest width to the smallest
_NEAR = {np.dtype(np.float32): 1e-2, np.dtype(np.float64): 1e-4}
_FARTHEST = 1e100  # widths; squares stay finite


def in_widths(points: np.ndarray, origin: np.ndarray, sigma: float) -> np.ndarray:
    """Return points (n, d) relative to an origin (d,) among them, in widths, float64, clipped at 1e100."""
    with np.errstate(over="ignore"):
        scaled = (points.astype(np.float64, copy=False) - origin) / np.float64(sigma)
        return np.clip(scaled, -_FARTHEST, _FARTHEST, out=scaled)


class HalfSquares:
    """Minus half the squared distances to fixed centers, in widths.

    The matrix product computes -|x|^2/2s^2 and -|c|^2/2s^2 by two more columns. Both sides are relative to the mean of
    the centers, so data far from the origin do not cancel. If the norms are still large relative to the widths, float32
    data are multiplied in float64: `dtype` is the float type of the products. `spread` is the largest squared norm of a
    center, in widths; it is not finite on overflow. `cancels` is True if short distances are lost in the rounding of
    the product. They then need `repair`, even if an absolute error is acceptable. Points more than `far` widths away
    may be moved nearer, but not below `far`.
    """

    def __init__(
        self, centers: np.ndarray, sigma: float | np.ndarray, dtype: np.dtype | type, far: float = 1e4
    ) -> None:
        wide = np.ascontiguousarray(centers, dtype=np.float64)
        n_centers, n_features = wide.shape
        widths = np.broadcast_to(np.asarray(sigma, dtype=np.float64), (n_centers,))
        reference = float(np.exp(np.log(widths).mean())) if np.ndim(sigma) else float(sigma)
        narrowest, widest = float(widths.min(initial=reference)), float(widths.max(initial=reference))
        self._scale = 1.0 / reference
        with np.errstate(over="ignore", invalid="ignore"):
            relative = (reference / widths) ** 2  # one if all centers share the width
            origin = wide.mean(axis=0) if n_centers else np.zeros(n_features)
            self._origin = origin.astype(dtype)  # rounded first: both sides subtract the same numbers
            scaled = (wide - self._origin) * self._scale
            squared = np.einsum("ij,ij->i", scaled, scaled) * relative
            self.spread = float(squared.max(initial=0.0))
            self._limit = far * widest * self._scale + 2.0 * float(np.abs(scaled).max(initial=0.0))
            right = np.empty((n_features + 2, n_centers))
            right[:-2] = scaled.T * relative
        right[-2] = relative
        right[-1] = -0.5 * squared
        even = widest <= _WIDTH_RATIO * narrowest
        self.cancels = not (self.spread <= FLOAT64_SPREAD and even)
        self.dtype = np.dtype(dtype) if self.spread <= _FLOAT32_SPREAD and even else np.dtype(np.float64)
        self._right = right.astype(self.dtype)
        self._centers, self._inverse_widths = wide, 1.0 / widths

    def work_space(self, n_rows: int) -> np.ndarray:
        """Allocate the left factor: (n_rows, n_features + 2)."""
        return np.empty((n_rows, self._right.shape[0]), dtype=self.dtype)

    def products(self, X: np.ndarray, out: np.ndarray | None, left: np.ndarray) -> np.ndarray:
        """Return the matrix product, (n_samples, n_centers) of type `dtype`; `left` is the array of `work_space`."""
        rows = left[:, :-2]
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(X, self._origin, out=rows, dtype=rows.dtype, casting="same_kind")
            rows *= rows.dtype.type(self._scale)
            np.clip(rows, -self._limit, self._limit, out=rows)  # squares stay finite
            left[:, -2] = -0.5 * np.einsum("ij,ij->i", rows, rows)
            left[:, -1] = 1.0
            return np.matmul(left, self._right, out=out)

    def repair(self, products: np.ndarray, X: np.ndarray, left: np.ndarray) -> None:
        """Replace products that cancel or overflowed by sums of squared differences, with small relative error."""
        X = np.ascontiguousarray(X)
        near = _NEAR[self.dtype]
        row_bounds, center_bounds = near * left[:, -2].astype(np.float64), near * self._right[-1].astype(np.float64)
        relative = self._right[-2].astype(np.float64)
        _repair(products, X, self._centers, self._inverse_widths, row_bounds, relative, center_bounds)

    def at_least(self, bound: float, products: np.ndarray, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and columns, in memory order, of pairs whose exact value may be at least `bound`."""
        margin = 64.0 * float(np.finfo(self.dtype).eps)
        rows = (margin * left[:, -2] + bound * (1.0 + margin)).astype(self.dtype)
        return _pairs_at_least(products, rows, self.dtype.type(margin) * self._right[-1])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def half_square(x: np.ndarray, center: np.ndarray, inverse_width: float) -> float:
    """Compute -|x - c|^2 / (2 sigma^2) from differences."""
    total = 0.0
    for k in range(x.shape[0]):
        difference = (np.float64(x[k]) - center[k]) * inverse_width
        total += difference * difference
    return -0.5 * total


@njit(cache=True, nogil=True)
def _repair(
    products: np.ndarray,
    X: np.ndarray,
    centers: np.ndarray,
    inverse_widths: np.ndarray,
    row_bounds: np.ndarray,
    relative: np.ndarray,
    center_bounds: np.ndarray,
) -> None:
    for i in range(products.shape[0]):
        for j in range(products.shape[1]):
            if not products[i, j] < row_bounds[i] * relative[j] + center_bounds[j]:
                products[i, j] = half_square(X[i], centers[j], inverse_widths[j])


@njit(cache=True, nogil=True)
def _pairs_at_least(
    products: np.ndarray, row_bounds: np.ndarray, center_bounds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    n_rows, n_centers = products.shape
    counts = np.zeros(n_rows, dtype=np.int64)
    for i in range(n_rows):  # counting has no branch and is vectorized; overflows to NaN are counted
        bound, count = row_bounds[i], 0
        for j in range(n_centers):
            count += not products[i, j] < bound + center_bounds[j]
        counts[i] = count
    rows, columns = np.empty(counts.sum(), dtype=np.int64), np.empty(counts.sum(), dtype=np.int64)
    position = 0
    for i in range(n_rows):
        end = position + counts[i]
        rows[position:end] = i
        j = 0
        while position < end:
            columns[position] = j  # overwritten unless the pair counts
            position += not products[i, j] < row_bounds[i] + center_bounds[j]
            j += 1
    return rows, columns
