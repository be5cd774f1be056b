"""Several kernel Fisher directions as features (Mika 2002, sections 3.2 and 3.4; Baudat and Anouar 2000)."""

from typing import Any, Self

import numpy as np
from scipy.linalg import eigh

from discriminants.kernels import Kernel, make_kernel
from discriminants.linear_systems.centred_scatter import PENALTIES, RidgeSolution
from discriminants.linear_systems.kernel_values import (
    check_spread,
    check_symmetric,
    check_values,
    dictionary,
    kernel_matrix,
)
from discriminants.linear_systems.pooled_scatter import PooledScatter, largest, oriented
from discriminants.multiclass.labels import class_codes
from discriminants.util.estimator import COUNT, POSITIVE, estimator, parameter
from discriminants.util.expansion import KernelFeatures
from discriminants.util.inputs import checked_samples
from discriminants.util.sampling import balanced_sample

_BLOCK = 2048  # samples
_MAX_SHARE = 1.0 - 1e-12  # maximum fraction of a direction's variance between the classes


@estimator
class KernelDiscriminantAnalysis(KernelFeatures):
    """Linear discriminant analysis with a kernel: directions that best separate all classes.

    A direction maximizes the scatter between the classes, alpha'B alpha, relative to the scatter within them and the
    penalty, alpha'(W + R) alpha, W = K'DK, D = I - sum_c v_c v_c' (Mika 2002, 3.30). `solver="eigen"` solves this
    generalized eigenproblem of N x N matrices directly. `"least_squares"` finds the same directions from one Cholesky
    factorization. Let F be the centered least-squares fit of the indicators Y of the classes, with weights A. The
    problem Y'F v = omega Y'Y v has one row per class (optimal scoring). The directions are A v, and the eigenvalue of
    the first problem is omega / (1 - omega).

    C classes have at most C - 1 such directions. Further components (`n_components`) carry no discrimination in this
    sense; they are the kernel principal components of the samples after the discriminant directions are removed.

    With `n_centers` the directions lie in the span of the kernel columns of that number of samples (the Nystroem
    approximation). The centers are balanced over the classes and evenly spread over the samples of each class. K is
    then N x m and processed in blocks of samples, in O(N m^2) time and 8 m (m + n_classes) bytes. With all samples as
    centers the result is the same.

    Features have mean zero over the training samples and unit variance within the classes (including the penalty for
    the discriminant directions), so that distances have the same scale in all of them.

    Parameters
    ----------
    n_components : int or None
        Number of features, one per output; None is the number of classes less one.
    kernel
        Components beyond the discriminant ones need a symmetric positive semidefinite kernel.
    regularization : float
        mu > 0; the scatter is unnormalized, so the same mu has less effect with more samples.
    solver : {"least_squares", "eigen"}
        "eigen" takes several times longer, and memory of 32 N^2 bytes. With `n_centers` both solve the eigenproblem of
        m x m matrices.
    n_centers : int or None
        Maximum number of centers, but at least one of each class; None uses every sample. With fewer centers only the
        discriminant components are available.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Scatter between the classes over scatter within (and penalty), descending; zero for the further components.
    class_means_ : ndarray of shape (n_classes, n_components)
        Class means of the features.
    classes_ : ndarray of shape (n_classes,)

    References
    ----------
    G. Baudat, F. Anouar, Generalized discriminant analysis using a kernel approach, Neural Computation 12, 2000.
    T. Hastie, R. Tibshirani, A. Buja, Flexible discriminant analysis by optimal scoring, JASA 89, 1994.

    See Also
    --------
    KFDClassifier : a classifier, one class against the rest.
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : the same without a kernel.

    Examples
    --------
    >>> KernelDiscriminantAnalysis().fit_transform(X, y).shape
    (150, 2)
    """

    n_components: int | None = parameter(COUNT, None, default=None, kw_only=False)
    kernel: Any = "gaussian"
    sigma: Any = "scale"
    regularization: float = parameter(POSITIVE, default=0.03)
    penalty: str = parameter(set(PENALTIES), default="identity")
    solver: str = parameter({"least_squares", "eigen"}, default="least_squares")
    n_centers: int | None = parameter(COUNT, None, default=None)

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Fit the directions.

        Raises
        ------
        ValueError
            For fewer than two classes, a kernel that does not fit, or more components than the number of samples less
            one.
        """
        self._validate_params()
        X, y = checked_samples(self, X, y)
        self.classes_, codes = class_codes(y)
        wanted = self.classes_.shape[0] - 1 if self.n_components is None else int(self.n_components)
        if wanted > max(X.shape[0] - 1, self.classes_.shape[0] - 1):
            raise ValueError(
                f"n_components = {wanted} is too large for {X.shape[0]} samples. Expected at most {X.shape[0] - 1}"
            )
        kernel = make_kernel(self.kernel, self.sigma).resolved(X)
        indicators = (codes[:, None] == np.arange(self.classes_.shape[0])).astype(np.float64)
        if self.n_centers is None:
            self._fit_all_columns(kernel, X, indicators, wanted)
        else:
            self._fit_few_columns(kernel, X, codes, wanted)
        outputs = self._outputs(X)
        self.class_means_ = (indicators.T @ outputs / indicators.sum(axis=0)[:, None]).astype(X.dtype)
        return self

    def _fit_all_columns(self, kernel: Kernel, X: np.ndarray, indicators: np.ndarray, wanted: int) -> None:
        kernel, centers = dictionary(kernel, X)
        K = kernel_matrix(kernel, X, centers)
        n_discriminant = min(wanted, indicators.shape[1] - 1)
        more = K.copy() if wanted > n_discriminant else None
        solve = _by_least_squares if self.solver == "least_squares" else _by_eigenproblem
        alpha, bias, self.eigenvalues_ = solve(K, indicators, self.regularization, self.penalty, n_discriminant)
        if more is not None:
            alpha, bias = _with_principal_components(more, alpha, bias, indicators, wanted)
            self.eigenvalues_ = np.pad(self.eigenvalues_, (0, wanted - n_discriminant))
        self._keep_expansion(kernel, centers, alpha, bias)

    def _fit_few_columns(self, kernel: Kernel, X: np.ndarray, codes: np.ndarray, wanted: int) -> None:
        rows = balanced_sample(codes, int(self.n_centers or 0))
        kernel, centers = dictionary(kernel.at(rows), X[rows])
        most = min(self.classes_.shape[0] - 1, centers.shape[0])
        if wanted > most:
            raise ValueError(
                f"n_components = {wanted} is more than the {most} discriminant directions of {self.classes_.shape[0]} "
                f"classes and {centers.shape[0]} centers. Use n_centers = None for more components"
            )
        alpha, bias, self.eigenvalues_ = _by_blocks(
            kernel, X, centers, codes, self.regularization, self.penalty, wanted
        )
        self._keep_expansion(kernel, centers, alpha, bias)


def _by_least_squares(
    K: np.ndarray, indicators: np.ndarray, mu: float, penalty: str, n_components: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weights (n_columns, n_components), biases and eigenvalues by optimal scoring."""
    n_samples = K.shape[0]
    solution = RidgeSolution(K, indicators, mu, penalty)
    shares = indicators.mean(axis=0)
    fitted = indicators - shares - mu * solution.beta
    between = indicators.T @ fitted / n_samples
    _, scores = largest(0.5 * (between + between.T), np.diag(shares), n_components)
    omega = np.clip(np.einsum("ij,ik,kj->j", scores, between, scores), 0.0, _MAX_SHARE)
    # A class mean is omega times its score; the scatter within plus the penalty is N omega (1 - omega).
    scores = oriented(scores, scores) / np.sqrt(np.maximum(omega * (1.0 - omega), np.finfo(np.float64).tiny))
    return solution.alpha @ scores, (solution.bias - shares) @ scores, omega / (1.0 - omega)


