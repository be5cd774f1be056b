"""Directions of large variance with little variance under known noise (Mika 2002, sections 3.4.2 and 3.4.5)."""

from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgError, eigh

from discriminants.fisher.tangent_covariance import checked_copies, tangent_covariance
from discriminants.kernels import make_kernel
from discriminants.linear_systems.centred_scatter import PENALTIES
from discriminants.linear_systems.kernel_values import check_symmetric, check_values, dictionary, kernel_matrix
from discriminants.util.estimator import COUNT, NOT_NEGATIVE, POSITIVE, estimator, parameter
from discriminants.util.expansion import KernelFeatures
from discriminants.util.inputs import checked_samples

_JITTER = 1e-10  # of the mean diagonal entry of a matrix to be factored


@estimator
class OrientedKernelPCA(KernelFeatures):
    """Kernel principal components that are invariant to transformations or stand out from known noise.

    Maximizes alpha'K'HK alpha / N, the variance of the outputs, relative to alpha'(lambda T + mu P) alpha. T is the
    tangent covariance of transformed copies of the samples (`discriminants.fisher.tangent_covariance`), or the
    covariance of the outputs of noise samples (Diamantaras and Kung 1996). Without either it is kernel principal
    component analysis, with the identity or the norm in the space of the kernel as P. It solves a generalized
    eigenproblem of N x N matrices: O(N^3) time, 32 N^2 bytes.

    Features have mean zero. Their scale, like that of `sklearn.decomposition.KernelPCA`, is that of a discriminant of
    length one in the space of the kernel, or of alpha of length one if the kernel is not positive semidefinite.

    Parameters
    ----------
    n_components : int
        Number of features, one per output.
    regularization : float
        mu > 0, relative to the variance, which is a mean over the samples.
    orientation : float
        lambda >= 0, the weight of T, which is also a mean over the samples.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Variance divided by the denominator of the criterion, descending.

    References
    ----------
    K. Diamantaras, S. Kung, Principal Component Neural Networks, Wiley 1996.

    See Also
    --------
    InvariantKFDClassifier : a discriminant that does not move.

    Examples
    --------
    >>> OrientedKernelPCA(2).fit_transform(X).shape
    (150, 2)
    """

    n_components: int = parameter(COUNT, default=2, kw_only=False)
    kernel: Any = "gaussian"
    sigma: Any = "scale"
    regularization: float = parameter(POSITIVE, default=1e-3)
    orientation: float = parameter(NOT_NEGATIVE, default=1.0)
    penalty: str = parameter(set(PENALTIES), default="identity")

    def fit(self, X: np.ndarray, y: Any = None, *, copies: Any = None, noise: Any = None) -> Self:
        """Fit the directions.

        Parameters
        ----------
        y : ignored
        copies : array-like of shape (n_transformations, n_samples, n_features), optional
            Slightly transformed copies of the samples, one array per transformation.
        noise : array-like of shape (n_noise, n_features), optional
            Samples of the noise whose variance is penalized.

        Raises
        ------
        ValueError
            If copies, noise or the kernel do not fit.
        """
        self._validate_params()
        X = checked_samples(self, X)
        wanted = int(self.n_components)
        if X.shape[0] <= wanted:
            raise ValueError(f"n_components = {wanted} needs more than {wanted} samples, got {X.shape[0]}")
        kernel, centers = dictionary(make_kernel(self.kernel, self.sigma).resolved(X), X)
        K = kernel_matrix(kernel, X, centers)
        check_values(K)
        if self.penalty == "kernel":
            check_symmetric(K, "penalty = 'kernel'")
        column_means = K.mean(axis=0)
        against = self.regularization * (K if self.penalty == "kernel" else np.eye(K.shape[1]))
        if copies is not None:
            tangent = tangent_covariance(kernel, centers, X, checked_copies(copies, X), outputs=K)
            against = against + self.orientation * tangent
        if noise is not None:
            disturbed = kernel_matrix(kernel, checked_samples(self, noise, reset=False), centers)
            disturbed -= disturbed.mean(axis=0)
            against = against + self.orientation / disturbed.shape[0] * (disturbed.T @ disturbed)
        against.flat[:: against.shape[0] + 1] += _JITTER * against.trace() / against.shape[0]
        centred = K - column_means
        size = K.shape[1]
        try:
            values, vectors = eigh(
                centred.T @ centred / K.shape[0],
                0.5 * (against + against.T),
                subset_by_index=(size - wanted, size - 1),
                check_finite=False,
            )
        except LinAlgError:
            raise ValueError(
                f"regularization = {self.regularization} gives a noise covariance that is not positive definite. "
                "Use a larger regularization, or a kernel without large negative eigenvalues"
            ) from None
        self.eigenvalues_ = np.maximum(values[::-1], 0.0)
        alpha = vectors[:, ::-1]
        squares = np.einsum("ij,ik,kj->j", alpha, K, alpha) if K.shape[0] == size else np.zeros(wanted)
        lengths = np.where(squares > 0, np.sqrt(np.maximum(squares, 0.0)), np.linalg.norm(alpha, axis=0))
        alpha = alpha / lengths
        outputs = centred @ alpha
        furthest = outputs[np.argmax(np.abs(outputs), axis=0), np.arange(wanted)]
        alpha = alpha * np.where(furthest < 0, -1.0, 1.0)
        self._keep_expansion(kernel, centers, alpha, -column_means @ alpha)
        return self
