"""The exponential kernel of the Euclidean distance."""

from typing import ClassVar

import numpy as np
from scipy.special import xlogy

from discriminants.kernels.exponential import exp_in_place
from discriminants.kernels.kernel import positive_number
from discriminants.kernels.radial import RadialColumns, RadialKernel


class ExponentialKernel(RadialKernel):
    """k(x, c) = exp(-|x - c| / sigma), |.| the Euclidean norm: the Matern kernel of order 1/2.

    Positive definite. It has a kink at its center, so it suits rougher functions than the Gaussian kernel does.

    Parameters
    ----------
    sigma : float or "scale"
        Width, in the units of the inputs; "scale" is the root of the summed feature variances.

    Raises
    ------
    ValueError
        If sigma is not positive and finite.

    See Also
    --------
    LaplacianKernel : the same with the sum of absolute differences.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import ExponentialKernel
    >>> ExponentialKernel(1.0)(np.zeros((1, 2)), np.ones((2, 2))).round(3)
    array([[0.243, 0.243]])
    """

    @property
    def has_width_gradient(self) -> bool:
        """Always True."""
        return True

    def width_gradient(self, X: np.ndarray, K: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Use dk / d log sigma = -k log k."""
        return np.array([-np.vdot(weights, xlogy(K, K))])

    def columns(self, centers: np.ndarray, dtype: np.dtype | type = np.float64) -> "ExponentialColumns":
        """Prepare for fixed centers."""
        return ExponentialColumns(positive_number("sigma", self.sigma), centers, dtype)


class ExponentialColumns(RadialColumns):
    """exp(-r)."""

    relative_accuracy: ClassVar[bool] = True

    def _finish(self, values: np.ndarray) -> np.ndarray:
        values *= -2.0
        np.sqrt(values, out=values)
        np.negative(values, out=values)
        return exp_in_place(values)
