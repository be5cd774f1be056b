"""Fixed-size least-squares support vector machines: a given number of centers, any number of samples."""

import warnings
from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval

from discriminants.fisher.class_moments import ClassMoments
from discriminants.kernels import Kernel, PrecomputedKernel
from discriminants.kernels.kernel import KernelColumns
from discriminants.linear_systems.penalty_choice import distinct_samples
from discriminants.linear_systems.ridge_sums import LeaveOneOut, RidgePath, RidgeSums
from discriminants.lssvm.error_bars import ErrorBars
from discriminants.lssvm.evidence.penalty import most_probable_of_features
from discriminants.lssvm.evidence.posterior_variance import PosteriorVariance
from discriminants.multiclass.labels import announced_classes, codes_among, one_vs_rest_targets
from discriminants.multiclass.one_vs_rest import OneVsRestClassifier
from discriminants.posteriors.output_models import POSTERIORS, unit_length_outputs
from discriminants.sparse.chosen_centers import BLOCK, ChosenCenters
from discriminants.util.estimator import COUNT, POSITIVE, estimator, field, parameter
from discriminants.util.inputs import checked_samples
from discriminants.util.partial_fit import available_if_streaming, check_streaming
from discriminants.util.sampling import are_few

_TIE = 1e-9  # relative difference of scores due to rounding
PENALTIES = np.logspace(-8, 4, 25)
_EVIDENCE = ("prior_variance_", "noise_variance_", "log_evidence_", "variance_", "_bias_variance", "_noise_known")
_STATE = ("sums_", "whitening_", "moments_", "scores_", "center_indices_", *_EVIDENCE)


def _check_streaming(learner: Any) -> None:
    fitted = hasattr(learner, "dual_coef_") and not hasattr(learner, "sums_")
    by_leaving_out = isinstance(learner.regularization, str) and learner.regularization == "leave_one_out"
    obstacles = {
        "a previous fit, which keeps no sums. Use partial_fit of a new estimator for all samples": fitted,
        "regularization = 'leave_one_out', which reads all samples twice. Use 'gcv'": by_leaving_out,
    }
    check_streaming(learner, obstacles)


