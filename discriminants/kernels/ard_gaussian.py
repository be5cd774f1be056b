"""The Gaussian kernel with one width per feature (automatic relevance determination)."""

from typing import Self

import numpy as np

from discriminants.kernels.gaussian import GaussianColumns
from discriminants.kernels.kernel import SMALLEST, Kernel, KernelColumns, positive
from discriminants.kernels.width import feature_deviations

_LARGEST = 1e305  # maximum of a feature in widths; such points are far from all others
_MAX_SQUARED = 1e140  # the same, if squares are summed


class ARDGaussianKernel(Kernel):
    """k(x, c) = exp(-sum_i (x_i - c_i)^2 / (2 sigma_i^2)) (Suykens et al. 2002, 4.77, where s_i^2 = 2 sigma_i^2).

    Positive definite. A feature counts less the wider its width relative to its spread; with infinite width it has no
    effect. `BayesianLSSVMRegressor` and `BayesianLSSVMClassifier` estimate the widths, which every other learner can
    then use.

    Parameters
    ----------
    sigma : ndarray of shape (n_features,), float or "scale"
        Widths, in the units of the features; some may be infinite. One number is the width for all. "scale" is sqrt(n)
        standard deviations for each of the n features that vary, so that the units of a feature have no effect. For
        standardized features it is the Gaussian kernel of "scale". A constant feature gets an infinite width.

    Raises
    ------
    ValueError
        If a width is not positive, or none is finite.

    See Also
    --------
    GaussianKernel : one width for all features.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import ARDGaussianKernel
    >>> ARDGaussianKernel([1.0, 2.0])(np.zeros((1, 2)), np.ones((2, 2))).round(3)
    array([[0.535, 0.535]])
    """

    def __init__(self, sigma: float | str | np.ndarray = "scale") -> None:
        self.sigma = sigma
        if not isinstance(sigma, str):
            _widths(sigma)

    def resolved(self, X: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Return a copy with `sigma` as a number, or as one number per feature."""
        if isinstance(self.sigma, str):
            if self.sigma != "scale":
                raise ValueError(
                    f'sigma must be "scale", a positive number or one number per feature, got {self.sigma!r}'
                )
            return type(self)(_scale(X, sample_weight))
        sigma = _widths(self.sigma)
        _check_number(sigma, X.shape[1])
        return type(self)(sigma)

    @property
    def has_width_gradient(self) -> bool:
        """Always True."""
        return True

    def width_gradient(self, X: np.ndarray, K: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Use dk / d log sigma_i = k (x_i - c_i)^2 / sigma_i^2, which is zero for an infinite width."""
        widths = np.broadcast_to(_widths(self.sigma), (X.shape[1],))
        with np.errstate(over="ignore"):
            scaled = np.clip((X - X.mean(axis=0)) / widths, -_MAX_SQUARED, _MAX_SQUARED)
        products = weights * K
        np.fill_diagonal(products, 0.0)  # zero distance: avoids cancellation if all samples are far apart
        squares = products.sum(axis=1) @ scaled**2 - np.einsum("ij,ij->j", scaled, products @ scaled)
        return 2.0 * squares if np.ndim(self.sigma) else 2.0 * squares.sum(keepdims=True)

    def columns(self, centers: np.ndarray, dtype: np.dtype | type = np.float64) -> "ARDGaussianColumns":
        """Prepare for fixed centers."""
        if isinstance(self.sigma, str):
            raise ValueError(f"sigma = {self.sigma!r} is not a number. Expected a kernel after resolved(X)")
        sigma = _widths(self.sigma)
        _check_number(sigma, centers.shape[1])
        return ARDGaussianColumns(np.broadcast_to(sigma, (centers.shape[1],)), centers, dtype)

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Ones."""
        return np.ones(X.shape[0])


class ARDGaussianColumns(KernelColumns):
    """The Gaussian kernel of width one of features in widths, relative to the median of the centers, in float64.

    Rounding to the type of the blocks is therefore small for nearby points.
    """

    def __init__(self, widths: np.ndarray, centers: np.ndarray, dtype: np.dtype | type) -> None:
        super().__init__(centers, dtype)
        self._relevant = np.flatnonzero(np.isfinite(widths))
        self._widths = widths[self._relevant]
        among = centers[:, self._relevant].astype(np.float64)
        # With a mean, one far point would cost the others digits.
        self._origin = np.median(among, axis=0) if centers.shape[0] else np.zeros(among.shape[1])
        self._gaussian = GaussianColumns(1.0, self._scaled(centers), dtype)

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            scaled = (X[:, self._relevant].astype(np.float64) - self._origin) / self._widths
        return np.clip(scaled, -_LARGEST, _LARGEST, out=scaled)

    def work_space(self, n_rows: int) -> np.ndarray:
        """Allocate the left factor of the matrix product."""
        return self._gaussian.work_space(n_rows)

    def _block(self, X: np.ndarray, out: np.ndarray | None, work: np.ndarray | None) -> np.ndarray:
        return self._gaussian.block(self._scaled(X), out, work)


def _widths(sigma: object) -> float | np.ndarray:
    """Check a positive number, or positive numbers, some of them infinite."""
    widths = np.asarray(sigma) if isinstance(sigma, np.ndarray | list | tuple) else None
    if widths is None or widths.dtype.kind != "f" or widths.ndim != 1 or not np.isfinite(widths).any():
        return positive("sigma", sigma)
    positive("sigma", np.where(widths == np.inf, 1.0, widths))
    return widths.astype(np.float64)


def _check_number(sigma: float | np.ndarray, n_features: int) -> None:
    if isinstance(sigma, np.ndarray) and sigma.shape != (n_features,):
        raise ValueError(f"sigma has {sigma.shape[0]} widths for {n_features} features. Expected one width per feature")


def _scale(X: np.ndarray, sample_weight: np.ndarray | None) -> float | np.ndarray:
    deviations = feature_deviations(X, sample_weight)
    varying = deviations >= SMALLEST
    if not varying.any():
        return 1.0
    return np.where(varying, np.sqrt(np.count_nonzero(varying)) * deviations, np.inf)