def _by_eigenproblem(
    K: np.ndarray, indicators: np.ndarray, mu: float, penalty: str, n_components: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Solve the generalized eigenproblem; returns the same as `_by_least_squares`."""
    check_values(K)
    if penalty == "kernel":
        check_symmetric(K, "penalty = 'kernel'")
    scatter = PooledScatter(indicators.shape[1], K.mean(axis=0)).add(K, indicators.argmax(axis=1))
    return scatter.directions(n_components, mu * (K if penalty == "kernel" else np.eye(K.shape[1])))


def _by_blocks(
    kernel: Kernel, X: np.ndarray, centers: np.ndarray, codes: np.ndarray, mu: float, penalty: str, n_components: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Solve in the columns of some centers, a block of samples at a time; returns the same as `_by_least_squares`."""
    among = kernel_matrix(kernel, centers, centers)
    if penalty == "kernel":
        check_symmetric(among, "penalty = 'kernel'")
    columns = kernel.columns(centers.astype(np.float64, copy=False))
    scatter = PooledScatter(int(codes.max()) + 1, among.mean(axis=0))
    highest, lowest = among.max(axis=0), among.min(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):  # rejected below
        for start in range(0, X.shape[0], _BLOCK):
            K = columns.block(X[start : start + _BLOCK].astype(np.float64, copy=False))
            highest, lowest = np.maximum(highest, K.max(axis=0)), np.minimum(lowest, K.min(axis=0))
            scatter.add(K, codes[start : start + _BLOCK])
    check_spread(highest, lowest)
    return scatter.directions(n_components, mu * (among if penalty == "kernel" else np.eye(centers.shape[0])))


def _with_principal_components(
    K: np.ndarray, alpha: np.ndarray, bias: np.ndarray, indicators: np.ndarray, n_components: int
) -> tuple[np.ndarray, np.ndarray]:
    """Append weights and biases of kernel principal components outside the given directions."""
    check_symmetric(K, "more components than classes less one")
    n_samples, n_more = K.shape[0], n_components - alpha.shape[1]
    column_means = K.mean(axis=0)
    centred = K - column_means
    F = centred @ alpha
    taken_off = np.linalg.pinv(alpha.T @ K @ alpha, hermitian=True) @ F.T
    deflated = centred - centred.mean(axis=1, keepdims=True) - F @ taken_off
    values, vectors = eigh(
        0.5 * (deflated + deflated.T), subset_by_index=(n_samples - n_more, n_samples - 1), check_finite=False
    )
    if not values[0] > 1e-12 * K.diagonal().mean():
        raise ValueError(
            f"n_components = {n_components} is more than the number of directions in which the samples differ"
        )
    vectors = vectors[:, ::-1]
    more = vectors - alpha @ (taken_off @ vectors)
    outputs = centred @ more
    means = indicators.T @ outputs / indicators.sum(axis=0)[:, None]
    more = more / np.sqrt(((outputs - indicators @ means) ** 2).mean(axis=0))
    more = oriented(more, means)
    return np.hstack([alpha, more]), np.concatenate([bias, -column_means @ more])
