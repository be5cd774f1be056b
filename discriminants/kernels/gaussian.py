"""The Gaussian kernel, with one width or one per center: matrix product, exponential in place."""

from typing import Self

import numpy as np
from scipy.special import xlogy

from discriminants.kernels.exponential import exp_in_place
from discriminants.kernels.kernel import Kernel, positive
from discriminants.kernels.radial import RadialColumns
from discriminants.kernels.width import resolve_sigma


class GaussianKernel(Kernel):
    """k(x, c) = exp(-|x - c|^2 / (2 sigma_c^2)) (Andelic 2007, 2.59).

    Positive definite if all centers share the width.

    Parameters
    ----------
    sigma : float, "scale" or ndarray of shape (n_centers,)
        Width, in the units of the inputs; "scale" is the root of the summed feature variances. An array gives every
        training sample its own width, also as a center (the source's "multiple kernels").

    Raises
    ------
    ValueError
        If sigma is not positive and finite.

    See Also
    --------
    MultiscaleGaussianKernel : several candidate widths for every center.
    CompactGaussianKernel : zero beyond a few widths, for sparse matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import GaussianKernel
    >>> GaussianKernel(1.0)(np.zeros((1, 2)), np.ones((2, 2))).round(3)
    array([[0.368, 0.368]])
    """

    def __init__(self, sigma: float | str | np.ndarray = "scale") -> None:
        self.sigma = sigma
        if not isinstance(sigma, str):
            positive("sigma", sigma)

    def resolved(self, X: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Return a copy with `sigma` as a number, or as one number per row of X."""
        sigma = resolve_sigma(self.sigma, X, sample_weight)
        if isinstance(sigma, np.ndarray) and sigma.shape != (X.shape[0],):
            raise ValueError(
                f"sigma has {sigma.shape[0]} widths for {X.shape[0]} samples. Expected one width per sample. "
                "Use kernel = 'ard_gaussian' for one width per feature"
            )
        return type(self)(sigma)

    @property
    def centers_are_points(self) -> bool:
        """True unless the widths differ between samples."""
        return np.ndim(self.sigma) == 0

    def at(self, rows: np.ndarray) -> Self:
        """Return the kernel with the widths of these centers."""
        return self if self.centers_are_points else type(self)(np.asarray(self.sigma)[rows])

    @property
    def has_width_gradient(self) -> bool:
        """True if all centers share the width."""
        return self.centers_are_points

    def width_gradient(self, X: np.ndarray, K: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Use dk / d log sigma = k r^2 = -2 k log k."""
        return np.array([-2.0 * np.vdot(weights, xlogy(K, K))])

    def columns(self, centers: np.ndarray, dtype: np.dtype | type = np.float64) -> "GaussianColumns":
        """Prepare for fixed centers."""
        if isinstance(self.sigma, str):
            raise ValueError(f"sigma = {self.sigma!r} is not a number. Expected a kernel after resolved(X)")
        sigma = positive("sigma", self.sigma)
        if isinstance(sigma, np.ndarray) and sigma.shape != (centers.shape[0],):
            raise ValueError(
                f"sigma has {sigma.shape[0]} widths for {centers.shape[0]} centers. Expected one width per center"
            )
        return GaussianColumns(sigma, centers, dtype)

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Ones."""
        return np.ones(X.shape[0])


class GaussianColumns(RadialColumns):
    """exp(-r^2/2)."""

    def _finish(self, values: np.ndarray) -> np.ndarray:
        return exp_in_place(values)
