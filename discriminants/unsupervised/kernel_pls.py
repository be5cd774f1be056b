"""Kernel partial least squares: features of samples that vary with the targets (Rosipal and Trejo 2001)."""

from typing import Any, Self

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.base import MultiOutputMixin, RegressorMixin

from discriminants.kernels import make_kernel
from discriminants.linear_systems.kernel_values import check_symmetric, check_values, dictionary, kernel_matrix
from discriminants.util.estimator import COUNT, estimator, parameter
from discriminants.util.expansion import KernelFeatures
from discriminants.util.inputs import checked_samples
from discriminants.util.regression import checked_targets

_ROUNDING = 1e-10  # of the length of the targets, or of the first score


@estimator
class KernelPLS(RegressorMixin, MultiOutputMixin, KernelFeatures):
    """Directions in a kernel space with the largest covariance with the targets, and a regression on them.

    A direction is K u for u = Y c, K centered, Y the part of the targets that earlier scores do not explain, and c the
    first eigenvector of Y'K Y. The source's iteration converges to this direction. Scores are made orthogonal to
    earlier ones. Targets are predicted by least squares on the scores, so that the number of components takes the role
    of a penalty. Time is O(N^2) for a component, memory 16 N^2 bytes.

    Parameters
    ----------
    n_components : int
        Maximum number of directions; fewer if they explain the targets, or if no samples differ in further ones.
    kernel
        Symmetric and positive semidefinite kernel.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (m, n_found)
        Weights of scores with mean zero and variance one over the training samples.
    loadings_ : ndarray of shape (n_found, n_outputs)
        Regression coefficients of the targets on the scores.
    means_ : ndarray of shape (n_outputs,)
        Means of the targets.

    References
    ----------
    R. Rosipal, L. Trejo, Kernel partial least squares regression in reproducing kernel Hilbert space, JMLR 2, 2001.

    See Also
    --------
    KernelCCA : correlation instead of covariance.
    sklearn.cross_decomposition.PLSRegression : without a kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import KernelPLS
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> model = KernelPLS(4).fit(X, np.sin(X[:, 0]))
    >>> model.transform(X).shape, bool(model.score(X, np.sin(X[:, 0])) > 0.99)
    ((60, 4), True)
    """

    n_components: int = parameter(COUNT, default=2, kw_only=False)
    kernel: Any = "gaussian"
    sigma: Any = "scale"

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Fit directions and regression.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)

        Raises
        ------
        ValueError
            For fewer than two samples, or a kernel that is not symmetric.
        """
        self._validate_params()
        X, y = checked_samples(self, X, y, multi_output=True, y_numeric=True, ensure_min_samples=2)
        self._one_column = y.ndim == 1
        targets = checked_targets(y, X.dtype)
        kernel, centers = dictionary(make_kernel(self.kernel, self.sigma).resolved(X), X)
        K = kernel_matrix(kernel, X, centers)
        check_values(K)
        check_symmetric(K, type(self).__name__)
        column_means = K.mean(axis=0)
        K -= column_means
        K -= K.mean(axis=1, keepdims=True)
        self.means_ = targets.mean(axis=0)
        size = float(np.abs(targets - self.means_).max()) or 1.0
        scores, directions = _directions(K, (targets - self.means_) / size, int(self.n_components))
        # Scores are K (directions) times an upper triangular matrix, because K u has parts along earlier scores.
        products = np.triu(scores.T @ (K @ directions))
        alpha = solve_triangular(products, directions.T, trans="T").T * np.sqrt(X.shape[0])
        self.loadings_ = scores.T @ (targets - self.means_) / np.sqrt(X.shape[0])
        self._keep_expansion(kernel, centers, alpha, -column_means @ alpha)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return outputs with the shape of y in `fit`: (n_samples,) or (n_samples, n_outputs)."""
        scores = self.transform(X)
        outputs = (scores @ self.loadings_ + self.means_).astype(scores.dtype)
        return outputs[:, 0] if self._one_column else outputs


def _directions(K: np.ndarray, rest: np.ndarray, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    """Return orthonormal scores T and the vectors u, both (n_samples, n_found), for a centered K and targets."""
    scores, directions = np.empty((K.shape[0], 0)), np.empty((K.shape[0], 0))
    first = _ROUNDING * np.array([np.linalg.norm(rest), np.linalg.norm(K @ rest)])
    for _ in range(n_components):
        products = K @ rest
        _, vectors = np.linalg.eigh(rest.T @ products)
        score, direction = products @ vectors[:, -1], rest @ vectors[:, -1]
        for _ in range(2):  # the second time removes rounding
            score = score - scores @ (scores.T @ score)
        found = float(np.linalg.norm(score))
        if (np.array([np.linalg.norm(rest), found]) <= first).any():
            break
        score = score / found
        scores, directions = np.column_stack([scores, score]), np.column_stack([directions, direction])
        rest = rest - np.outer(score, score @ rest)
    return scores, directions
