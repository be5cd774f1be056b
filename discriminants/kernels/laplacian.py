"""The Laplacian kernel: exponential of the city-block distance."""

from typing import ClassVar

import numpy as np
from scipy.special import xlogy

from discriminants.kernels.exponential import exp_in_place
from discriminants.kernels.kernel import KernelColumns, positive_number
from discriminants.kernels.radial import RadialKernel
from discriminants.util.numba_cache import njit

_TILE = 512  # centers whose partial sums fit into the first-level cache


class LaplacianKernel(RadialKernel):
    """k(x, c) = exp(-sum_k |x_k - c_k| / sigma).

    Positive definite. Equal to scikit-learn's `laplacian_kernel` with gamma = 1 / sigma.

    Parameters
    ----------
    sigma : float or "scale"
        Width, in the units of the inputs; "scale" is the sum of the standard deviations of the features. It is the
        equivalent for city-block distances of the root of the summed variances for Euclidean distances.

    Raises
    ------
    ValueError
        If sigma is not positive and finite.

    See Also
    --------
    ExponentialKernel : the same with the Euclidean distance.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import LaplacianKernel
    >>> LaplacianKernel(1.0)(np.zeros((1, 2)), np.ones((2, 2))).round(3)
    array([[0.135, 0.135]])
    """

    _norm: ClassVar[int] = 1

    @property
    def has_width_gradient(self) -> bool:
        """Always True."""
        return True

    def width_gradient(self, X: np.ndarray, K: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Use dk / d log sigma = -k log k."""
        return np.array([-np.vdot(weights, xlogy(K, K))])

    def columns(self, centers: np.ndarray, dtype: np.dtype | type = np.float64) -> "LaplacianColumns":
        """Prepare for fixed centers."""
        return LaplacianColumns(positive_number("sigma", self.sigma), centers, dtype)


class LaplacianColumns(KernelColumns):
    """Sums of absolute differences, which are not a matrix product, in a loop vectorized along the centers."""

    def __init__(self, sigma: float, centers: np.ndarray, dtype: np.dtype | type) -> None:
        super().__init__(centers, dtype)
        self._features = np.ascontiguousarray(centers.T, dtype=self.dtype)
        self._sigma = sigma

    def _block(self, X: np.ndarray, out: np.ndarray | None, work: np.ndarray | None) -> np.ndarray:
        K = np.empty((X.shape[0], self.n_centers), dtype=self.dtype) if out is None else out
        _minus_city_block(np.ascontiguousarray(X, dtype=self.dtype), self._features, K)
        with np.errstate(over="ignore"):
            K /= self.dtype.type(self._sigma)
        return exp_in_place(K)


@njit(cache=True, nogil=True)
def _minus_city_block(X: np.ndarray, features: np.ndarray, out: np.ndarray) -> None:
    n_features, n_centers = features.shape
    for start in range(0, n_centers, _TILE):
        stop = min(start + _TILE, n_centers)
        for i in range(X.shape[0]):
            sums = out[i, start:stop]
            sums[:] = 0.0
            for k in range(n_features):
                x, row = X[i, k], features[k, start:stop]
                for j in range(sums.shape[0]):
                    sums[j] -= abs(x - row[j])
