"""The whitened kernel features of all samples, as products in blocks."""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.linalg import blas

from discriminants.kernels import KernelColumns
from discriminants.logistic.whitening import Whitening

_CACHED_FEATURES = 1 << 24  # entries up to which the features are kept, not formed again for every product
_BLOCK_ROWS = 1024


class WhitenedFeatures:
    """phi(x) = [T'(k(x) - mean), 1], float64, of which only sums over the samples are asked for.

    The matrix of all phi, (n_samples, r + 1), is formed where it is small; otherwise the kernel is evaluated
    in blocks for every product, with memory O(m^2).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    columns : KernelColumns
        The kernel on the m centres.
    whitening : Whitening
        T (m, r) and the mean of the kernel columns.
    cached_entries : int
        Largest n_samples * m for which the features are kept.
    """

    def __init__(
        self, X: np.ndarray, columns: KernelColumns, whitening: Whitening, cached_entries: int = _CACHED_FEATURES
    ) -> None:
        self._X, self._columns = X, columns
        m, r = whitening.transform.shape
        self.n_samples, self.n_features = X.shape[0], r + 1
        self._transform = np.zeros((m + 1, r + 1))  # phi = [k, 1] @ transform
        self._transform[:m, :r] = whitening.transform
        self._transform[m, :r] = -whitening.mean @ whitening.transform
        self._transform[m, r] = 1.0
        self._cached: np.ndarray | None = None
        if self.n_samples * m <= cached_entries:
            cached = np.empty((self.n_samples, self.n_features))
            for rows, block in self._blocks():
                np.matmul(block, self._transform, out=cached[rows])
            self._cached = cached

    def outputs(self, theta: np.ndarray) -> np.ndarray:
        """phi @ theta of shape (n_samples, S) for theta (r + 1, S)."""
        outputs = np.empty((self.n_samples, theta.shape[1]))
        coefficients = self._inward(theta)
        for rows, block in self._blocks():
            np.matmul(block, coefficients, out=outputs[rows])
        return outputs

    def transposed(self, values: np.ndarray) -> np.ndarray:
        """phi' @ values of shape (r + 1, S) for values (n_samples, S)."""
        return self._outward(sum(block.T @ values[rows] for rows, block in self._blocks()))

    def through(self, theta: np.ndarray, between: Callable[[slice, np.ndarray], np.ndarray]) -> np.ndarray:
        """phi' @ between(phi @ theta) in one evaluation of the kernel; `between` gets the rows and their outputs."""
        coefficients = self._inward(theta)
        return self._outward(sum(block.T @ between(rows, block @ coefficients) for rows, block in self._blocks()))

    def gram(self, weight: np.ndarray) -> np.ndarray:
        """phi' diag(weight) phi of shape (r + 1, r + 1), weights (n_samples,) not negative."""
        total = np.zeros((self.n_features, self.n_features), order="F")
        root = np.sqrt(weight)[:, None]
        for rows, block in self._blocks():
            scaled = root[rows] * (block if self._cached is not None else block @ self._transform)
            blas.dsyrk(1.0, scaled.T, beta=1.0, c=total, overwrite_c=1)
        return total + np.triu(total, 1).T

    def _inward(self, theta: np.ndarray) -> np.ndarray:
        return theta if self._cached is not None else self._transform @ theta

    def _outward(self, total: np.ndarray) -> np.ndarray:
        return total if self._cached is not None else self._transform.T @ total

    def _blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Rows and their features: phi itself where it is kept, else [k, 1]."""
        if self._cached is not None:
            for start in range(0, self.n_samples, _BLOCK_ROWS):
                rows = slice(start, min(start + _BLOCK_ROWS, self.n_samples))
                yield rows, self._cached[rows]
            return
        wide = np.ones((min(_BLOCK_ROWS, self.n_samples), self._transform.shape[0]))
        for rows, K in self._columns.blocks(self._X, _BLOCK_ROWS):
            block = wide[: K.shape[0]]
            block[:, :-1] = K
            yield rows, block
