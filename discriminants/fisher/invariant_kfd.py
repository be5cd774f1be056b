"""The kernel Fisher discriminant over few centers, invariant to sample transformations (Mika 2002, 5.3.1)."""

from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils import check_random_state

from discriminants.fisher.tangent_covariance import checked_copies, tangent_covariance
from discriminants.fisher.virtual_samples import VirtualSums
from discriminants.kernels import Kernel, PrecomputedKernel, make_kernel
from discriminants.linear_systems.centred_scatter import PENALTIES
from discriminants.linear_systems.kernel_values import check_symmetric, check_values, kernel_matrix
from discriminants.multiclass.thresholded import ThresholdedClassifier
from discriminants.util.estimator import COUNT, NOT_NEGATIVE, POSITIVE, estimator, parameter
from discriminants.util.sampling import distinct_rows

_JITTER = 1e-12  # of the mean diagonal entry of the scatter matrix


@estimator
class InvariantKFDClassifier(ThresholdedClassifier):
    """Fisher's discriminant over a given number of centers, with a penalty on output changes under transformations.

    The objective is the scatter within the classes, the penalty, and lambda times the mean of sum_i (f(x_i) - f(L_t
    x_i))^2 over the transformations L_t. The sum is over the samples (Mika 2002, 3.23 and section 5.3.1: S_N = N + mu I
    + lambda T). As least squares onto +-1 it is alpha = (K'HK + mu P + lambda T)^-1 K'Hy. Centers may also be
    transformed samples: an expansion over the samples alone cannot represent all of T, which limited the gain in the
    source.

    Copies may also count as further samples of their class (virtual samples; Schoelkopf, Burges and Vapnik 1996). The
    copies of a sample together count as much as `virtual` samples. The outputs of copies are then also fitted to the
    class targets.

    Without copies, or if both weights are 0, this is the discriminant trained with a subset of the samples as centers
    (section 3.5.1). It takes O(N m^2) time and 8 N m bytes for m centers. Leave-one-out omits the label of a sample,
    but not its column or its copies.

    Parameters
    ----------
    n_centers : int
        Maximum number of centers; fewer if fewer distinct ones are available.
    centers : {"samples", "copies", "k_means"}
        Source of the centers: drawn at random from the samples, or from the samples and their copies, or k-means of
        both.
    regularization : float
        mu > 0; the scatter is unnormalized, so the same mu has less effect with more samples.
    invariance : float
        lambda >= 0.
    virtual : float
        Weight of the copies of a sample, in samples, >= 0.
    calibrate_on : {"training", "leave_one_out"}
    random_state : int, RandomState or None
        Draws the centers.

    References
    ----------
    B. Schoelkopf, C. Burges, V. Vapnik, Incorporating invariances in support vector learning machines, ICANN 1996.
    P. Simard, Y. LeCun, J. Denker, B. Victorri, Transformation invariance in pattern recognition, 1998.

    See Also
    --------
    OrientedKernelPCA : the same without classes.
    transformed_images : copies of images.
    """

    n_centers: int = parameter(COUNT, default=1000, kw_only=False)
    centers: str = parameter({"samples", "copies", "k_means"}, default="samples")
    regularization: float = parameter(POSITIVE, default=1e-3)
    penalty: str = parameter(set(PENALTIES), default="identity")
    invariance: float = parameter(NOT_NEGATIVE, default=1e-3)
    virtual: float = parameter(NOT_NEGATIVE, default=0.0)
    calibrate_on: str = parameter({"training", "leave_one_out"}, default="training")
    random_state: Any = parameter("random_state", default=None)

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None, *, copies: Any = None) -> Self:
        """Fit the outputs, the thresholds and the posterior model.

        Parameters
        ----------
        copies : array-like of shape (n_transformations, n_samples, n_features), optional
            Slightly transformed copies of the samples, one array per transformation.

        Raises
        ------
        ValueError
            If copies or the kernel do not fit, or for weights of samples (not supported).
        """
        self._copies = copies
        try:
            return super().fit(X, y, sample_weight)
        finally:
            del self._copies

    def _fit_targets(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None) -> None:
        kernel = make_kernel(self.kernel, self.sigma).resolved(X)
        copies = None if self._copies is None else checked_copies(self._copies, X)
        if copies is not None and not kernel.centers_are_points:
            raise ValueError(f"copies need a kernel of any two points that is the same for all centers, got {kernel}")
        kernel, centers = self._dictionary(kernel, X, copies)
        K = kernel_matrix(kernel, X, centers)
        check_values(K)
        normal = np.zeros((K.shape[1], K.shape[1]))
        if copies is not None and self.invariance and not self.virtual:
            normal += self.invariance * X.shape[0] * tangent_covariance(kernel, centers, X, copies, outputs=K)
        if self.penalty == "kernel":
            among = kernel_matrix(kernel, self._rows_of(kernel, centers, X), centers)
            check_symmetric(among, "penalty = 'kernel'")
            normal += self.regularization * among
        else:
            normal.flat[:: normal.shape[0] + 1] += self.regularization
        column_means, means = K.mean(axis=0), targets.mean(axis=0)
        K -= column_means
        normal += K.T @ K
        products, total = K.T @ (targets - means), float(X.shape[0])
        if copies is not None and self.virtual:
            each = self.virtual / copies.shape[0]
            samples = K if self.invariance else None
            sums = VirtualSums.over(kernel, centers, copies, column_means, targets - means, samples)
            normal += self.invariance / copies.shape[0] * sums.moved
            total *= 1.0 + self.virtual
            shift = each * sums.columns / total
            normal += each * sums.squares - total * np.outer(shift, shift)
            products += each * sums.targets
            column_means += shift
            K -= shift
        normal.flat[:: normal.shape[0] + 1] += _JITTER * normal.trace() / normal.shape[0]
        try:
            factor = cho_factor(normal, overwrite_a=True, check_finite=False)
        except LinAlgError:
            raise ValueError(
                f"regularization = {self.regularization} gives a scatter matrix that is not positive definite. "
                "Use a larger regularization, or a kernel without large negative eigenvalues"
            ) from None
        alpha = cho_solve(factor, products, check_finite=False)
        self._keep_expansion(kernel, centers, alpha, means - column_means @ alpha)
        if self.calibrate_on == "leave_one_out":
            rotated = solve_triangular(factor[0], K.T, lower=factor[1], trans=0 if factor[1] else 1, check_finite=False)
            leverage = 1.0 / total + np.einsum("ij,ij->j", rotated, rotated)
            self._left_out = targets - (targets - means - K @ alpha) / (1.0 - leverage)[:, None]

    def _calibration_outputs(self, X: np.ndarray, targets: np.ndarray) -> np.ndarray:
        if self.calibrate_on != "leave_one_out":
            return super()._calibration_outputs(X, targets)
        outputs = self._left_out
        del self._left_out
        return outputs

    def _dictionary(self, kernel: Kernel, X: np.ndarray, copies: np.ndarray | None) -> tuple[Kernel, np.ndarray]:
        """Return the kernel for the centers, and the centers."""
        random = check_random_state(self.random_state)
        pool = X
        if self.centers != "samples":
            if not kernel.centers_are_points:
                raise ValueError(f"centers = {self.centers!r} needs a kernel with any point as center, got {kernel}")
            pool = X if copies is None else np.concatenate([X, copies.reshape(-1, X.shape[1])])
        rows = distinct_rows(pool)[0] if kernel.centers_are_points else np.arange(pool.shape[0])
        n_centers = min(int(self.n_centers), rows.shape[0])
        if self.centers == "k_means" and n_centers < rows.shape[0]:
            means = MiniBatchKMeans(n_centers, n_init=1, batch_size=4096, random_state=random).fit(pool[rows])
            return kernel.over(means.cluster_centers_)[0], means.cluster_centers_.astype(X.dtype)
        if n_centers < rows.shape[0]:
            rows = np.sort(random.choice(rows, n_centers, replace=False))
        kernel, which = kernel.at(rows).over(pool[rows])
        return kernel, pool[rows][which]

    @staticmethod
    def _rows_of(kernel: Kernel, centers: np.ndarray, X: np.ndarray) -> np.ndarray:
        """Return the samples that correspond to the centers, in the form that the kernel expects."""
        return X[kernel.indices] if isinstance(kernel, PrecomputedKernel) else centers
