"""The Gaussian of the distance in the space of another kernel."""

from typing import ClassVar, Self

import numpy as np

from discriminants.kernels.combined import CombinedKernel
from discriminants.kernels.kernel import Kernel, positive_number
from discriminants.kernels.width import resolve_sigma

_MAX_SAMPLES = 2000  # for the width of "scale"


class DistanceKernel(CombinedKernel):
    """exp(-d^2 / (2 sigma^2)) with d^2 = k(x, x) + k(z, z) - 2 k(x, z) (Suykens et al. 2002, 2.65-2.66).

    Positive definite if k is positive semidefinite. With `LinearKernel` it is the Gaussian kernel. The parts are
    computed in float64, because their difference may cancel.

    Parameters
    ----------
    kernel : Kernel
        k, positive semidefinite.
    sigma : float or "scale"
        Width, in the units of d: the source's sigma / sqrt(2). "scale" is the standard deviation of the samples in the
        space of k, measured on 2000 of them.

    Raises
    ------
    ValueError
        If `kernel` is not a kernel object or precomputed, or sigma is not positive and finite.

    See Also
    --------
    GaussianKernel : the same with the distance of the inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import DistanceKernel, LinearKernel
    >>> DistanceKernel(LinearKernel(), 1.0)(np.zeros((1, 2)), np.ones((2, 2))).round(3)
    array([[0.368, 0.368]])
    """

    part_type: ClassVar[type | None] = np.float64

    def __init__(self, kernel: Kernel, sigma: float | str = "scale") -> None:
        self.kernel = kernel
        self.sigma = sigma
        self.parts()
        if not isinstance(sigma, str):
            positive_number("sigma", sigma)

    def resolved(self, X: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Return a copy with a resolved kernel and `sigma` as a number."""
        copy = super().resolved(X, sample_weight)
        by_data = isinstance(self.sigma, str) and self.sigma == "scale"
        sigma = _deviation(copy.kernel, X, sample_weight) if by_data else resolve_sigma(self.sigma, X)
        copy.sigma = positive_number("sigma", sigma)
        return copy

    def _precision(self) -> float:
        inverse = 1.0 / positive_number("sigma", self.sigma)
        return inverse * inverse

    def combine(
        self, values: list[np.ndarray], of_rows: np.ndarray | None, of_centers: np.ndarray | None
    ) -> np.ndarray:
        """Compute the Gaussian of the distances."""
        [K] = values
        assert of_rows is not None and of_centers is not None
        K *= self._precision()
        K -= of_rows[:, None]
        K -= of_centers
        np.minimum(K, 0.0, out=K)
        return np.exp(K, out=K)

    def of_points(self, X: np.ndarray) -> np.ndarray:
        """Return k(x, x) / (2 sigma^2)."""
        return self.kernel.diagonal(X) * (0.5 * self._precision())

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Ones."""
        return np.ones(X.shape[0])


def _deviation(kernel: Kernel, X: np.ndarray, sample_weight: np.ndarray | None) -> float:
    """Return the root of the mean of k(x, x) minus the mean of k(x, z), 1 if the samples do not vary."""
    weight = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    rows = np.flatnonzero(weight)
    rows = rows[np.linspace(0, rows.shape[0] - 1, min(rows.shape[0], _MAX_SAMPLES)).astype(np.intp)]
    share = weight[rows] / weight[rows].sum()
    points = X[rows].astype(np.float64, copy=False)
    own = kernel.at(rows)
    squares = own.diagonal(points)
    variance = float(share @ squares - share @ own.evaluate(points, points, share[:, None])[:, 0])
    return float(np.sqrt(variance)) if variance > 1e-14 * float(np.abs(squares).max()) else 1.0
