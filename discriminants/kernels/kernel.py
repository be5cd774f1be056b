"""Base of the kernels: objects with parameters, evaluated in blocks against a prepared set of centers."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, clone

BLOCK_ROWS = 256  # rows of a kernel block that stay in the second-level cache during use
SMALLEST = float(np.finfo(np.float64).tiny)  # positive number whose inverse is finite
_SPARSE_BLOCK_ENTRIES = 1 << 22  # 100 MB of pairs if all are neighbors


class Kernel(BaseEstimator, ABC):
    """A function k(x, c) of two points.

    Kernels are scikit-learn parameter objects: they can be cloned, and nested parameters such as `kernel__sigma` can be
    tuned. A subclass implements `columns` and `diagonal`. It implements `resolved` if its parameters depend on the
    data, `at` if they differ between centers, and `over` if each point has several candidate columns.

    `k1 + k2`, `k1 * k2` and `a * k1` with a number a > 0 are kernels again.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import GaussianKernel, Kernel
    >>> isinstance(GaussianKernel(1.0), Kernel)
    True

    See Also
    --------
    GaussianKernel : the default of the learners.
    """

    __array_ufunc__: ClassVar[None] = None  # a NumPy number on the left calls __rmul__

    def __str__(self) -> str:
        return " ".join(repr(self).split())  # one line, for messages

    def __add__(self, other: Any) -> "Kernel":
        from discriminants.kernels.algebra import SumKernel

        return SumKernel(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> "Kernel":
        from discriminants.kernels.algebra import ProductKernel, ScaledKernel

        if isinstance(other, Kernel):
            return ProductKernel(self, other)
        return ScaledKernel(self, float(other)) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__
    sparse_inputs: ClassVar[bool] = False
    """Whether samples and centers may also be csr arrays."""

    def resolved(self, X: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Return a copy whose parameters are numbers, with values such as "scale" computed from the data.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Training samples.
        sample_weight : ndarray of shape (n_samples,), optional
            Their weights.

        Raises
        ------
        ValueError
            If a parameter is out of range.
        """
        return clone(self)

    @property
    def centers_are_points(self) -> bool:
        """Whether equal points give equal columns, so that one of several duplicate rows can represent all."""
        return True

    def at(self, rows: np.ndarray) -> Self:
        """Return the kernel for the given centers, with one parameter per center restricted to `rows`."""
        return self

    def over(self, points: np.ndarray) -> tuple["Kernel", np.ndarray]:
        """Return the kernel of all candidates for the points, and for each candidate the number of its point.

        Parameters
        ----------
        points : ndarray of shape (n_points, n_features)
            Possible centers.
        """
        return self, np.arange(points.shape[0])

    @abstractmethod
    def columns(self, centers: np.ndarray, dtype: np.dtype | type = np.float64) -> "KernelColumns":
        """Prepare for fixed centers (n_centers, n_features); blocks have the float type `dtype`.

        Parameters
        ----------
        centers : ndarray of shape (n_centers, n_features)
            Points c of k(x, c).
        dtype : float type
            Type of the kernel values.
        """

    @abstractmethod
    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return k(x, x) for every row of X, float64 of shape (n_samples,).

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Samples.
        """

    @property
    def has_width_gradient(self) -> bool:
        """Whether `width_gradient` is available for these parameters."""
        return False

    def width_gradient(self, X: np.ndarray, K: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return sum_kl w_kl dk(x_k, x_l) / d log sigma for every width sigma, shape (n_widths,).

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        K : ndarray of shape (n_samples, n_samples)
            The kernel of X with itself.
        weights : ndarray of shape (n_samples, n_samples)
            w, symmetric.
        """
        raise NotImplementedError(f"{type(self).__name__} has no derivative with respect to a width")

    def __call__(self, X: np.ndarray, centers: np.ndarray) -> np.ndarray:
        """Return the kernel matrix (n_samples, n_centers), float32 if X is float32, else float64."""
        return self.columns(centers, float_type(X)).block(X)

    def evaluate(
        self,
        X: np.ndarray,
        centers: np.ndarray,
        weights: np.ndarray,
        bias: np.ndarray | float = 0.0,
        block: int = BLOCK_ROWS,
        columns: "KernelColumns | None" = None,
    ) -> np.ndarray:
        """Compute K(X, centers) @ weights + bias block by block, without forming the whole K.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        centers : ndarray of shape (n_centers, n_features)
        weights : ndarray of shape (n_centers, n_outputs)
        bias : ndarray of shape (n_outputs,) or float
        block : int
            Number of rows of X per block.
        columns : KernelColumns, optional
            Result of an earlier `self.columns` for these centers and the float type of X.

        Returns
        -------
        ndarray of shape (n_samples, n_outputs), float32 where X is float32, else float64
        """
        dtype = float_type(X)
        if columns is None:
            columns = self.columns(centers, dtype)
        outputs = columns.product(X, np.ascontiguousarray(weights, dtype=dtype), block)
        outputs += np.asarray(bias, dtype=dtype)
        return outputs


