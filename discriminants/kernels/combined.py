"""Base of the kernels that are computed from the values of other kernels."""

from abc import abstractmethod
from typing import ClassVar, Self

import numpy as np

from discriminants.kernels.kernel import Kernel, KernelColumns, check_finite
from discriminants.kernels.matrix import PrecomputedKernel


class CombinedKernel(Kernel):
    """Base of the kernels computed from other kernels, the parts, whose parameters are nested parameters.

    A subclass implements `combine` and `diagonal`, and `of_points` if the value depends on a number for each point. One
    part may have several candidate columns for each point, such as a `MultiscaleGaussianKernel`.
    """

    _names: ClassVar[tuple[str, ...]] = ("kernel",)  # of the parameters that are parts
    part_type: ClassVar[type | None] = None  # float type of the values of the parts; None is that of the blocks

    def parts(self) -> list[Kernel]:
        """Return the parts; ValueError if one is not a kernel object, or precomputed."""
        parts = [getattr(self, name) for name in self._names]
        for name, part in zip(self._names, parts, strict=True):
            if not isinstance(part, Kernel) or isinstance(part, PrecomputedKernel):
                raise ValueError(
                    f"{name} of {type(self).__name__} must be a kernel object that is not precomputed, got {part!r}. "
                    "Combine precomputed matrices before fit"
                )
        return parts

    @abstractmethod
    def combine(
        self, values: list[np.ndarray], of_rows: np.ndarray | None, of_centers: np.ndarray | None
    ) -> np.ndarray:
        """Compute a block in place from the blocks of the parts, in the first of them, which is returned.

        `of_rows` (n_samples,) and `of_centers` (n_centers,) are those of `of_points`.
        """

    def of_points(self, X: np.ndarray) -> np.ndarray | None:
        """Return a number for each point, float64 (n_samples,), or None if `combine` needs none."""
        return None

    def resolved(self, X: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Return a copy with resolved parts."""
        return self._with([part.resolved(X, sample_weight) for part in self.parts()])

    @property
    def sparse_inputs(self) -> bool:  # type: ignore[override]
        """True if it is for all parts."""
        return all(part.sparse_inputs for part in self.parts())

    @property
    def centers_are_points(self) -> bool:
        """True if it is for all parts."""
        return all(part.centers_are_points for part in self.parts())

    def at(self, rows: np.ndarray) -> Self:
        """Return the kernel with the parts for these centers."""
        return self._with([part.at(rows) for part in self.parts()])

    def over(self, points: np.ndarray) -> tuple[Self, np.ndarray]:
        """Return the kernel with the candidates of its parts; ValueError if several parts have several per point."""
        found = [part.over(points) for part in self.parts()]
        several = [numbers for _, numbers in found if numbers.shape[0] != points.shape[0]]
        if not several:
            return self._with([kernel for kernel, _ in found]), np.arange(points.shape[0])
        if len(several) > 1:
            raise ValueError(f"several parts of {self} have several candidates for a point. Expected one such part")
        [of_all] = several
        return self._with([kernel if own is of_all else kernel.at(of_all) for kernel, own in found]), of_all

    def columns(self, centers: np.ndarray, dtype: np.dtype | type = np.float64) -> "CombinedColumns":
        """Prepare for fixed centers; blocks raise ValueError if a kernel value is too large for `dtype`."""
        kernel, numbers = self.over(centers)
        return CombinedColumns(kernel, centers[numbers], dtype)

    def _with(self, parts: list[Kernel]) -> Self:
        parameters = self.get_params(deep=False) | dict(zip(self._names, parts, strict=True))
        return type(self)(**parameters)


class CombinedColumns(KernelColumns):
    """Columns of all parts, whose blocks are combined."""

    def __init__(self, kernel: CombinedKernel, centers: np.ndarray, dtype: np.dtype | type) -> None:
        super().__init__(centers, dtype)
        self._kernel = kernel
        self._parts = [part.columns(centers, kernel.part_type or dtype) for part in kernel.parts()]
        self._of_centers = kernel.of_points(centers)

    def _block(self, X: np.ndarray, out: np.ndarray | None, work: np.ndarray | None) -> np.ndarray:
        first, *others = self._parts
        with np.errstate(over="ignore", invalid="ignore"):
            values = [first.block(X, out if first.dtype == self.dtype else None), *(part.block(X) for part in others)]
            K = self._kernel.combine(values, self._kernel.of_points(X), self._of_centers)
            if K.dtype != self.dtype:
                out = np.empty(K.shape, dtype=self.dtype) if out is None else out
                out[...] = K
                K = out
        check_finite(K, self._kernel)
        return K
