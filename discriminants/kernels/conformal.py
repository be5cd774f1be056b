"""Kernels with a factor at both points, c(x) k(x, z) c(z) (Suykens et al. 2002, 2.67)."""

from typing import Self

import numpy as np

from discriminants.kernels.combined import CombinedKernel
from discriminants.kernels.gaussian import GaussianKernel
from discriminants.kernels.kernel import Kernel, positive_number
from discriminants.kernels.width import resolve_sigma


class KernelWithFactor(CombinedKernel):
    """Base of the kernels c(x) k(x, z) c(z), whose c is `of_points`."""

    def combine(
        self, values: list[np.ndarray], of_rows: np.ndarray | None, of_centers: np.ndarray | None
    ) -> np.ndarray:
        """Multiply rows and columns."""
        [K] = values
        assert of_rows is not None and of_centers is not None
        K *= of_rows[:, None].astype(K.dtype)
        K *= of_centers.astype(K.dtype)
        return K


class NormalizedKernel(KernelWithFactor):
    """k(x, z) / sqrt(k(x, x) k(z, z)), the cosine in the space of the kernel (Suykens et al. 2002, 2.64).

    Positive semidefinite if k is. It ignores the length of the samples in that space, such as the contrast of an image
    or the length of a text. It is 0 for samples with k(x, x) = 0.

    Parameters
    ----------
    kernel : Kernel
        k, positive semidefinite.

    Raises
    ------
    ValueError
        If `kernel` is not a kernel object or precomputed; in use, if k(x, x) is negative.

    See Also
    --------
    DistanceKernel : the Gaussian of the distance in the space of a kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import LinearKernel, NormalizedKernel
    >>> NormalizedKernel(LinearKernel())(np.eye(2), np.array([[3.0, 4.0]]))
    array([[0.6],
           [0.8]])
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.parts()

    def of_points(self, X: np.ndarray) -> np.ndarray:
        """Return 1 / sqrt(k(x, x)), or 0."""
        squares = self.kernel.diagonal(X)
        if (squares < 0).any():
            raise ValueError(f"{self} needs values k(x, x) of at least 0, got {squares.min():.3g}")
        return np.divide(1.0, np.sqrt(squares), out=np.zeros(squares.shape), where=squares > 0)

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return ones, or 0 for samples with k(x, x) = 0."""
        return (self.of_points(X) > 0).astype(np.float64)


class ConformalKernel(KernelWithFactor):
    """c(x) k(x, z) c(z) with c(x) = sum_s exp(-|x - x_s|^2 / (2 width^2)) (Suykens et al. 2002, 2.67; Amari and Wu).

    Positive semidefinite if k is. It increases the resolution near the points x_s. Amari and Wu train twice: the x_s of
    the second machine are the samples near the decision boundary of the first, its support vectors.

    Parameters
    ----------
    kernel : Kernel
        k.
    centers : ndarray of shape (n_points, n_features)
        The points x_s.
    width : float or "scale"
        Width of the factor, in the units of the inputs: tau / sqrt(2) of the source. "scale" is the root of the summed
        feature variances.

    Raises
    ------
    ValueError
        If `kernel` is not a kernel object or precomputed, the centers are not an array of finite numbers, or the width
        is not positive and finite.

    References
    ----------
    S. Amari and S. Wu, Improving support vector machine classifiers by modifying kernel functions, Neural Networks 12,
    1999, 783-789.

    See Also
    --------
    NormalizedKernel : the factor 1 / sqrt(k(x, x)).

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import GaussianKernel
    >>> from discriminants.kernels import ConformalKernel
    >>> ConformalKernel(GaussianKernel(1.0), np.zeros((1, 2)), 1.0)(np.zeros((1, 2)), np.ones((2, 2))).round(3)
    array([[0.135, 0.135]])
    """

    def __init__(self, kernel: Kernel, centers: np.ndarray, width: float | str = "scale") -> None:
        self.kernel = kernel
        self.centers = centers
        self.width = width
        self.parts()
        self._points()
        if not isinstance(width, str):
            positive_number("width", width)

    def _points(self) -> np.ndarray:
        points = np.asarray(self.centers)
        if points.ndim != 2 or not points.size or points.dtype.kind not in "iuf" or not np.isfinite(points).all():
            raise ValueError(
                f"centers must be finite numbers of shape (n_points, n_features), got {points.dtype} of {points.shape}"
            )
        return points

    def resolved(self, X: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Return a copy with a resolved kernel and `width` as a number."""
        copy = super().resolved(X, sample_weight)
        copy.width = positive_number("width", resolve_sigma(self.width, X, sample_weight))
        return copy

    @property
    def sparse_inputs(self) -> bool:  # type: ignore[override]
        """Always False: c needs distances."""
        return False

    def of_points(self, X: np.ndarray) -> np.ndarray:
        """Return c."""
        return GaussianKernel(positive_number("width", self.width)).evaluate(
            X.astype(np.float64, copy=False), self._points(), np.ones((self._points().shape[0], 1))
        )[:, 0]

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return c(x)^2 k(x, x)."""
        return self.of_points(X) ** 2 * self.kernel.diagonal(X)
