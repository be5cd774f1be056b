"""Kernel recursive least squares: a sparse kernel machine for streams.

The algorithm is that of Andelic 2007, section 3.4.3, and Engel, Mannor and Meir 2004, with a ridge on the weights (Liu,
Principe and Haykin 2010, chapter 4).
"""

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np

from discriminants.fisher.class_moments import ClassMoments
from discriminants.kernels import PrecomputedKernel, make_kernel
from discriminants.multiclass.labels import announced_classes, codes_among, one_vs_rest_targets
from discriminants.multiclass.one_vs_rest import OneVsRestClassifier, winners
from discriminants.posteriors.output_models import POSTERIORS, unit_length_outputs
from discriminants.sparse.recursive_least_squares import KernelRecursion
from discriminants.util.blas_threads import one_blas_thread
from discriminants.util.estimator import COUNT, NOT_NEGATIVE, POSITIVE, estimator, field, parameter
from discriminants.util.expansion import KernelExpansion
from discriminants.util.inputs import checked_samples
from discriminants.util.partial_fit import available_if_streaming, check_streaming
from discriminants.util.regression import KernelRegressor


def _check_streaming(learner: Any) -> None:
    obstacle = f"form = {learner.form!r}, which reads the data twice. Use 'one_pass'"
    check_streaming(learner, {obstacle: learner.form != "one_pass"})


@estimator
class _RecursiveLearner(KernelExpansion):
    """Base of the classifier and the regressor: passes over the data, block by block.

    Parameters
    ----------
    nu : float
        Squared distance from the span of the dictionary beyond which a sample joins it; 0 < nu <= 1 for kernels with
        k(x, x) = 1 (Andelic 2007, 3.100). Smaller values give more entries. The units are those of k(x, x).
    max_centers : int or None
        Maximum number of dictionary entries; later samples still update the weights. With None, high-dimensional data
        may add all samples: 5000 samples of 20 independent features take 1 GB, and time grows with the cube of their
        number. Memory for m entries is about 16 m^2 bytes, and 24 m^2 bytes during training. A classifier with Gaussian
        posteriors needs 8 m^2 more for each class: 220 MB for two classes with the 2000 here. On three data sets that
        would add more samples, errors with 1000 entries were higher by 5 to 20 % than with 2000.
    kernel
        Positive definite. A precomputed kernel is supported only by `fit`.
    sigma
        In `partial_fit`, "scale" is computed from the first samples and kept, so use a number if these are few or not
        typical.
    form : "one_pass", "two_pass" or "thesis"
        "one_pass" is Engel's recursion: a sample before an entry has coordinate zero there. "two_pass" finds the
        dictionary first and then solves plain least squares in its kernels. "thesis" is algorithms 3 and 4 as printed,
        for comparison. Its second pass starts from the P of the first, which already contains every sample. The data
        are thus counted twice, and the outputs shrink to about half of the least-squares ones.
    block_size : int
        Samples per block; it affects speed and memory, and the result only by rounding.

    Attributes
    ----------
    basis_centers_ : ndarray of shape (m, n_features)
        The dictionary, in order of arrival.
    center_indices_ : ndarray of int of shape (m,)
        Row numbers of the entries among all samples seen.
    dual_coef_ : ndarray of float64 of shape (m, n_outputs)
    intercept_ : ndarray of float64 of shape (n_outputs,)
        Sum of the dual coefficients, plus the unpenalized bias.
    recursion_ : KernelRecursion
        State from which `partial_fit` continues.

    References
    ----------
    Y. Engel, S. Mannor, R. Meir, The kernel recursive least-squares algorithm, IEEE Transactions on Signal Processing
    52, 2004. W. Liu, J. C. Principe, S. Haykin, Kernel Adaptive Filtering, 2010, chapter 4, where P is I / lambda at
    first.
    """

    _free_bias: ClassVar[bool]

    nu: float = parameter(POSITIVE, default=0.01, kw_only=False)
    max_centers: int | None = parameter(COUNT, None, default=2000)
    kernel: Any = "gaussian"
    sigma: Any = "scale"
    form: str = parameter({"one_pass", "two_pass", "thesis"}, default="one_pass")
    block_size: int = parameter(COUNT, default=1024)
    penalty: float = parameter(NOT_NEGATIVE, default=0.1)
    recursion_: KernelRecursion = field(init=False)

    def _begin(self, X: np.ndarray, n_outputs: int) -> None:
        """Reset the model; parameters of the kernel are computed from these samples."""
        kernel = make_kernel(self.kernel, self.sigma).resolved(X)
        one_for_all = kernel.centers_are_points and kernel.over(X[:1])[1].size == 1
        if not (one_for_all or isinstance(kernel, PrecomputedKernel)):
            raise ValueError(
                f"{type(self).__name__} needs a symmetric kernel that is the same for all centers, got {kernel}"
            )
        recursion = KernelRecursion(kernel, self.penalty, self._free_bias and self.penalty > 0)
        self.recursion_ = recursion.start(X.shape[1], n_outputs, X.dtype)

    def _begin_stream(self, X: np.ndarray, n_outputs: int) -> None:
        kernel = make_kernel(self.kernel, self.sigma)
        if X.shape[0] < 2 and any(isinstance(value, str) for value in kernel.get_params().values()):
            raise ValueError(
                "sigma = 'scale' cannot be computed from the first call of partial_fit with one sample. "
                "Use a number, or more samples in the first call"
            )
        self._begin(X, n_outputs)

    def _learn(
        self, X: np.ndarray, targets: np.ndarray, observe: Callable[[np.ndarray, slice], None] | None = None
    ) -> None:
        """Add all samples to the recursion, in one pass or two, and store the expansion.

        If a sample is rejected, the earlier model stays. `observe` receives the coordinates with which every sample was
        added, and its rows.
        """
        recursion = copy(self.recursion_)  # replaces its arrays and never writes into them
        with one_blas_thread():
            online = self.form == "one_pass"
            if not online:
                for rows in self._blocks(X):
                    phi = recursion.extend(X[rows], self.nu, self.max_centers)
                    if self.form == "thesis":
                        recursion.add(phi, None)  # P holds the samples, alpha is still zero
            for rows in self._blocks(X):
                block = X[rows]
                phi = recursion.extend(block, self.nu, self.max_centers) if online else recursion.coordinates(block)
                recursion.add(phi, targets[rows])
                if observe is not None:
                    observe(phi, rows)
        alpha = recursion.dual_weights(recursion.weights())
        bias = alpha.sum(axis=0) + recursion.bias()
        self._keep_expansion(recursion.kernel.at(recursion.indices_), recursion.centers_, alpha, bias)
        self.recursion_ = recursion
        self.center_indices_ = recursion.indices_
        self.dual_coef_, self.intercept_ = np.ascontiguousarray(alpha), bias

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        """Return outputs in the float type of X, summed in float64: a small nu gives large weights that cancel."""
        return super()._outputs(X.astype(np.float64, copy=False)).astype(X.dtype, copy=False)

    def _blocks(self, X: np.ndarray) -> Iterator[slice]:
        for start in range(0, X.shape[0], self.block_size):
            yield slice(start, min(start + self.block_size, X.shape[0]))

    def _as_before(self, X: np.ndarray) -> np.ndarray:
        """Convert to the float type of the earlier samples, which is that of the centers."""
        return X.astype(self.recursion_.centers_.dtype, copy=False)


