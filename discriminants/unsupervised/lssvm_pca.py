"""Kernel principal components with or without a bias term, and reconstruction of samples."""

from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_array, check_is_fitted

from discriminants.kernels import make_kernel
from discriminants.linear_systems.kernel_values import check_symmetric, check_values, dictionary, kernel_matrix
from discriminants.lssvm.lssvm import LSSVMRegressor
from discriminants.util.estimator import COUNT, estimator, parameter
from discriminants.util.expansion import KernelFeatures
from discriminants.util.inputs import FLOATS, checked_samples
from discriminants.util.regression import checked_targets

_RANK = 1e-12  # eigenvalues below this share of the largest are rounding


@estimator
class LSSVMKernelPCA(KernelFeatures):
    """Kernel principal components in the form of least-squares support vector machines.

    The machine maximizes the squared outputs relative to its norm (Suykens et al. 2002, 7.1-7.40). With a bias term it
    is kernel PCA, equal to scikit-learn's `KernelPCA`, for kernels of this package. Without one (7.10) outputs vary
    about zero instead of their mean, so the kernel is not centered. A regressor reconstructs samples from scores
    (7.41-7.42). Time is O(N^3), memory 16 N^2 bytes.

    Parameters
    ----------
    n_components : int
        Number of components; limited by the rank of the kernel matrix.
    kernel
        Symmetric and positive semidefinite kernel.
    bias : bool
        Whether outputs have a bias term.
    reconstruct : regressor, bool
        Multi-output regressor that reconstructs samples from scores. True is `LSSVMRegressor()` with a choice among
        penalties, False none. Not supported for a precomputed kernel, which has no samples.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_found,)
        Sums of squares of the scores of the training samples, descending.
    regressor_ : regressor or None
    dual_coef_ : ndarray of shape (m, n_found)
        Weights of directions of length one in the kernel space.

    See Also
    --------
    sklearn.decomposition.KernelPCA : with a bias term; reconstruction by kernel ridge regression.
    OrientedKernelPCA : invariant to transformations.

    Examples
    --------
    >>> LSSVMKernelPCA(2).fit_transform(X).shape
    (150, 2)
    """

    n_components: int = parameter(COUNT, default=2, kw_only=False)
    kernel: Any = "gaussian"
    sigma: Any = "scale"
    bias: bool = parameter("boolean", default=True)
    reconstruct: Any = parameter("boolean", HasMethods(["fit", "predict"]), default=False)

    def fit(self, X: np.ndarray, y: Any = None) -> Self:
        """Fit samples (n_samples, n_features); y is ignored.

        Raises
        ------
        ValueError
            For fewer than two samples, a kernel that is not symmetric, or reconstruction with a precomputed kernel.
        """
        self._validate_params()
        X = checked_samples(self, X, ensure_min_samples=2)
        kernel, centers = dictionary(make_kernel(self.kernel, self.sigma).resolved(X), X)
        K = kernel_matrix(kernel, X, centers)
        check_values(K)
        check_symmetric(K, type(self).__name__)
        means = K.mean(axis=0) if self.bias else np.zeros(K.shape[0])
        if self.bias:
            K -= means
            K -= K.mean(axis=1, keepdims=True)
        size = K.shape[0]
        first = max(0, size - int(self.n_components))
        values, vectors = eigh(K, subset_by_index=(first, size - 1), overwrite_a=True, check_finite=False)
        kept = values > _RANK * max(values[-1], 0.0)
        if not kept.any():
            raise ValueError(
                "the kernel matrix has no positive eigenvalue. Expected samples that differ, or another kernel"
            )
        values, vectors = values[kept][::-1], vectors[:, kept][:, ::-1]
        furthest = vectors[np.argmax(np.abs(vectors), axis=0), np.arange(values.shape[0])]
        alpha = vectors * np.where(furthest < 0, -1.0, 1.0) / np.sqrt(values)
        self.eigenvalues_ = values
        self._keep_expansion(kernel, centers, alpha, -means @ alpha)
        self.regressor_ = None
        if self.reconstruct is not False:
            if self.__sklearn_tags__().input_tags.pairwise:
                raise ValueError("reconstruct = True is not supported by a precomputed kernel, which has no samples")
            checked_targets(X, X.dtype, "X")
            regressor = (
                LSSVMRegressor(regularization=np.logspace(-6, 1, 8))
                if self.reconstruct is True
                else clone(self.reconstruct)
            )
            self.regressor_ = regressor.fit(self._outputs(X), X)
        return self

    def inverse_transform(self, Z: np.ndarray) -> np.ndarray:
        """Reconstruct samples (n_samples, n_features) from scores (n_samples, n_found).

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Scores.

        Raises
        ------
        ValueError
            If `reconstruct` was False, or for another number of scores.
        """
        check_is_fitted(self)
        if self.regressor_ is None:
            raise ValueError(
                f"inverse_transform is not available with reconstruct = {self.reconstruct!r}. "
                "Use reconstruct = True or a regressor"
            )
        found = check_array(Z, dtype=FLOATS, input_name="Z")
        return np.asarray(self.regressor_.predict(found)).reshape(found.shape[0], -1)
