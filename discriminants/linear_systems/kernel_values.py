"""Kernel matrix of training samples, and checks of its values."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from discriminants.kernels import Kernel

_MAX_VALUE = 1e140  # largest kernel value: sums of squares stay finite
_PROBED = 50  # number of kernel columns checked without a matrix


def dictionary(kernel: Kernel, X: np.ndarray) -> tuple[Kernel, np.ndarray]:
    """Return the kernel and the centers with every sample as a center, once for each candidate of the kernel."""
    kernel, points = kernel.over(X)
    return kernel, X if points.shape[0] == X.shape[0] else X[points]


def one_column_a_sample(kernel: Kernel, X: np.ndarray, wanted_by: str) -> Kernel:
    """Return the kernel with all samples as centers. Raises ValueError, naming `wanted_by`, for several candidates per
    point.
    """
    kernel, points = kernel.over(X)
    if points.shape[0] != X.shape[0]:
        raise ValueError(f"{wanted_by} needs a kernel with one column per sample, got a kernel with several")
    return kernel


def kernel_matrix(kernel: Kernel, X: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Compute K(X, centers) in float64, shape (n_samples, n_centers)."""
    X, centers = X.astype(np.float64, copy=False), centers.astype(np.float64, copy=False)
    return kernel.columns(centers, np.float64).block(X, out=np.empty((X.shape[0], centers.shape[0])))


@contextmanager
def memory_of_whole_matrix(n_samples: int) -> Iterator[None]:
    """Add the size of the kernel matrix, and the learners that do not store it, to the message of a MemoryError."""
    try:
        yield
    except MemoryError as error:
        raise MemoryError(
            f"not enough memory for the kernel matrix of {n_samples} samples: {8 * n_samples**2 / 2**30:.3g} GiB, and "
            "several copies are needed. Use a FixedSizeLSSVM learner, or LSSVMRegressor or LSSVMClassifier with "
            "solver = 'conjugate_gradient'"
        ) from error


def check_values(K: np.ndarray) -> None:
    """Raise ValueError if kernel values are not finite, too large to be squared, or the same for all samples."""
    check_spread(K.max(axis=0), K.min(axis=0))


def check_spread(largest: np.ndarray, smallest: np.ndarray) -> None:
    """Run `check_values` on the largest and smallest value of each column, arrays of (n_columns,)."""
    size = max(np.abs(largest).max(), np.abs(smallest).max())
    check_size(size)
    if not (largest - smallest).max() > 10 * np.finfo(np.float64).eps * size:
        raise ValueError(
            "the kernel values of all training samples are equal. Expected features that are not constant, a width "
            "sigma within their range, and no sample far from all others, which makes sigma = 'scale' too large"
        )


def check_size(size: float) -> None:
    """Run `check_values` on the largest absolute value."""
    if not size < _MAX_VALUE:
        raise ValueError(
            "kernel values of the training samples are not finite, or too large to be squared. Scale X or the kernel"
        )


def check_symmetric(K: np.ndarray, wanted_by: str) -> None:
    """Raise ValueError, naming `wanted_by`, if K is not square and symmetric, as a matrix of scalar products is."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"{wanted_by} needs a kernel with one column per sample, got a kernel with several")
    probe = np.cos(np.arange(K.shape[0]))  # two products instead of a transposed copy
    left, right = K.T @ probe, K @ probe
    if not np.allclose(left, right, rtol=0, atol=1e-5 * max(np.abs(left).max(), np.abs(right).max())):
        raise ValueError(f"{wanted_by} needs a symmetric kernel")


def check_some_columns(kernel: Kernel, X: np.ndarray, wanted_by: str) -> None:
    """Run `check_values` and `check_symmetric` on a few columns, for a matrix that is never stored."""
    some = np.unique(np.linspace(0, X.shape[0] - 1, _PROBED).astype(np.intp))
    probe = kernel_matrix(kernel.at(some), X, X[some])
    check_values(probe)
    check_symmetric(probe[some], wanted_by)
