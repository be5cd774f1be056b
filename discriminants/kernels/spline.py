"""The kernel of linear splines with infinitely many knots."""

import numpy as np

from discriminants.kernels.feature_product import FeatureProductKernel


class SplineKernel(FeatureProductKernel):
    """k(x, c) = prod_i (1 + x_i c_i + x_i c_i m - (x_i + c_i) m^2 / 2 + m^3 / 3) with m = max(0, min(x_i, c_i)).

    Positive semidefinite. In one feature, functions are cubic splines with a knot at each center: smooth curves without
    a width, whose ends are straight lines (Vapnik 1998, chapter 11). The knots start at 0, and functions are linear
    below it, so scale the features to 0 to 1. The values increase with the features and their number.

    References
    ----------
    V. Vapnik, Statistical Learning Theory, Wiley 1998.

    See Also
    --------
    GaussianKernel : with a width.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants.kernels import SplineKernel
    >>> SplineKernel()(np.ones((1, 2)), np.ones((2, 2))).round(3)
    array([[5.444, 5.444]])
    """

    def factor(self, x: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Return 1 + x c + the integral of (x - t)(c - t) over the knots t from 0 to m."""
        m = np.maximum(np.minimum(x, c), 0.0)
        products = x * c
        return 1.0 + products + m * (products + m * (m / 3.0 - 0.5 * (x + c)))
