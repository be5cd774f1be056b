"""Kernel canonical correlation analysis of two views of the same samples."""

from typing import Any, Self

import numpy as np
from scipy.linalg import eigh, svd
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from discriminants.kernels import Kernel, PrecomputedKernel, make_kernel
from discriminants.linear_systems.kernel_values import check_symmetric, check_values, dictionary, kernel_matrix
from discriminants.util.estimator import COUNT, POSITIVE, estimator, parameter
from discriminants.util.expansion import KernelExpansion
from discriminants.util.inputs import FLOATS, checked_samples

_RANK = 1e-10  # eigenvalues below this share of the largest are rounding
_WANTED_BY = "kernel canonical correlation analysis"


class KernelDirections(KernelExpansion):
    """Directions in a kernel space, found together with those of another view."""

    def __init__(self) -> None:
        pass

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Compute scores (n_samples, n_directions)."""
        return self._outputs(checked_samples(self, X, reset=False))


@estimator
class KernelCCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Pairs of directions in two kernel spaces along which two views of the same samples correlate.

    Maximizes the covariance of the scores e = K_x alpha and r = K_y beta against alpha'(K_x^2 + kappa_x K_x) alpha and
    beta'(K_y^2 + kappa_y K_y) beta, K centered (Suykens et al. 2002, 7.57-7.71, with kappa = 1 / nu). With kappa near
    zero this is the correlation, which high-dimensional kernels raise to 1 on any samples; with a large kappa it is the
    covariance. All pairs come from two eigendecompositions and one singular value decomposition, O(N^3) time and 40 N^2
    bytes. Judge a pair by its scores on other samples.

    Parameters
    ----------
    n_components : int
        Number of pairs; limited by the rank of the kernel matrices.
    kernel
        Kernel of the first view; symmetric and positive semidefinite.
    sigma
        Of the first view.
    y_kernel : str, Kernel or callable
        Of the second view.
    y_sigma : float, "scale" or ndarray of shape (n_samples,)
        Of the second view.
    regularization, y_regularization : float
        kappa > 0 of each view, in units of the largest eigenvalue of its kernel matrix; None uses the first for both.

    Attributes
    ----------
    correlations_ : ndarray of shape (n_pairs,)
        Correlations of the scores of the training samples.
    singular_values_ : ndarray of shape (n_pairs,)
        The maximized criterion, 0 to 1, descending.
    x_directions_, y_directions_ : KernelDirections
        Centers, weights and kernel of each view; scores of the training samples have mean zero and variance one.

    See Also
    --------
    sklearn.cross_decomposition.CCA : linear, without a penalty.

    Examples
    --------
    >>> x_scores, y_scores = KernelCCA(1).fit(X[:, :2], X[:, 2:]).transform(X[:, :2], X[:, 2:])
    >>> x_scores.shape
    (150, 1)
    """

    n_components: int = parameter(COUNT, default=2, kw_only=False)
    kernel: Any = "gaussian"
    sigma: Any = "scale"
    y_kernel: Any = "gaussian"
    y_sigma: Any = "scale"
    regularization: float = parameter(POSITIVE, default=0.01)
    y_regularization: float | None = parameter(POSITIVE, None, default=None)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.two_d_labels = True
        tags.input_tags.pairwise = isinstance(self.kernel, PrecomputedKernel) or (
            isinstance(self.kernel, str) and self.kernel == "precomputed"
        )
        return tags

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Fit the pairs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The first view.
        y : array-like of shape (n_samples,) or (n_samples, n_y_features)
            The second view.

        Raises
        ------
        ValueError
            For fewer than two samples, or kernels that are not symmetric.
        """
        self._validate_params()
        if y is None:
            raise ValueError("KernelCCA requires y to be passed, but the target y is None. Expected the second view")
        X = checked_samples(self, X, ensure_min_samples=2)
        Y = _second_view(y)
        check_consistent_length(X, Y)
        other = self.regularization if self.y_regularization is None else self.y_regularization
        first, second = _View(self.kernel, self.sigma, X), _View(self.y_kernel, self.y_sigma, Y)
        between = first.shrunk(self.regularization).T @ second.shrunk(other)
        left, values, right = svd(between, full_matrices=False, check_finite=False)
        n_pairs = min(int(self.n_components), values.shape[0])
        self.singular_values_ = values[:n_pairs]
        alpha = first.weights(self.regularization, left[:, :n_pairs])
        beta = second.weights(other, right[:n_pairs].T)
        furthest = np.argmax(np.abs(first.scores(alpha)), axis=0)
        signs = np.where(first.scores(alpha)[furthest, np.arange(n_pairs)] < 0, -1.0, 1.0)
        alpha, beta = alpha * signs, beta * signs
        self.correlations_ = (first.scores(alpha) * second.scores(beta)).mean(axis=0)
        self.x_directions_, self.y_directions_ = first.directions(alpha), second.directions(beta)
        return self

    def transform(self, X: np.ndarray, y: np.ndarray | None = None) -> Any:
        """Compute scores of the first view (n_samples, n_pairs); with y, a pair of scores of both views."""
        check_is_fitted(self)
        X = checked_samples(self, X, reset=False)
        scores = self.x_directions_.transform(X)
        return scores if y is None else (scores, self.y_directions_.transform(_second_view(y)))

    @property
    def _n_features_out(self) -> int:
        return int(self.singular_values_.shape[0])


def _second_view(y: Any) -> np.ndarray:
    found: np.ndarray = check_array(y, dtype=FLOATS, order="C", ensure_2d=False, input_name="y")
    return found[:, None] if found.ndim == 1 else found


class _View:
    """The centered kernel matrix of one view, by its eigenvectors."""

    def __init__(self, kernel: Any, sigma: Any, X: np.ndarray) -> None:
        self._kernel: Kernel
        self._kernel, self._centers = dictionary(make_kernel(kernel, sigma).resolved(X), X)
        self._n_features = X.shape[1]
        K = kernel_matrix(self._kernel, X, self._centers)
        check_values(K)
        check_symmetric(K, _WANTED_BY)
        self._column_means = K.mean(axis=0)
        K -= self._column_means
        K -= K.mean(axis=1, keepdims=True)
        values, vectors = eigh(K, overwrite_a=True, check_finite=False)
        kept = values > _RANK * values[-1]
        self._values, self._vectors = values[kept], vectors[:, kept]

    def shrunk(self, regularization: float) -> np.ndarray:
        """Return eigenvectors times sqrt(lambda / (lambda + kappa))."""
        return self._vectors * np.sqrt(self._values / (self._values + regularization * self._values[-1]))

    def weights(self, regularization: float, coordinates: np.ndarray) -> np.ndarray:
        """Compute alpha such that scores have variance one; their mean is zero."""
        divisor = np.sqrt(self._values * (self._values + regularization * self._values[-1]))
        alpha = self._vectors @ (coordinates / divisor[:, None])
        return alpha / self.scores(alpha).std(axis=0)

    def scores(self, alpha: np.ndarray) -> np.ndarray:
        return self._vectors @ (self._values[:, None] * (self._vectors.T @ alpha))

    def directions(self, alpha: np.ndarray) -> KernelDirections:
        found = KernelDirections()
        found.n_features_in_ = self._n_features
        # alpha sums to zero, so subtracting the mean of a kernel row changes nothing.
        found._keep_expansion(self._kernel, self._centers, alpha, -self._column_means @ alpha)
        return found
