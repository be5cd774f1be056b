"""Kernels evaluated outside this package: a function, or a precomputed matrix."""

from collections.abc import Callable
from typing import Self

import numpy as np

from discriminants.kernels.kernel import Kernel, KernelColumns


class PrecomputedKernel(Kernel):
    """X holds kernel values: k(x_n, c_j) = X[n, indices[j]].

    X is (n_samples, n_training_samples) in both training and prediction, and square in training.

    Parameters
    ----------
    indices : ndarray of int of shape (n_centers,), optional
        Columns of the centers; set by the learner.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from discriminants import KFDClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> KFDClassifier(kernel="precomputed").fit(X @ X.T, y).predict(X[:3] @ X.T)
    array([0, 0, 0])

    See Also
    --------
    FunctionKernel : a function of two arrays.
    """

    def __init__(self, indices: np.ndarray | None = None) -> None:
        self.indices = indices

    @property
    def centers_are_points(self) -> bool:
        """Always False: a row of X does not determine its column."""
        return False

    def resolved(self, X: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Return a copy with one index per training sample."""
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"a precomputed kernel matrix must be square in fit, got shape {X.shape}")
        return type(self)(np.arange(X.shape[0]))

    def at(self, rows: np.ndarray) -> Self:
        """Return the kernel with the columns of these centers."""
        return self if self.indices is None else type(self)(self.indices[rows])

    def columns(self, centers: np.ndarray, dtype: np.dtype | type = np.float64) -> KernelColumns:
        """Prepare; `centers` is used only for its length."""
        if self.indices is None or self.indices.shape[0] != centers.shape[0]:
            raise ValueError(f"a precomputed kernel needs one index per center, for {centers.shape[0]} centers")
        return _PrecomputedColumns(self.indices, dtype)

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return k(x, x) of the training samples."""
        rows = np.arange(X.shape[0])
        return X[rows, rows if self.indices is None else self.indices].astype(np.float64)


class _PrecomputedColumns(KernelColumns):
    def __init__(self, indices: np.ndarray, dtype: np.dtype | type) -> None:
        super().__init__(indices[:, None], dtype)
        self._indices = indices

    def _check_width(self, X: np.ndarray) -> None:
        """Skip the check: X has a column for each training sample, and indexing detects a missing one."""

    def _block(self, X: np.ndarray, out: np.ndarray | None, work: np.ndarray | None) -> np.ndarray:
        if out is None:
            return X[:, self._indices].astype(self.dtype, copy=False)
        out[...] = X[:, self._indices]
        return out


class FunctionKernel(Kernel):
    """k(X, C) by a function of two arrays (n, d) and (m, d) that returns an (n, m) array.

    Parameters
    ----------
    function : callable
        For example a function of `sklearn.metrics.pairwise`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics.pairwise import chi2_kernel
    >>> from discriminants import FunctionKernel, KFDClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> KFDClassifier(kernel=FunctionKernel(chi2_kernel)).fit(X, y).predict(X[:3])
    array([0, 0, 0])

    See Also
    --------
    PrecomputedKernel : a kernel matrix.
    """

    def __init__(self, function: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
        self.function = function

    def columns(self, centers: np.ndarray, dtype: np.dtype | type = np.float64) -> KernelColumns:
        """Prepare for fixed centers."""
        return _FunctionColumns(self.function, np.asarray(centers), dtype)

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return k(x, x), computed one row at a time."""
        return np.array([float(self.columns(x[None]).block(x[None])[0, 0]) for x in X])


class _FunctionColumns(KernelColumns):
    def __init__(
        self, function: Callable[[np.ndarray, np.ndarray], np.ndarray], centers: np.ndarray, dtype: np.dtype | type
    ) -> None:
        super().__init__(centers, dtype)
        self._function, self._centers = function, centers

    def _block(self, X: np.ndarray, out: np.ndarray | None, work: np.ndarray | None) -> np.ndarray:
        K = np.asarray(self._function(X, self._centers))
        if K.shape != (X.shape[0], self.n_centers):
            raise ValueError(
                f"the kernel function returned an array of shape {K.shape} for {X.shape[0]} samples and "
                f"{self.n_centers} centers. Expected shape {(X.shape[0], self.n_centers)}"
            )
        if K.dtype.kind not in "biuf":
            raise ValueError(f"the kernel function returned values of type {K.dtype}. Expected real numbers")
        if not np.isfinite(K).all():
            raise ValueError("the kernel function returned values that are not finite. Expected finite numbers")
        if out is None:
            return K.astype(self.dtype)
        out[...] = K
        return out
