"""The Gaussian kernel, evaluated in blocks: matrix product, exponential in place, matrix product."""

from collections.abc import Iterator

import numpy as np

from discriminants.exponential import exp_in_place

# Above this squared norm (in widths) the expanded square loses more than about 1e-4 of the exponent in
# float32.
_FLOAT32_SQUARED_NORM = 1000.0


class GaussianKernel:
    """k(x, c) = exp(-|x - c|^2 / (2 sigma^2)) (Andelic 2007, 2.59).

    Parameters
    ----------
    sigma : float
        Width, in the units of the inputs; positive.

    Raises
    ------
    ValueError
        If sigma is not a positive finite number.
    """

    def __init__(self, sigma: float) -> None:
        if not (np.isfinite(sigma) and sigma > 0):
            raise ValueError(f"sigma must be a positive finite number, got {sigma!r}")
        self.sigma = float(sigma)

    def __call__(self, X: np.ndarray, centers: np.ndarray) -> np.ndarray:
        """Kernel matrix (n_samples, n_centers), in the float type of X."""
        return KernelColumns(self, centers, _float_type(X)).block(X)

    def evaluate(
        self,
        X: np.ndarray,
        centers: np.ndarray,
        weights: np.ndarray,
        bias: np.ndarray | float = 0.0,
        block: int = 256,
    ) -> np.ndarray:
        """K(X, centers) @ weights + bias, block by block: the whole of K is never formed.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        centers : ndarray of shape (n_centers, n_features)
        weights : ndarray of shape (n_centers, n_outputs)
        bias : ndarray of shape (n_outputs,) or float
        block : int
            Rows of X at a time; 256 keeps the kernel block in the second-level cache.

        Returns
        -------
        ndarray of shape (n_samples, n_outputs), float32 where X is float32, else float64
        """
        dtype = _float_type(X)
        columns = KernelColumns(self, centers, dtype)
        weights = np.ascontiguousarray(weights, dtype=dtype)
        bias = np.asarray(bias, dtype=dtype)
        outputs = np.empty((X.shape[0], weights.shape[1]), dtype=dtype)
        for rows, K in columns.blocks(X, block):
            np.matmul(K, weights, out=outputs[rows])
            outputs[rows] += bias
        return outputs


class KernelColumns:
    """The kernel prepared for a fixed set of centres; gives blocks of rows of K(X, centers).

    -|x|^2/2s^2 and -|c|^2/2s^2 ride in the matrix product as two more columns. Both sides are taken relative
    to the mean of the centres, so that data far from the origin do not cancel; where even so the norms are
    large against sigma, the exponent of float32 data is formed in float64.
    """

    def __init__(self, kernel: GaussianKernel, centers: np.ndarray, dtype: np.dtype | type = np.float32) -> None:
        wide = np.asarray(centers, dtype=np.float64)
        self.dtype = np.dtype(dtype)
        self.n_centers, self.n_features = wide.shape
        self._scale = 1.0 / kernel.sigma
        origin = wide.mean(axis=0).astype(self.dtype)  # rounded first: both sides subtract the same numbers
        scaled = (wide - origin) * self._scale
        squared = np.einsum("ij,ij->i", scaled, scaled)
        spread = float(squared.max(initial=0.0))
        self._exponent_dtype = np.dtype(np.float64) if spread > _FLOAT32_SQUARED_NORM else self.dtype
        right = np.empty((self.n_features + 2, self.n_centers))
        right[:-2] = scaled.T
        right[-2] = 1.0
        right[-1] = -0.5 * squared
        self._right = right.astype(self._exponent_dtype)
        self._origin = origin

    def block(self, X: np.ndarray, out: np.ndarray | None = None, left: np.ndarray | None = None) -> np.ndarray:
        """K(X, centers) of shape (n_samples, n_centers), into `out` where given; `left` is work space of
        (n_samples, d + 2).
        """
        n_samples = X.shape[0]
        if left is None:
            left = np.empty((n_samples, self.n_features + 2), dtype=self._exponent_dtype)
        rows = left[:, :-2]
        np.subtract(X, self._origin, out=rows, casting="same_kind")
        rows *= rows.dtype.type(self._scale)
        left[:, -2] = -0.5 * np.einsum("ij,ij->i", rows, rows)
        left[:, -1] = 1.0
        if self._exponent_dtype == self.dtype:
            K = np.matmul(left, self._right, out=out)
            return exp_in_place(np.minimum(K, 0.0, out=K) if self.dtype == np.float64 else K)
        wide = np.exp(np.minimum(left @ self._right, 0.0))
        if out is None:
            return wide.astype(self.dtype)
        out[...] = wide
        return out

    def blocks(self, X: np.ndarray, size: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (rows, K(X[rows], centers)) over all of X; each block overwrites the one before."""
        size = max(1, min(size, X.shape[0]))
        out = np.empty((size, self.n_centers), dtype=self.dtype)
        left = np.empty((size, self.n_features + 2), dtype=self._exponent_dtype)
        for start in range(0, X.shape[0], size):
            rows = slice(start, min(start + size, X.shape[0]))
            n = rows.stop - rows.start
            yield rows, self.block(X[rows], out[:n], left[:n])


def resolve_sigma(sigma: float | str, X: np.ndarray, sample_weight: np.ndarray | None = None) -> float:
    """The width a `sigma` parameter means for the data X.

    "scale" is the root of the summed (weighted) feature variances, 1 where X is constant: two samples then
    lie about 1.4 widths apart.

    Raises
    ------
    ValueError
        If it is neither "scale" nor a positive finite number.
    """
    if not isinstance(sigma, str):
        return GaussianKernel(sigma).sigma
    if sigma != "scale":
        raise ValueError(f'sigma must be "scale" or a positive number, got {sigma!r}')
    mean = np.average(X, axis=0, weights=sample_weight)
    variance = float(np.average((X - mean) ** 2, axis=0, weights=sample_weight).sum())
    rounding = 10 * float(np.finfo(X.dtype).eps * np.abs(X).max(initial=0.0))
    return float(np.sqrt(variance)) if variance > X.shape[1] * rounding**2 else 1.0


def _float_type(X: np.ndarray) -> np.dtype:
    return np.dtype(np.float32) if X.dtype == np.float32 else np.dtype(np.float64)
