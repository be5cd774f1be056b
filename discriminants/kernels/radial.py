"""Kernels of the distance in widths."""

from abc import abstractmethod
from typing import ClassVar, Self

import numpy as np

from discriminants.kernels.half_squares import HalfSquares
from discriminants.kernels.kernel import Kernel, KernelColumns, positive_number
from discriminants.kernels.width import resolve_sigma


class RadialKernel(Kernel):
    """Base of the kernels k(x, c) = f(|x - c| / sigma) with f(0) = 1."""

    _norm: ClassVar[int] = 2  # of the differences

    def __init__(self, sigma: float | str = "scale") -> None:
        self.sigma = sigma
        if not isinstance(sigma, str):
            positive_number("sigma", sigma)

    def resolved(self, X: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Return a copy with `sigma` as a number."""
        copy = super().resolved(X, sample_weight)
        copy.sigma = positive_number("sigma", resolve_sigma(self.sigma, X, sample_weight, order=self._norm))
        return copy

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Ones."""
        return np.ones(X.shape[0])


class RadialColumns(KernelColumns):
    """Distances by a matrix product, then `_finish` on each block in place."""

    relative_accuracy: ClassVar[bool] = False  # whether the kernel is as steep near 0 as the distance itself
    far: ClassVar[float] = 1e4  # widths; the kernel is 0 from there

    def __init__(self, sigma: float | np.ndarray, centers: np.ndarray, dtype: np.dtype | type) -> None:
        super().__init__(centers, dtype)
        self._squares = HalfSquares(centers, sigma, dtype, self.far)

    @abstractmethod
    def _finish(self, values: np.ndarray) -> np.ndarray:
        """Convert -r^2/2 to the kernel, in place."""

    def work_space(self, n_rows: int) -> np.ndarray:
        """Allocate the left factor of the matrix product."""
        return self._squares.work_space(n_rows)

    def _block(self, X: np.ndarray, out: np.ndarray | None, work: np.ndarray | None) -> np.ndarray:
        left = self.work_space(X.shape[0]) if work is None else work
        same = self._squares.dtype == self.dtype
        values = self._squares.products(X, out if same else None, left)
        if self.relative_accuracy or self._squares.cancels:
            self._squares.repair(values, X, left)
        elif values.dtype == np.float64:
            np.minimum(values, 0.0, out=values)
        if same:
            return self._finish(values)
        K = np.empty(values.shape, dtype=self.dtype) if out is None else out
        with np.errstate(over="ignore"):
            K[...] = values  # rounded last, after all cancellation
        return self._finish(K)
