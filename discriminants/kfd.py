"""The kernel Fisher discriminant, dense: every training sample is a centre (Andelic 2007, section 3.3)."""

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_X_y

from discriminants.expansion import FLOATS
from discriminants.kernels import Kernel, make_kernel
from discriminants.multiclass.labels import class_codes
from discriminants.multiclass.one_vs_rest import OneVsRestClassifier, one_vs_rest_targets, winners

_LARGEST_VALUE = 1e140  # of the kernel: sums of its squares stay finite


class KFDClassifier(OneVsRestClassifier):
    """Kernel Fisher discriminant (Andelic 2007, 3.36-3.43; Mika 2002): the dense reference of the sparse learners.

    A class's direction against the rest is alpha = (S_W + R)^-1 (m_+ - m_-) (3.41), S_W the within-class scatter
    of the kernel columns, R the penalty. S_W is the total scatter S_T = K'HK, H = I - 11'/N, less a rank-one term
    in (m_+ - m_-), so (S_T + R)^-1 (m_+ - m_-) is parallel to it (Sherman and Morrison), and as
    K'Hy = 2 M_+ M_- / N (m_+ - m_-) for labels y = +-1, so is regularised least squares onto the labels (3.43). That
    last scale, and its bias, are the ones kept: the outputs of all classes compare, and share one factorisation.

    With C = HKK'H (penalty "identity") or C = HKH (penalty "kernel") and beta = (C + mu I)^-1 Hy, the solution is
    alpha = K'beta or alpha = beta, and the bias is the mean of y - K alpha. Time is O(N^3), memory 16 N^2 bytes for
    the penalty "identity" and 8 N^2 for "kernel", whatever the float type of X: the work is done in float64.

    Parameters
    ----------
    kernel : str, Kernel or callable
        "gaussian", "precomputed", another name, a kernel object, or a function of two arrays.
    sigma : float, "scale" or ndarray
        Width of a kernel given by name, in the units of X.
    regularization : float
        mu > 0; the scatter is unnormalised, so the same mu weighs less the more samples there are.
    penalty : {"identity", "kernel"}
        R = mu I, a penalty on the length of alpha (Mika 2002), or R = mu K, on the norm of the discriminant in the
        space of the kernel, which makes it the least-squares support vector machine (Suykens et al. 2002). The
        second needs a symmetric kernel without large negative eigenvalues.
    posterior : str
        How outputs become posteriors, a name of `discriminants.posteriors.POSTERIORS`.

    Attributes
    ----------
    basis_centers_ : ndarray of shape (m, n_features)
        The training samples, each as often as the kernel has widths to choose from: once, as a rule.
    dual_coef_ : ndarray of shape (m, n_outputs)
        One output for two classes, else one a class.
    intercept_ : ndarray of shape (n_outputs,)
    classes_ : ndarray of shape (n_classes,)
    kernel_ : Kernel
    sigma_ : float
    posterior_ : fitted output model

    References
    ----------
    E. Andelic, Sparse Nonlinear Discriminants, dissertation, Magdeburg 2007.
    S. Mika, Kernel Fisher Discriminants, dissertation, Berlin 2002.
    J. Suykens et al., Least Squares Support Vector Machines, World Scientific 2002.

    See Also
    --------
    LinearDiscriminant : the same in the space of the inputs.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OneVsRestClassifier._parameter_constraints,
        "regularization": [Interval(Real, 0, None, closed="neither")],
        "penalty": [StrOptions({"identity", "kernel"})],
    }

    def __init__(
        self,
        *,
        kernel: Any = "gaussian",
        sigma: Any = "scale",
        regularization: float = 1e-3,
        penalty: str = "identity",
        posterior: str = "gaussian",
    ) -> None:
        self.kernel = kernel
        self.sigma = sigma
        self.regularization = regularization
        self.penalty = penalty
        self.posterior = posterior

    def _fit_targets(self, X: np.ndarray, targets: np.ndarray) -> None:
        kernel, centers = _dictionary(make_kernel(self.kernel, self.sigma).resolved(X), X)
        K = _kernel_matrix(kernel, X, centers)
        column_means = K.mean(axis=0)
        K -= column_means
        scatter = _scatter(K, column_means, self.penalty)
        scatter.flat[:: scatter.shape[0] + 1] += self.regularization
        means = targets.mean(axis=0)
        try:  # the transpose is in Fortran order: the factor takes the matrix's place
            factor = cho_factor(scatter.T, overwrite_a=True, check_finite=False)
        except LinAlgError:
            raise ValueError(
                f"regularization = {self.regularization} leaves the scatter matrix without a Cholesky factor: it is "
                "too small for the size of the kernel values, or the kernel has large negative eigenvalues"
            ) from None
        beta = cho_solve(factor, targets - means, check_finite=False)
        # HK is at hand, and K'beta = (HK)'beta, for beta sums to zero.
        alpha = beta if self.penalty == "kernel" else K.T @ beta
        self._keep_expansion(kernel, centers, alpha, means - column_means @ alpha)

    def leave_one_out_errors(self, X: np.ndarray, y: np.ndarray, regularizations: Sequence[float]) -> np.ndarray:
        """Error rate with each sample left out in turn, for each of several values of `regularization`.

        All of them come from one eigendecomposition, a few times the work of one `fit`, in memory of 32 N^2 bytes.
        Neither the parameter `regularization` nor anything fitted plays a part, and nothing is stored. The width
        "scale" is worked out on all samples; see `leave_one_out_outputs` for what else a sample leaves behind.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        regularizations : sequence of float
            Each positive.

        Returns
        -------
        ndarray of shape (len(regularizations),)
            Shares of the samples, 0 to 1.

        Raises
        ------
        ValueError
            As `fit`, and for a value of `regularizations` that is not positive.
        """
        self._validate_params()
        X, y = check_X_y(X, y, dtype=FLOATS, order="C", estimator=self)
        classes, codes = class_codes(y)
        kernel, centers = _dictionary(make_kernel(self.kernel, self.sigma).resolved(X), X)
        outputs = leave_one_out_outputs(
            _kernel_matrix(kernel, X, centers),
            one_vs_rest_targets(codes, classes.shape[0]),
            regularizations,
            penalty=self.penalty,
        )
        return np.array([(winners(output) != codes).mean() for output in outputs])


def leave_one_out_outputs(
    K: np.ndarray, targets: np.ndarray, regularizations: Sequence[float], *, penalty: str = "identity"
) -> np.ndarray:
    """Output of every training sample by the discriminant of all others, in closed form.

    The outputs are linear in the targets and the penalty is quadratic, hence y_i - f^(-i)(x_i) =
    (y_i - f(x_i)) / (1 - h_ii), with I - (h_ij) = mu (C + mu I)^-1 - 11'/N and C as in `KFDClassifier`. With the
    penalty "kernel" that is the model trained without the sample. With "identity" the sample's kernel column stays
    in the dictionary, as with a dictionary chosen beforehand; only its label is left out.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_columns)
        Kernel matrix of the training samples; square for the penalty "kernel".
    targets : ndarray of shape (n_samples, n_outputs)
    regularizations : sequence of float
        Values of mu, each positive.
    penalty : {"identity", "kernel"}

    Returns
    -------
    ndarray of shape (len(regularizations), n_samples, n_outputs), float64

    Raises
    ------
    ValueError
        For a regularization that is not positive, or too small for the kernel.
    """
    mu = np.asarray(regularizations, dtype=np.float64)
    if mu.ndim != 1 or not (np.isfinite(mu).all() and (mu > 0).all()):
        raise ValueError(f"regularizations must be positive finite numbers, got {regularizations!r}")
    column_means = K.mean(axis=0)
    scatter = _scatter(K - column_means, column_means, penalty)
    eigenvalues, vectors = eigh(scatter.T, overwrite_a=True, check_finite=False)
    eigenvalues, vectors = eigenvalues[:-1], vectors[:, :-1]  # the last is the constant vector
    if penalty == "identity":
        eigenvalues = np.maximum(eigenvalues, 0.0)
    inverses = 1.0 / (eigenvalues + mu[:, None])
    if not (inverses > 0).all():
        raise ValueError(
            f"the kernel has negative eigenvalues, down to {eigenvalues[0]}; regularizations must exceed that"
        )
    rotated = vectors.T @ targets
    diagonals = inverses @ (vectors**2).T
    betas = np.stack([vectors @ (inverse[:, None] * rotated) for inverse in inverses])
    return targets - betas / diagonals[:, :, None]


def _dictionary(kernel: Kernel, X: np.ndarray) -> tuple[Kernel, np.ndarray]:
    """Every sample as a centre, several times where the kernel has several candidates a point."""
    kernel, points = kernel.over(X)
    return kernel, X if points.shape[0] == X.shape[0] else X[points]


def _kernel_matrix(kernel: Kernel, X: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """K(X, centers) in float64."""
    X, centers = X.astype(np.float64, copy=False), centers.astype(np.float64, copy=False)
    return kernel.columns(centers, np.float64).block(X, out=np.empty((X.shape[0], centers.shape[0])))


def _scatter(HK: np.ndarray, column_means: np.ndarray, penalty: str) -> np.ndarray:
    """C of `KFDClassifier` and the constant vector: a new matrix for the penalty "identity", else in HK's place.

    Raises
    ------
    ValueError
        If the kernel values are not finite, all equal, or, for the penalty "kernel", not symmetric.
    """
    spread, size = max(HK.max(), -HK.min()), np.abs(column_means).max()
    if not max(spread, size) < _LARGEST_VALUE:
        raise ValueError("the kernel values of the training samples are not finite, or too large to be squared")
    if spread <= 10 * np.finfo(np.float64).eps * size:
        raise ValueError("the kernel tells no two training samples apart: constant features, or far too large a width?")
    if penalty == "identity":
        return _with_constant_vector(HK @ HK.T)
    if HK.shape[0] != HK.shape[1]:
        raise ValueError("penalty='kernel' needs one kernel column a sample; use penalty='identity' for this kernel")
    probe = np.cos(np.arange(HK.shape[0]))
    left, right = HK.T @ probe + column_means * probe.sum(), HK @ probe + column_means @ probe
    if not np.allclose(left, right, rtol=0, atol=1e-5 * max(np.abs(left).max(), np.abs(right).max())):
        raise ValueError("penalty='kernel' needs a symmetric kernel; use penalty='identity' for this one")
    HK -= HK.mean(axis=1, keepdims=True)
    return _with_constant_vector(HK)


def _with_constant_vector(C: np.ndarray) -> np.ndarray:
    """C with the constant vector's eigenvalue, zero, made larger than all others, in place.

    Right-hand sides sum to zero, so no solution changes, but rounding errors along that vector are no longer divided
    by mu.
    """
    C += 2 * np.linalg.norm(C) / C.shape[0]
    return C
