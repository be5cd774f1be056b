"""Density and entropy from the eigenvectors of a kernel matrix (Suykens et al. 2002, section 7.3; Girolami 2002)."""

from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import DensityMixin

from discriminants.kernels import GaussianKernel
from discriminants.kernels.kernel import SMALLEST
from discriminants.kernels.width import feature_deviations
from discriminants.linear_systems.kernel_values import kernel_matrix
from discriminants.util.estimator import COUNT, POSITIVE, estimator, parameter
from discriminants.util.expansion import KernelExpansion
from discriminants.util.inputs import checked_samples

_MAX_LOG = 709.0  # largest log of a float64


@estimator
class SeriesDensity(DensityMixin, KernelExpansion):
    """Gaussian kernel density of the samples, truncated to its strongest eigenvectors.

    p(x) = (1 / N) 1'U U' k(x), with k the Gaussians of integral one around the samples and U eigenvectors of their
    matrix (Suykens et al. 2002, 7.51). All eigenvectors give the Parzen estimate, fewer a smoother one. p integrates to
    about one but may be negative far from the samples. Time is O(N^3), memory 16 N^2 bytes.

    Parameters
    ----------
    sigma : float or "scott"
        Width of the Gaussians; "scott" is the root of the mean variance of the features times N^(-1 / (d + 4)).
    n_components : int, "cutoff" or None
        Number of eigenvectors with the largest share in the integral of p^2; None keeps all. "cutoff" keeps those with
        (1'u)^2 above 2 N / (1 + N): an estimate of the point at which a term reduces the error of the series by more
        than its own variance (7.52, corrected).

    Attributes
    ----------
    shares_ : ndarray of shape (n_samples,)
        lambda_i (1'u_i / N)^2 of every eigenvector, descending: its contribution to the integral of p^2.
    n_components_ : int
        Number of eigenvectors kept.
    entropy_ : float
        Quadratic Renyi entropy -log integral p^2 of the truncated density, in nats.
    dual_coef_ : ndarray of shape (m, 1)
        Weights of Gaussians of height one.

    References
    ----------
    M. Girolami, Orthogonal series density estimation and the kernel eigenvalue problem, Neural Computation 14, 2002.

    See Also
    --------
    sklearn.neighbors.KernelDensity : the Parzen estimate, computed with trees.

    Examples
    --------
    >>> SeriesDensity().fit(X).density(X).shape
    (150,)
    """

    sigma: Any = parameter(POSITIVE, {"scott"}, default="scott")
    n_components: Any = parameter(COUNT, {"cutoff"}, None, default="cutoff")

    def fit(self, X: np.ndarray, y: Any = None) -> Self:
        """Fit samples (n_samples, n_features); y is ignored.

        Raises
        ------
        ValueError
            For "scott" if all samples are equal, or for a density too large for float64.
        """
        self._validate_params()
        X = checked_samples(self, X, ensure_min_samples=2)
        n_samples, n_features = X.shape
        sigma = self.sigma
        if isinstance(sigma, str):
            sigma = _root_mean_variance(X) * n_samples ** (-1.0 / (n_features + 4))
        kernel = GaussianKernel(float(sigma)).resolved(X)
        values, vectors = eigh(kernel_matrix(kernel, X, X), overwrite_a=True, check_finite=False)
        sums = vectors.sum(axis=0)
        shares = np.maximum(values, 0.0) * (sums / n_samples) ** 2
        order = np.argsort(-shares, kind="stable")
        if self.n_components is None:
            kept = order
        elif isinstance(self.n_components, str):
            worth = sums[order] ** 2 > 2.0 * n_samples / (1.0 + n_samples)
            worth[0] = True
            kept = order[worth]
        else:
            kept = order[: int(self.n_components)]
        weights = vectors[:, kept] @ sums[kept] / n_samples
        self._keep_expansion(kernel, X, weights[:, None], np.zeros(1))
        scale = self._log_height()
        if not scale + np.log(np.abs(weights).sum()) < _MAX_LOG:
            raise ValueError(
                f"the density of X is too large for float64: its logarithm is about {scale:.0f} in "
                f"{n_features} features with sigma = {self.sigma_:.3g}. Use larger units of X"
            )
        self.shares_ = np.exp(scale) * shares[order]
        self.n_components_ = int(kept.shape[0])
        self.entropy_ = float(-scale - np.log(shares[kept].sum()))
        return self

    def _log_height(self) -> float:
        """Return the log height of a Gaussian of integral one."""
        return float(-self.n_features_in_ * (0.5 * np.log(2.0 * np.pi) + np.log(self.sigma_)))

    def density(self, X: np.ndarray) -> np.ndarray:
        """Compute p(x), shape (n_samples,), also if negative.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        """
        return self._outputs(self._checked(X))[:, 0] * np.exp(self._log_height())

    def score_samples(self, X: np.ndarray) -> np.ndarray:
        """Compute the natural log of p(x), shape (n_samples,); if p is not positive, that of the smallest number.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        """
        outputs = self._outputs(self._checked(X))[:, 0]
        return np.log(np.maximum(outputs, np.finfo(outputs.dtype).tiny)) + outputs.dtype.type(self._log_height())

    def score(self, X: np.ndarray, y: Any = None) -> float:
        """Compute the mean of `score_samples`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : ignored
        """
        return float(self.score_samples(X).mean(dtype=np.float64))


def _root_mean_variance(X: np.ndarray) -> float:
    """Compute the root of the mean feature variance."""
    deviations = feature_deviations(X)
    largest = float(deviations.max())
    if not largest >= SMALLEST:
        raise ValueError("sigma = 'scott' cannot be computed: all features are constant. Expected samples that differ")
    return largest * float(np.sqrt(((deviations / largest) ** 2).mean()))