@estimator
class _FixedSize(ChosenCenters):
    """Base of classifier and regressor: sums over the samples, block by block, and the choice of the penalty.

    Parameters
    ----------
    n_centers : int
        Maximum number of centers.
    centers : array-like of shape (m, n_features), optional
        Given centers; none are then chosen. With `partial_fit` the first samples alone determine the centers and the
        width "scale", so the first call should have at least n_centers samples. If centers and width are given, a
        stream can be split in any way.
    regularization : float, "auto", "gcv", "leave_one_out" or "evidence"
        mu, or the criterion that chooses it among `penalties` for all outputs together. "gcv" is generalized
        cross-validation. "leave_one_out" uses leave-one-out errors in closed form, which takes a second pass over the
        samples. "auto" is "gcv", or "leave_one_out" with fewer than ten samples per center, because generalized
        cross-validation may then choose no penalty; it leaves out equal samples together. With `partial_fit` it is
        "gcv". "evidence" maximizes the probability of each output's targets (level 2 of the Bayesian inference, 4.39),
        without candidates.
    penalties : array-like, optional
        Default: 25 values from 1e-8 to 1e4, multiplied by the variance of the samples in the kernel space if it exceeds
        1. Each takes O(m) time, or O(N m) with "leave_one_out".
    chooser
        "entropy" is the source's.
    forgetting : float
        Weight of a sample of a stream relative to the next one, for `partial_fit`: 0.99 averages over about 100
        samples, and 1 forgets nothing (section 6.2.2: adaptive signal processing).

    Attributes
    ----------
    dual_coef_ : ndarray of shape (m, n_outputs)
        float64, like the centers and the intercept.
    regularization_ : float, or ndarray of shape (n_outputs,) with "evidence"
    scores_ : ndarray of shape (n_penalties,)
        GCV or mean squared leave-one-out error, summed over the outputs; only if one of them chose the penalty.
    effective_parameters_ : float, or ndarray of shape (n_outputs,) with "evidence"
        Trace of the smoother.
    prior_variance_, noise_variance_, log_evidence_ : ndarray of shape (n_outputs,)
        With "evidence", those of `BayesianLSSVMRegressor`. The last compares widths on the same samples.
    center_indices_ : ndarray of int of shape (m,)
        Rows of the training samples (with `partial_fit`, of the first call), not in order of choice.
    sums_, whitening_
        State from which `partial_fit` continues.

    References
    ----------
    J. Suykens, T. Van Gestel, J. De Brabanter, B. De Moor, J. Vandewalle, Least Squares Support Vector Machines, 2002,
    section 6.2.
    """

    sums_: RidgeSums = field(init=False)
    whitening_: np.ndarray = field(init=False)
    regularization_: Any = field(init=False)

    n_centers: int = parameter(COUNT, default=200, kw_only=False)
    centers: Any = parameter("array-like", None, default=None)
    regularization: Any = parameter(POSITIVE, {"auto", "gcv", "leave_one_out", "evidence"}, default="auto")
    penalties: Any = parameter("array-like", None, default=None)
    forgetting: float = parameter(Interval(Real, 0, 1, closed="right"), default=1.0)

    def _validate_params(self) -> None:
        if not isinstance(self.regularization, str) and np.ndim(self.regularization):
            raise ValueError(
                f"regularization must be one number or the name of a criterion for {type(self).__name__}, got "
                f"{self.regularization!r}. Use penalties for several candidates"
            )
        super()._validate_params()

    _takes_weights: ClassVar[bool] = True

    def _fit_targets(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None) -> None:
        self._forget()
        penalties = self._penalties()
        basis = self._features(X, targets)
        path, scores = basis.path(X, targets, weight), None
        penalties = self._at_scale(penalties, path)
        if self._leaves_out(X.shape[0], basis.whitening.shape[1]):
            of_choice = path
            if self.regularization == "auto":
                distinct, targets, weight = distinct_samples(X, targets.astype(np.float64), weight)
                if distinct.shape[0] < X.shape[0]:
                    X = X[distinct]
                    of_choice = basis.path(X, targets, weight)
            errors = LeaveOneOut(of_choice, penalties)
            for rows, features in basis.blocks(X):
                errors.add(features, targets[rows], None if weight is None else weight[rows])
            scores = errors.squares / (X.shape[0] if weight is None else weight.sum())
        self._keep_solution(basis, path, penalties, scores)

    def _learn(
        self, X: np.ndarray, targets: np.ndarray, moments: ClassMoments | None = None, codes: np.ndarray | None = None
    ) -> np.ndarray:
        """Continue from the previous samples, or start; if samples are refused, the previous state stays.

        `moments` accumulate the features of the samples with class numbers `codes`, and a one for the bias. Returns the
        weights of these coordinates, (m + 1, n_outputs).
        """
        penalties = self._penalties()
        if hasattr(self, "sums_"):
            basis, sums = _Features(self.kernel_, self.basis_centers_, self.whitening_), self.sums_.copied()
        else:
            if self.centers is None and X.shape[0] < self.n_centers:
                warnings.warn(
                    f"the first call of partial_fit has {X.shape[0]} samples, fewer than n_centers = {self.n_centers}. "
                    "Use more samples in the first call, or centers",
                    stacklevel=3,
                )
            basis = self._features(X, targets)
            sums = basis.sums(targets)
        weight = None
        if self.forgetting < 1:
            weight = self.forgetting ** np.arange(X.shape[0] - 1.0, -1.0, -1.0)
            for state in (sums,) if moments is None else (sums, moments):
                state.decay(self.forgetting ** X.shape[0])
        for rows, features in basis.blocks(X):
            own = None if weight is None else weight[rows]
            sums.add(features, targets[rows], own)
            if moments is not None and codes is not None:
                moments.add(np.pad(features, ((0, 0), (0, 1)), constant_values=1.0), codes[rows], own)
        path = sums.path()
        weights = self._keep_solution(basis, path, self._at_scale(penalties, path), None)
        self.sums_, self.whitening_ = sums, basis.whitening
        return weights

    def _features(self, X: np.ndarray, targets: np.ndarray) -> "_Features":
        centers = self.centers
        if centers is not None:
            if isinstance(self.kernel, PrecomputedKernel) or self.kernel == "precomputed":
                raise ValueError(
                    "centers are not supported by a precomputed kernel, which has no points. Expected centers = None"
                )
            centers = np.asarray(centers)
            numbers = centers.dtype.kind in "biuf" and centers.ndim == 2 and centers.shape[1] == X.shape[1]
            if not (numbers and centers.shape[0] and np.isfinite(centers).all()):
                raise ValueError(
                    f"centers have shape {centers.shape} and type {centers.dtype}. "
                    f"Expected finite numbers of shape (n_centers, {X.shape[1]})"
                )
        return _Features(*self._basis(X, int(self.n_centers), targets, centers))

    def _leaves_out(self, n_samples: int, n_features: int) -> bool:
        """Return whether leave-one-out errors choose the penalty."""
        if not isinstance(self.regularization, str):
            return False
        few = self.regularization == "auto" and are_few(n_samples, n_features)
        return few or self.regularization == "leave_one_out"

    def _penalties(self) -> np.ndarray:
        """Return the candidate penalties, or the given one."""
        if not isinstance(self.regularization, str):
            return np.array([float(self.regularization)])
        try:
            penalties = np.array(PENALTIES if self.penalties is None else self.penalties, dtype=np.float64)
        except (TypeError, ValueError):
            penalties = np.empty(0)
        if penalties.ndim != 1 or not penalties.size or not ((penalties > 0) & np.isfinite(penalties)).all():
            raise ValueError(f"penalties must be positive finite numbers, got {self.penalties!r}")
        return penalties

    def _at_scale(self, penalties: np.ndarray, path: RidgePath) -> np.ndarray:
        """Scale the default penalties, which suit kernels with a sample variance of at most one."""
        if not isinstance(self.regularization, str) or self.penalties is not None:
            return penalties
        scaled: np.ndarray = penalties * max(1.0, float(path.values.sum()) / path.n_samples)
        return scaled

    def _keep_solution(
        self, basis: "_Features", path: RidgePath, penalties: np.ndarray, scores: np.ndarray | None
    ) -> np.ndarray:
        """Choose the penalty and store the expansion; return the weights of the features and, last, of the constant."""
        found = None
        if isinstance(self.regularization, str) and self.regularization == "evidence":
            found = most_probable_of_features(path)
            self.regularization_, self.prior_variance_, self.noise_variance_ = found[:3]
            self.log_evidence_ = found.log_evidence(path.n_samples)
        elif isinstance(self.regularization, str):
            self.scores_ = path.generalised_cross_validation(penalties) if scores is None else scores
            # The smallest of equal candidates: two samples contain no information on the noise.
            as_good = self.scores_ <= self.scores_.min() * (1.0 + _TIE)
            self.regularization_ = float(penalties[as_good].min())
        else:
            self.regularization_ = float(penalties[0])
        weights, bias = path.solve(self.regularization_)
        self._keep_expansion(basis.kernel, basis.centers, basis.whitening @ weights, bias)
        parameters = path.effective_parameters(np.atleast_1d(self.regularization_))
        self.effective_parameters_ = float(parameters[0]) if found is None else parameters
        return np.vstack([weights, bias])

    def _forget(self) -> None:
        for name in _STATE:
            if hasattr(self, name):
                delattr(self, name)