@estimator
class KRLSRegressor(_RecursiveLearner, KernelRegressor):
    """Kernel recursive least squares with a ridge: a dictionary of independent samples, and weights fitted to all
    samples.

    A sample joins the dictionary if its image in feature space is further than nu (squared) from the span of the
    entries (3.94). Other samples are not kept: memory is O(m^2) plus a block of samples, for any length of the stream.
    The kernel is k + 1 (3.92). With a penalty there is a second, unpenalized bias: a constant added to the targets is
    added to the outputs.

    `penalty=0` is the source's recursion, and the bias is that of the kernel alone. A constant then lies in the span of
    the dictionary only approximately. Center targets first if their mean is large relative to their standard deviation.
    Triangular factors replace the source's inverses (see `KernelRecursion`), so a small nu costs no accuracy.

    Parameters
    ----------
    penalty : float
        lambda of a penalty lambda alpha'K alpha, the squared norm in feature space, on the summed squared error; K is
        the matrix of k + 1 on the dictionary. 0 is plain least squares, which overfits noise once the dictionary is
        large. The units are those of k(x, x): the default is for kernels with k(x, x) = 1. A stream keeps its first
        penalty. The table gives R2 over five folds, drawn twice, on standardized features with the other defaults
        (`SVR` on standardized targets):

        =====================  =====  =====  =====  =====  =====  =====
        data                   0      0.01   0.1    0.3    1      SVR()
        =====================  =====  =====  =====  =====  =====  =====
        diabetes               -0.41  0.23   0.43   0.46   0.49   0.46
        abalone                0.56   0.56   0.57   0.57   0.57   0.55
        boston                 0.86   0.88   0.87   0.85   0.82   0.82
        friedman1, 200, 1.0    0.84   0.84   0.80   0.75   0.69   0.74
        friedman2, 500, 10     1.00   1.00   1.00   0.99   0.98   0.99
        friedman2, 500, 125    0.87   0.89   0.89   0.89   0.89   0.89
        friedman3, 200, 0.1    0.76   0.81   0.80   0.76   0.71   0.71
        =====================  =====  =====  =====  =====  =====  =====

        For simulated data, the name gives the number of samples and the standard deviation of the noise.

    See Also
    --------
    OROLSRegressor : chooses centers by the targets; needs all data at once.
    """

    _free_bias: ClassVar[bool] = True

    def _fit_targets(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None) -> None:
        self._begin(X, targets.shape[1])
        self._learn(X, targets)

    @available_if_streaming(_check_streaming)
    def partial_fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Update the model with further samples; any division of a stream gives the model of `fit` on all of it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Converted to the float type of the first samples.

        Raises
        ------
        ValueError
            If shapes differ from those of the earlier samples.
        AttributeError
            If `form` is not "one_pass", or the kernel is precomputed.
        """
        self._validate_params()
        if hasattr(self, "recursion_"):
            n_outputs, dtype = self.recursion_.projected_targets_.shape[1], self.recursion_.centers_.dtype
            X, targets = self._checked_stream(X, y, n_outputs, dtype)
        else:
            X, targets = self._checked_stream(X, y, None)
            self._begin_stream(X, targets.shape[1])
        self._learn(self._as_before(X), targets)
        return self


@estimator
class KRLSClassifier(_RecursiveLearner, OneVsRestClassifier):
    """Kernel recursive least squares as a classifier, with one output per class against the rest and a shared
    dictionary.

    Parameters
    ----------
    penalty : float
        lambda of a penalty lambda alpha'K alpha, as in `KRLSRegressor`, but the bias is that of the kernel alone. With
        the other defaults, 0.1 and 0 were compared on fourteen sets: the two-class benchmarks except titanic, ten
        partitions of each, and three times 2000 samples of optdigits and satimage. 0.1 makes fewer errors on eight sets
        by more than two standard errors of the difference, such as 10.6 instead of 14.2 % on waveform. It makes more on
        banana (12.0 against 11.6), image (5.8 against 5.1) and satimage (13.2 against 11.9), where 0.01 has almost no
        cost. Posteriors improve most: the log loss on waveform is 0.95 with 0.1 and 5.1 with 0.
    posterior : {"auto", "gaussian", "platt", "multinomial"}
        Posterior model of the outputs (`discriminants.posteriors.output_models`). "gaussian" computes the means and
        variances of the outputs over all samples seen exactly from moments of the coordinates, also in `partial_fit`.
        It stores an m x m matrix for each class. The other models need all outputs at once and are supported only by
        `fit`. "auto" is "multinomial" after `fit`, and "gaussian" after `partial_fit`; it also stores the moments.

    Attributes
    ----------
    posterior_ : fitted output model
        A class without samples so far has posterior 0.
    moments_ : ClassMoments
        Moments from which the Gaussian output model is computed.

    See Also
    --------
    OROLSClassifier : chooses centers by the targets; needs all data at once.
    """

    _free_bias: ClassVar[bool] = False

    posterior: str = parameter({"auto", *POSTERIORS}, default="auto")

    def _fit_targets(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None) -> None:
        self._begin(X, targets.shape[1])
        self._learn_classes(X, targets)

    def _calibrate(self, X: np.ndarray, codes: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> None:
        if self.posterior != "gaussian":
            super()._calibrate(X, codes, targets, weight)

    @available_if_streaming(_check_streaming)
    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: np.ndarray | None = None) -> Self:
        """Update the model with further samples; any division of a stream gives the outputs of `fit` on all of it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Converted to the float type of the first samples.

        Raises
        ------
        ValueError
            If the number of features differs from before, a label is not among the classes, or `classes` is missing or
            different.
        AttributeError
            If `form` is not "one_pass", `posterior` is "platt" or "multinomial", or the kernel is precomputed.
        """
        self._validate_params()
        first = not hasattr(self, "recursion_")
        if not first and not hasattr(self, "moments_"):
            raise ValueError(
                "partial_fit cannot continue a fit with posterior = 'platt' or 'multinomial'. Use a new estimator"
            )
        known = announced_classes(classes, None if first else self.classes_)
        X, y = checked_samples(self, X, y, reset=first)
        targets = one_vs_rest_targets(codes_among(known, y), known.shape[0])
        if first:
            self._begin_stream(X, targets.shape[1])
        self.classes_ = known
        self._learn_classes(self._as_before(X), targets)
        return self

    def _begin(self, X: np.ndarray, n_outputs: int) -> None:
        super()._begin(X, n_outputs)
        if self.posterior in ("auto", "gaussian"):
            self.moments_ = ClassMoments().start(max(2, n_outputs))
        elif hasattr(self, "moments_"):
            del self.moments_

    def _learn_classes(self, X: np.ndarray, targets: np.ndarray) -> None:
        if not hasattr(self, "moments_"):
            self._learn(X, targets)
            return
        moments, codes = self.moments_.copied(), winners(targets)
        self._learn(X, targets, lambda phi, rows: moments.add(phi, codes[rows]))
        self.moments_ = moments
        unit_weights = unit_length_outputs(self.recursion_.weights(), self.dual_coef_)
        self.posterior_ = self.moments_.output_model(unit_weights)
