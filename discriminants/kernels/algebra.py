"""Sums, products and multiples of kernels (Suykens et al. 2002, section 2.6.1)."""

from typing import ClassVar

import numpy as np

from discriminants.kernels.combined import CombinedColumns, CombinedKernel
from discriminants.kernels.kernel import Kernel, positive_number


class PairOfKernels(CombinedKernel):
    """Base of the kernels made of two kernels."""

    _names: ClassVar[tuple[str, ...]] = ("left", "right")

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right
        self.parts()


class SumKernel(PairOfKernels):
    """k(x, c) = left(x, c) + right(x, c), also written `left + right`.

    Positive semidefinite if both are (Suykens et al. 2002, section 2.6.1).

    Parameters
    ----------
    left, right : Kernel
        The terms, with nested parameters such as `kernel__left__sigma`. Neither may be precomputed.

    Raises
    ------
    ValueError
        If a term is not a kernel object, or is precomputed.

    See Also
    --------
    ProductKernel : the product.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import GaussianKernel, LinearKernel
    >>> (GaussianKernel(1.0) + 0.1 * LinearKernel())(np.zeros((1, 2)), np.ones((2, 2))).round(3)
    array([[0.368, 0.368]])
    """

    def combine(
        self, values: list[np.ndarray], of_rows: np.ndarray | None, of_centers: np.ndarray | None
    ) -> np.ndarray:
        """Add the blocks."""
        values[0] += values[1]
        return values[0]

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return the sum of the diagonals."""
        return self.left.diagonal(X) + self.right.diagonal(X)


class ProductKernel(PairOfKernels):
    """k(x, c) = left(x, c) right(x, c), also written `left * right`.

    Positive semidefinite if both are (Suykens et al. 2002, section 2.6.1).

    Parameters
    ----------
    left, right : Kernel
        The factors, with nested parameters such as `kernel__left__sigma`. Neither may be precomputed.

    Raises
    ------
    ValueError
        If a factor is not a kernel object, or is precomputed.

    See Also
    --------
    SumKernel : the sum.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import GaussianKernel, PolynomialKernel
    >>> (GaussianKernel(1.0) * PolynomialKernel(2, gamma=1.0))(np.ones((1, 2)), np.ones((2, 2))).round(3)
    array([[9., 9.]])
    """

    def combine(
        self, values: list[np.ndarray], of_rows: np.ndarray | None, of_centers: np.ndarray | None
    ) -> np.ndarray:
        """Multiply the blocks."""
        values[0] *= values[1]
        return values[0]

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return the product of the diagonals."""
        return self.left.diagonal(X) * self.right.diagonal(X)


class ScaledKernel(CombinedKernel):
    """factor k(x, c), also written `factor * kernel`: the weight of a term in a sum.

    Parameters
    ----------
    kernel : Kernel
        k.
    factor : float
        Positive factor.

    Raises
    ------
    ValueError
        If `kernel` is not a kernel object or precomputed, or the factor is not positive and finite.

    See Also
    --------
    SumKernel : the sum of two kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import LinearKernel
    >>> (0.5 * LinearKernel())(np.ones((1, 2)), np.ones((2, 2)))
    array([[1., 1.]])
    """

    def __init__(self, kernel: Kernel, factor: float = 1.0) -> None:
        self.kernel = kernel
        self.factor = factor
        self.parts()
        positive_number("factor", factor)

    def combine(
        self, values: list[np.ndarray], of_rows: np.ndarray | None, of_centers: np.ndarray | None
    ) -> np.ndarray:
        """Multiply the block by the factor."""
        values[0] *= positive_number("factor", self.factor)
        return values[0]

    def columns(self, centers: np.ndarray, dtype: np.dtype | type = np.float64) -> CombinedColumns:
        """Prepare for fixed centers."""
        positive_number("factor", self.factor)
        return super().columns(centers, dtype)

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return the scaled diagonal."""
        return positive_number("factor", self.factor) * self.kernel.diagonal(X)