class KernelColumns(ABC):
    """A kernel prepared for fixed centers (n_centers, n_features), with blocks of K(X, centers) of type `dtype`.

    A subclass implements `_block`.
    """

    def __init__(self, centers: np.ndarray, dtype: np.dtype | type) -> None:
        self.dtype = np.dtype(dtype)
        self.n_centers = centers.shape[0]
        self.n_features = centers.shape[1]

    def block(self, X: np.ndarray, out: np.ndarray | None = None, work: np.ndarray | None = None) -> np.ndarray:
        """Return K(X, centers) of shape (n_samples, n_centers), in `out` if given.

        `work` is the array of `work_space`, cut to the rows of X. Raises ValueError if the samples and centers have
        different numbers of features.
        """
        self._check_width(X)
        return self._block(X, out, work)

    @abstractmethod
    def _block(self, X: np.ndarray, out: np.ndarray | None, work: np.ndarray | None) -> np.ndarray:
        """Compute `block` for samples with the number of features of the centers; compiled loops depend on it."""

    def _check_width(self, X: np.ndarray) -> None:
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"samples have shape {X.shape}. Expected {self.n_features} features, as in the centers")

    def work_space(self, n_rows: int) -> np.ndarray | None:
        """Return a work array for `block`, with one row per row of X, or None if it needs none."""
        return None

    def blocks(self, X: np.ndarray, size: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (rows, K(X[rows], centers)) over all of X; each block overwrites the previous one."""
        size = max(1, min(size, X.shape[0]))
        out = np.empty((size, self.n_centers), dtype=self.dtype)
        work = self.work_space(size)
        for start in range(0, X.shape[0], size):
            rows = slice(start, min(start + size, X.shape[0]))
            n = rows.stop - rows.start
            yield rows, self.block(X[rows], out[:n], None if work is None else work[:n])

    def product(self, X: np.ndarray, weights: np.ndarray, size: int = BLOCK_ROWS) -> np.ndarray:
        """Return K(X, centers) @ weights of shape (n_samples, n_outputs), `size` rows at a time; weights of type
        `dtype`.
        """
        outputs = np.empty((X.shape[0], weights.shape[1]), dtype=self.dtype)
        for rows, K in self.blocks(X, size):
            np.matmul(K, weights, out=outputs[rows])
        return outputs


class SparseKernelColumns(KernelColumns):
    """Columns of a kernel that is zero for most pairs of points."""

    def sparse(self, X: np.ndarray) -> csr_array:
        """Return K(X, centers) of shape (n_samples, n_centers) and type `dtype`, with only the nonzero entries.

        Entries are ascending within each row. Values and errors are those of `block`.
        """
        self._check_width(X)
        return self._sparse(X)

    @abstractmethod
    def _sparse(self, X: np.ndarray) -> csr_array:
        """Compute `sparse` for samples with the number of features of the centers."""

    def sparse_blocks(self, X: np.ndarray) -> Iterator[tuple[slice, csr_array]]:
        """Yield (rows, K(X[rows], centers)) over all of X, with a number of rows that would be safe for a dense K."""
        size = max(BLOCK_ROWS, _SPARSE_BLOCK_ENTRIES // max(1, self.n_centers))
        for start in range(0, X.shape[0], size):
            rows = slice(start, min(start + size, X.shape[0]))
            yield rows, self.sparse(X[rows])

    def product(self, X: np.ndarray, weights: np.ndarray, size: int = BLOCK_ROWS) -> np.ndarray:
        """Return K(X, centers) @ weights of shape (n_samples, n_outputs) by sparse products."""
        outputs = np.empty((X.shape[0], weights.shape[1]), dtype=self.dtype)
        for rows, K in self.sparse_blocks(X):
            outputs[rows] = K @ weights
        return outputs


def float_type(X: np.ndarray) -> np.dtype:
    """Return float32 for float32, and float64 for other types."""
    return np.dtype(np.float32) if X.dtype == np.float32 else np.dtype(np.float64)


def positive(name: str, value: Any) -> float | np.ndarray:
    """Return a positive finite number, or an array of them, unchanged; otherwise raise ValueError."""
    try:
        number = np.asarray(value)
    except ValueError:  # rows of different lengths
        number = np.array(np.nan)
    sound = number.dtype.kind in "iuf" and number.ndim <= 1 and number.size > 0
    if not (sound and np.isfinite(number).all() and (number >= SMALLEST).all()):
        raise ValueError(f"{name} must be a positive finite number, got {value!r}")
    return float(number) if number.ndim == 0 else number.astype(np.float64)


def positive_number(name: str, value: Any) -> float:
    """Return one positive finite number; otherwise raise ValueError."""
    if isinstance(value, str):
        raise ValueError(f"{name} must be a number, got {value!r}. Expected a kernel after resolved(X)")
    number = positive(name, value)
    if isinstance(number, np.ndarray):
        raise ValueError(f"{name} must be one number, got {number.shape[0]} numbers")
    return number


def check_whole(name: str, value: Any, least: int = 1) -> None:
    """Raise ValueError unless the value is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")


def whole_power(values: np.ndarray, degree: int) -> np.ndarray:
    """Raise every entry to the power of a whole number of at least 1, in place."""
    base = values.copy() if degree > 2 else values
    for bit in f"{degree:b}"[1:]:  # binary powers: pow() would take longer than a matrix product
        values *= values
        if bit == "1":
            values *= base
    return values


def check_finite(K: np.ndarray, kernel: Kernel) -> None:
    """Raise ValueError if a value is too large for the float type of the block."""
    if not np.isfinite(K).all():
        raise ValueError(
            f"values of {kernel} are too large for {K.dtype}. Scale the features or use smaller parameters"
        )
