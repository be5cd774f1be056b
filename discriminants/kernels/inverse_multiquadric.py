"""The inverse multiquadric kernel."""

from typing import ClassVar

import numpy as np

from discriminants.kernels.kernel import positive_number
from discriminants.kernels.radial import RadialColumns, RadialKernel


class InverseMultiquadricKernel(RadialKernel):
    """k(x, c) = 1 / sqrt(1 + |x - c|^2 / sigma^2), sigma times the kernel of Mika (2002, table 2.2).

    Positive definite. It decreases slowly, as sigma / |x - c|, so that samples far from all centers still have an
    effect.

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
    GaussianKernel : without the heavy tail.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import InverseMultiquadricKernel
    >>> InverseMultiquadricKernel(1.0)(np.zeros((1, 2)), np.ones((2, 2))).round(3)
    array([[0.577, 0.577]])
    """

    @property
    def has_width_gradient(self) -> bool:
        """Always True."""
        return True

    def width_gradient(self, X: np.ndarray, K: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Use dk / d log sigma = k - k^3."""
        return np.array([np.vdot(weights, K - K**3)])

    def columns(self, centers: np.ndarray, dtype: np.dtype | type = np.float64) -> "InverseMultiquadricColumns":
        """Prepare for fixed centers."""
        return InverseMultiquadricColumns(positive_number("sigma", self.sigma), centers, dtype)


class InverseMultiquadricColumns(RadialColumns):
    """1 / sqrt(1 + r^2)."""

    far: ClassVar[float] = 1e15

    def _finish(self, values: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            values *= -2.0
            values += 1.0
        np.sqrt(values, out=values)
        return np.reciprocal(values, out=values)
