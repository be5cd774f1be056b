"""Kernels that are a product over the features."""

from abc import abstractmethod

import numpy as np

from discriminants.kernels.kernel import Kernel, KernelColumns, check_finite

_ENTRIES = 1 << 15  # of arrays that stay in the second-level cache


class FeatureProductKernel(Kernel):
    """Base of the kernels k(x, c) = prod_i f(x_i, c_i), computed in float64."""

    @abstractmethod
    def factor(self, x: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Return f of the values of one feature, float64 arrays that broadcast."""

    def columns(self, centers: np.ndarray, dtype: np.dtype | type = np.float64) -> "FeatureProductColumns":
        """Prepare for fixed centers; blocks raise ValueError if a kernel value is too large for `dtype`."""
        return FeatureProductColumns(self, centers, dtype)

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return k(x, x)."""
        wide = X.astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            return self.factor(wide, wide).prod(axis=1)


class FeatureProductColumns(KernelColumns):
    """One pass over the block for each feature."""

    def __init__(self, kernel: FeatureProductKernel, centers: np.ndarray, dtype: np.dtype | type) -> None:
        super().__init__(centers, dtype)
        self._kernel = kernel
        self._features = np.ascontiguousarray(centers.T, dtype=np.float64)

    def _block(self, X: np.ndarray, out: np.ndarray | None, work: np.ndarray | None) -> np.ndarray:
        K = np.empty((X.shape[0], self.n_centers), dtype=self.dtype) if out is None else out
        size = max(1, _ENTRIES // max(1, self.n_centers))
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, X.shape[0], size):
                rows = slice(start, start + size)
                K[rows] = self._products(X[rows])
        check_finite(K, self._kernel)
        return K

    def _products(self, X: np.ndarray) -> np.ndarray:
        products = np.ones((X.shape[0], self.n_centers))
        for x, c in zip(X.T.astype(np.float64), self._features, strict=True):
            products *= self._kernel.factor(x[:, None], c)
        return products
