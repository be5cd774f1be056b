"""Support vector machines for all pairs of classes, with posteriors by pairwise coupling (Andelic 2007, table 4.2)."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.svm import SVC
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from discriminants.kernels import GaussianKernel
from discriminants.kernels.half_squares import FLOAT64_SPREAD, in_widths
from discriminants.linear_systems.kernel_values import kernel_matrix, memory_of_whole_matrix
from discriminants.multiclass.gaussian_coupling import floored
from discriminants.multiclass.labels import class_codes, draw_by_class
from discriminants.multiclass.pair_expansion import PairExpansion
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.util.estimator import COUNT, POSITIVE, estimator, parameter
from discriminants.util.inputs import checked_samples
from discriminants.util.weights import CLASS_WEIGHTS, weights_of, with_positive_weight

_MIN_DIVIDED, _MIN_HELD_OUT = 40, 10  # samples of a class


@estimator
class OneVsOneSVC(PairExpansion):
    """scikit-learn's SVC with a Gaussian kernel for each pair of classes, with outputs coupled to posteriors.

    A support vector of class i has a weight in each of the n_classes - 1 pairs of that class. The outputs of all pairs
    therefore need one matrix product per class, as in `OneVsOneKernelClassifier`; libsvm is needed only for training.
    Outputs are assumed normal in either class of a pair (4.7), with the means and variances of held-out samples.
    Training samples are separated too well for correct posteriors.

    Parameters
    ----------
    C : float
        As in `sklearn.svm.SVC`.
    sigma : float or "scale"
        Width of the Gaussian; gamma is 1 / (2 sigma^2).
    held_out : float
        Fraction of a class's samples that are held out from training to estimate the densities, at least 10 samples.
        For classes with fewer than 40 samples the densities are those of the training samples.
    class_weight : dict, "balanced" or None
        Weight of each class, multiplied by the sample weights.
    tol, cache_size : float
        As in `sklearn.svm.SVC`.
    random_state : int, RandomState or None
        Draws the samples.

    Attributes
    ----------
    basis_centers_ : ndarray of shape (n_centers, n_features)
        The support vectors, class by class.

    References
    ----------
    S. Krueger, M. Schaffoener, M. Katz, E. Andelic, A. Wendemuth, Speech recognition with support vector machines in a
    hybrid system, Interspeech 2005.

    See Also
    --------
    OneVsOneKernelClassifier : least squares or logistic loss, with few centers for each pair.
    """

    C: float = parameter(POSITIVE, default=1.0, kw_only=False)
    sigma: Any = parameter({"scale"}, POSITIVE, default="scale")
    max_samples_per_class: int | None = parameter(COUNT, None, default=1000)
    held_out: float = parameter(Interval(Real, 0, 0.5, closed="both"), default=0.1)
    tol: float = parameter(POSITIVE, default=1e-3)
    cache_size: float = parameter(POSITIVE, default=200)
    class_weight: Any = parameter(*CLASS_WEIGHTS, default=None)
    random_state: Any = parameter("random_state", default=None)
    _takes_weights: ClassVar[bool] = True

    def fit(
        self,
        X: np.ndarray,
        y: np.ndarray,
        sample_weight: np.ndarray | None = None,
        *,
        workers: Workers | None = None,
    ) -> Self:
        """Train all pairs, then take the means and variances of their outputs.

        Parameters
        ----------
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C, also used for priors and densities.
        workers : Workers, optional
            Workers that compute the outputs, with one class per task; libsvm runs in one thread.

        Raises
        ------
        ValueError
            For fewer than two classes.
        """
        self._validate_params()
        X, y = checked_samples(self, X, y)
        X, y, weight = with_positive_weight(self, X, y, weights_of(self, X, y, sample_weight))
        self.classes_, codes = class_codes(y)
        n_classes = self.classes_.shape[0]
        counts = np.bincount(codes, weight)
        self.class_log_prior_ = np.log(counts / counts.sum())
        random = check_random_state(self.random_state)
        members = draw_by_class(codes, self.max_samples_per_class, random)
        trained_on, measured_on = zip(*(self._divided(rows, random) for rows in members), strict=True)
        rows = np.concatenate(trained_on)
        kernel: Any = GaussianKernel(self.sigma).resolved(X[rows], None if weight is None else weight[rows])
        machine = self._machine(kernel, X[rows], codes[rows], None if weight is None else weight[rows])
        self.kernel_, self.basis_centers_ = kernel, X[rows[machine.support_]]
        self.pool_sizes_ = machine.n_support_.astype(np.intp)
        # libsvm omits a class's own column; scikit-learn inverts the signs for two classes.
        own = np.repeat(np.arange(n_classes), self.pool_sizes_)
        others = np.arange(n_classes - 1)[:, None]
        self.dual_coef_ = np.zeros((own.shape[0], n_classes))
        self.dual_coef_[np.arange(own.shape[0]), others + (others >= own)] = machine.dual_coef_
        self.intercept_ = np.asarray(machine.intercept_, dtype=np.float64)
        workers = SerialWorkers() if workers is None else workers
        shared = workers.share(X), workers.share((kernel, self.basis_centers_, self.pool_sizes_, self.dual_coef_))
        self.means_, self.variances_ = np.empty((2, 2, self.intercept_.shape[0]))
        first, second = np.triu_indices(n_classes, 1)
        tasks = ((i, rows, None if weight is None else weight[rows]) for i, rows in enumerate(measured_on))
        for i, (means, variances) in enumerate(workers.map(_outputs_in_class, tasks, *shared)):
            for row, (one, other) in enumerate(((first, second), (second, first))):
                of_class = one == i
                self.means_[row, of_class] = means[other[of_class]] + self.intercept_[of_class]
                self.variances_[row, of_class] = variances[other[of_class]]
        self.variances_ = floored(self.variances_, self.means_)
        return self

    def _machine(self, kernel: GaussianKernel, X: np.ndarray, codes: np.ndarray, weight: np.ndarray | None) -> Any:
        """Return the trained SVC.

        libsvm computes a squared distance as a difference of squared norms. The samples are therefore passed in units
        of the width, relative to the first sample. If these norms are still too large, the kernel matrix is passed.
        """
        scaled = in_widths(X, X[0], float(kernel.sigma))
        near = np.einsum("ij,ij->i", scaled, scaled).max() <= FLOAT64_SPREAD
        settings = {"C": self.C, "tol": self.tol, "cache_size": self.cache_size}
        if near:
            return SVC(gamma=0.5, **settings).fit(scaled, codes, weight)
        with memory_of_whole_matrix(X.shape[0]):
            return SVC(kernel="precomputed", **settings).fit(kernel_matrix(kernel, X, X), codes, weight)

    def _divided(self, rows: np.ndarray, random: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
        """Return the training samples of a class, and the samples for its densities."""
        if self.held_out == 0 or rows.shape[0] < _MIN_DIVIDED:
            return rows, rows
        drawn = random.permutation(rows)
        n_held_out = max(_MIN_HELD_OUT, round(self.held_out * rows.shape[0]))
        return np.sort(drawn[n_held_out:]), np.sort(drawn[:n_held_out])


def _outputs_in_class(
    task: tuple[int, np.ndarray, np.ndarray | None], X: np.ndarray, machine: tuple[Any, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Return means and variances (n_classes,) over class i of the outputs of its pairs, without their biases."""
    (i, rows, weight), (kernel, centers, pool_sizes, dual_coef) = task, machine
    starts = np.cumsum(pool_sizes) - pool_sizes
    K = kernel(X[rows], centers).astype(np.float64)
    own = slice(starts[i], starts[i] + pool_sizes[i])
    outputs = K[:, own] @ dual_coef[own]
    outputs += np.add.reduceat(K * dual_coef[:, i], starts, axis=1)
    means = np.average(outputs, axis=0, weights=weight)
    return means, np.average((outputs - means) ** 2, axis=0, weights=weight)
