"""The kernel of regularized Fourier expansions."""

import numpy as np

from discriminants.kernels.feature_product import FeatureProductKernel
from discriminants.kernels.kernel import positive_number


class FourierKernel(FeatureProductKernel):
    """k(x, c) = prod_i (1 - q)^2 / (1 - 2 q cos(x_i - c_i) + q^2), with period 2 pi in each feature.

    Positive definite. For each feature, functions are Fourier series whose coefficients of order n have the weight q^n
    (Vapnik 1998, chapter 11): (1 - q^2) / (2 (1 - 2 q cos(x - c) + q^2)) = 1/2 + sum_n q^n cos(n (x - c)). Here the
    value at x = c is 1. For angles, phases of a period, and other cyclic features.

    Parameters
    ----------
    q : float
        Weight of an order relative to the previous one, between 0 and 1. Smaller values give smoother functions.

    Raises
    ------
    ValueError
        If q is not between 0 and 1.

    References
    ----------
    V. Vapnik, Statistical Learning Theory, Wiley 1998.

    See Also
    --------
    GaussianKernel : for features without a period.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants.kernels import FourierKernel
    >>> FourierKernel(0.5)(np.zeros((1, 1)), np.array([[0.0], [np.pi], [2 * np.pi]])).round(3)
    array([[1.   , 0.111, 1.   ]])
    """

    def __init__(self, q: float = 0.5) -> None:
        self.q = q
        self._weight()

    def _weight(self) -> float:
        q = positive_number("q", self.q)
        if not q < 1:
            raise ValueError(f"q must be between 0 and 1, got {q}")
        return q

    def factor(self, x: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Return the factor; half angles avoid cancellation in 1 - cos."""
        q = self._weight()
        return (1.0 - q) ** 2 / ((1.0 - q) ** 2 + 4.0 * q * np.sin(0.5 * (x - c)) ** 2)