class _Features:
    """White features of samples, computed in blocks."""

    def __init__(self, kernel: Kernel, centers: np.ndarray, whitening: np.ndarray) -> None:
        self.kernel, self.centers, self.whitening = kernel, centers, whitening
        self._columns: KernelColumns = kernel.columns(centers, np.float64)

    def sums(self, targets: np.ndarray) -> RidgeSums:
        """Return empty sums with origins near the means."""
        if isinstance(self.kernel, PrecomputedKernel):
            origin = np.zeros(self.whitening.shape[1])
        else:
            origin = (self._columns.block(self.centers) @ self.whitening).mean(axis=0)
        return RidgeSums().start(origin, targets.mean(axis=0, dtype=np.float64))

    def path(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None) -> RidgePath:
        """Compute the penalty path of the sums over these samples."""
        sums = self.sums(targets)
        for rows, features in self.blocks(X):
            sums.add(features, targets[rows], None if weight is None else weight[rows])
        return sums.path()

    def blocks(self, X: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (rows, features) over all of X, float64."""
        for start in range(0, X.shape[0], BLOCK):
            rows = slice(start, min(start + BLOCK, X.shape[0]))
            yield rows, self._columns.block(X[rows].astype(np.float64, copy=False)) @ self.whitening


@estimator
class FixedSizeLSSVMRegressor(_FixedSize, ErrorBars):
    """The least-squares support vector machine in the primal, on the features of a fixed number of centers.

    Centers are chosen first, independently of the weights. Ridge regression with a free bias in their white features
    then uses sums over blocks of samples: |y - f|^2 + mu |w|^2, f = w'phi(x) + b. With every sample as a center this is
    the LS-SVM, and mu is 1 / gamma. Time is O(N m^2). Memory is O(m^2), a block of samples, and up to 8 bytes for each
    center and candidate while choosing.

    With `regularization="evidence"` predictions have error bars. The part of a sample outside the span of the centers
    keeps its prior variance, so the bars widen away from the centers.

    See Also
    --------
    GreedyNystroem : only the features.
    KRLSRegressor : chooses centers from a whole stream.
    """

    def _keep_solution(
        self, basis: "_Features", path: RidgePath, penalties: np.ndarray, scores: np.ndarray | None
    ) -> np.ndarray:
        weights = super()._keep_solution(basis, path, penalties, scores)
        if isinstance(self.regularization, str) and self.regularization == "evidence":
            self.variance_ = PosteriorVariance().fit_features(path, basis.whitening)
            self._bias_variance, self._noise_known = self.noise_variance_ / path.n_samples, False
        return weights

    @available_if_streaming(_check_streaming)
    def partial_fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn further samples, in O(n m^2 + m^3) time for n of them: better many at a time.

        Raises
        ------
        ValueError
            If shapes differ from those of earlier calls.
        AttributeError
            After `fit`, if leave-one-out errors chose the penalty, or if the kernel is precomputed.
        """
        self._validate_params()
        self._learn(*self._checked_stream(X, y, self.intercept_.shape[0] if hasattr(self, "sums_") else None))
        return self


@estimator
class FixedSizeLSSVMClassifier(_FixedSize, OneVsRestClassifier):
    """The least-squares support vector machine on a fixed number of centers, one output per class against the rest.

    All classes share the centers and one factorisation; the rest is as in `FixedSizeLSSVMRegressor`.

    Parameters
    ----------
    posterior : {"auto", "gaussian", "platt", "multinomial"}
        How outputs become posteriors (`discriminants.posteriors.output_models`). "auto" is "multinomial", or "gaussian"
        with `partial_fit`, which supports only that and keeps an m x m matrix per class.

    Attributes
    ----------
    posterior_ : fitted output model
        A class without samples so far has posterior 0.
    moments_ : ClassMoments
        Class moments from which `partial_fit` computes the output model.

    See Also
    --------
    OROLSClassifier : chooses centers by the targets.
    """

    moments_: ClassMoments = field(init=False)

    posterior: str = parameter({"auto", *POSTERIORS}, default="auto")

    @available_if_streaming(_check_streaming)
    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: np.ndarray | None = None) -> Self:
        """Learn further samples, in O(n m^2 + m^3) time for n of them: better many at a time.

        Raises
        ------
        ValueError
            For another number of features than before, labels that are not among the classes, or missing or different
            `classes`.
        AttributeError
            After `fit`, if `posterior` is "platt" or "multinomial", if leave-one-out errors chose the penalty, or if
            the kernel is precomputed.
        """
        self._validate_params()
        first = not hasattr(self, "sums_")
        known = announced_classes(classes, None if first else self.classes_)
        X, y = checked_samples(self, X, y, reset=first)
        codes = codes_among(known, y)
        targets = one_vs_rest_targets(codes, known.shape[0])
        moments = ClassMoments().start(known.shape[0]) if first else self.moments_.copied()
        weights = self._learn(X, targets, moments, codes)
        self.classes_, self.moments_ = known, moments
        self.posterior_ = moments.output_model(unit_length_outputs(weights, self.dual_coef_))
        return self
