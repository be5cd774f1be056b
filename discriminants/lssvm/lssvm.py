"""Least-squares support vector machines (Suykens et al. 2002): every sample a center, one linear system."""

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_sample_weight

from discriminants.kernels import Kernel, PrecomputedKernel, make_kernel
from discriminants.linear_systems.kernel_conjugate_gradients import kernel_conjugate_gradients
from discriminants.linear_systems.kernel_values import (
    check_some_columns,
    check_symmetric,
    check_values,
    kernel_matrix,
    memory_of_whole_matrix,
    one_column_a_sample,
)
from discriminants.linear_systems.penalty_choice import (
    CRITERIA,
    expected_squares,
    part_to_choose_on,
    usual_penalties,
)
from discriminants.linear_systems.weighted_ridge import WeightedRidge
from discriminants.multiclass.labels import class_codes
from discriminants.multiclass.output_codes import class_scores, output_code
from discriminants.multiclass.thresholded import ThresholdedClassifier
from discriminants.util.estimator import POSITIVE, SHARE, estimator, field, parameter
from discriminants.util.expansion import KernelExpansion
from discriminants.util.inputs import checked_samples
from discriminants.util.regression import KernelRegressor, checked_targets
from discriminants.util.weights import weights_of


def term_degrees(unpenalized: Any, n_features: int) -> np.ndarray:
    """Return the highest power of each feature, int (n_features,), from one number or one for each feature."""
    degrees = np.asarray(unpenalized)
    if degrees.dtype.kind not in "iu" or degrees.shape not in ((), (n_features,)) or (degrees < 0).any():
        raise ValueError(
            f"unpenalized = {unpenalized!r}. Expected a degree of 0 or more, or one for each of {n_features} features"
        )
    return np.broadcast_to(degrees, (n_features,))


def polynomial_terms(X: np.ndarray, degrees: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return the powers of the standardized features, from 1 to the degree of each, float64 (n_samples, n_terms).

    `scale` (2, n_features) has the mean and the deviation of each feature.
    """
    Z = (X - scale[0]) / scale[1]
    powers = [Z[:, j] ** power for j, degree in enumerate(degrees) for power in range(1, degree + 1)]
    return np.stack(powers, axis=1).astype(np.float64) if powers else np.empty((X.shape[0], 0))


_WANTED_BY = "a least-squares support vector machine"


class Group(NamedTuple):
    """Targets with the same samples and weights, which share one factorisation."""

    rows: np.ndarray  # int (n_rows,): of the samples, ascending
    columns: np.ndarray  # int (n_columns,): of the targets
    weight: np.ndarray | None = None  # (n_rows,) or None: of the samples, positive; None is one for each


@estimator
class LSSVM(KernelExpansion):
    """Base: min sum_i v_i (y_i - f(x_i))^2 + mu |f|^2 for every target, with all its samples as centers.

    Parameters
    ----------
    kernel
        Symmetric and positive semidefinite.
    sigma : float or "scale"
        Width of a kernel given by name, in the units of X. The source's Gaussian exp(-|x - z|^2 / s^2) is the one of
        width sigma = s / sqrt(2).
    regularization : "auto", float or array-like of float
        mu > 0, the inverse of gamma in the source; larger is smoother. Errors are summed, so the same mu has less
        effect with more samples. A list is searched for the smallest `choose_by`. "auto" searches 17 values at the
        kernel's scale (`linear_systems.penalty_choice.usual_penalties`) on at most 2000 samples, in about a second and
        200 MB; equal samples are left out together.
    choose_by : {"leave_one_out", "gcv"}
        Criterion: the mean square of the leave-one-out residuals, or generalized cross-validation.
    solver : {"direct", "conjugate_gradient"}
        One factorisation; or conjugate gradients, which evaluate the kernel in blocks of rows and hold no matrix
        (`linear_systems.kernel_conjugate_gradients`). The second takes one `regularization` and has no leave-one-out
        residuals.
    tol : float
        Relative residual at which conjugate gradients stop, in the norm of the preconditioner.

    Attributes
    ----------
    regularization_ : float
        The penalty used.
    criterion_ : ndarray of shape (n_regularizations,) or None
        Estimated mean squared error on a new sample for each penalty, averaged over the targets.
    basis_centers_ : ndarray of shape (m, n_features)
        The samples with nonzero weight.
    """

    _sparse_inputs: ClassVar[bool] = True
    kernel: Any = "gaussian"
    sigma: Any = "scale"
    regularization: Any = parameter(POSITIVE, "array-like", {"auto"}, default="auto")
    choose_by: str = parameter(set(CRITERIA), default="leave_one_out")
    solver: str = parameter({"direct", "conjugate_gradient"}, default="direct")
    tol: float = parameter(SHARE, default=1e-6)
    regularization_: float = field(init=False)
    criterion_: np.ndarray | None = field(init=False)

    def _fit_groups(
        self, X: np.ndarray, targets: np.ndarray, groups: list[Group], kernel: Kernel, penalties: list[float]
    ) -> np.ndarray | None:
        """Store the expansion; the direct solver returns leave-one-out residuals, 0 outside the groups."""
        weights, bias = np.zeros(targets.shape), np.empty(targets.shape[1])
        terms = self._terms(X)
        coef = np.zeros((terms.shape[1], targets.shape[1]))
        left_out = None
        if self.solver == "direct":
            left_out = np.zeros(targets.shape)
            with memory_of_whole_matrix(X.shape[0]):
                K = kernel_matrix(kernel, X, X)
                check_values(K)
                check_symmetric(K, _WANTED_BY)
                self._choose(partial(_among, K), X, targets, groups, penalties)
                for group in groups:
                    cell = np.ix_(group.rows, group.columns)
                    own = _among(K, group.rows)
                    if own is K and group is not groups[-1]:  # the last may overwrite the matrix by its factor
                        own = K.copy()
                    solution = WeightedRidge(own, targets[cell], self.regularization_, group.weight, terms[group.rows])
                    weights[cell], bias[group.columns] = solution.alpha, solution.bias
                    coef[:, group.columns] = solution.coef
                    left_out[cell] = solution.leave_one_out_residuals()
        else:
            check_some_columns(kernel, X, _WANTED_BY)
            self._choose(lambda rows: kernel_matrix(kernel.at(rows), X[rows], X[rows]), X, targets, groups, penalties)
            for group in groups:
                cell = np.ix_(group.rows, group.columns)
                weights[cell], bias[group.columns] = self._iterated(kernel, X, targets[cell], group)
        kept = np.unique(np.concatenate([group.rows for group in groups]))
        self._keep_expansion(kernel.at(kept), X[kept], weights[kept], bias)
        self._keep_terms(coef)
        return left_out

    def _terms(self, X: np.ndarray) -> np.ndarray:
        """Return functions without a penalty in addition to the bias, (n_samples, n_terms)."""
        return np.empty((X.shape[0], 0))

    def _keep_terms(self, coef: np.ndarray) -> None:
        """Store the coefficients (n_terms, n_outputs) of `_terms`."""

    def _choose(
        self,
        kernel_values: Callable[[np.ndarray], np.ndarray],
        X: np.ndarray,
        targets: np.ndarray,
        groups: list[Group],
        penalties: list[float],
    ) -> None:
        """Choose the penalty with the smallest expected error, averaged over all pairs of a target and one of its
        samples.
        """
        if len(penalties) == 1:
            self.regularization_, self.criterion_ = penalties[0], None
            return
        squares, n_values, usual, terms = [], 0, not penalties, self._terms(X)
        weights = np.concatenate([np.ones(1) if group.weight is None else group.weight for group in groups])
        for group in groups:
            rows, own, weight = group.rows, targets[np.ix_(group.rows, group.columns)], group.weight
            if terms.shape[1] and weight is None:
                weight = np.ones(rows.shape[0])
            if usual:
                rows, own, weight = part_to_choose_on(X, rows, own, weight, n_parts=len(groups))
            K = kernel_values(rows)
            if not penalties:  # at the scale of the first group, also used for the others
                penalties = usual_penalties(K, float(weights.mean()))
            errors = expected_squares(K, own, penalties, self.choose_by, weight, terms=terms[rows])
            squares.append(group.rows.shape[0] * errors)
            n_values += group.rows.shape[0] * group.columns.shape[0]
        self.criterion_ = np.sum(squares, axis=0) / n_values
        self.regularization_ = penalties[int(np.argmin(self.criterion_))]

    def _iterated(
        self, kernel: Kernel, X: np.ndarray, targets: np.ndarray, group: Group
    ) -> tuple[np.ndarray, np.ndarray]:
        found = kernel_conjugate_gradients(
            kernel.at(group.rows), X[group.rows], targets, self.regularization_, group.weight, tol=self.tol
        )
        if not found.converged:
            warnings.warn(
                f"{type(self).__name__}: conjugate gradients did not reach tol = {self.tol} in {found.n_products} "
                f"products; the relative residual is {found.residual:.2g}. Use a larger regularization",
                ConvergenceWarning,
                stacklevel=4,
            )
        return found.alpha, found.bias

    def _resolved_kernel(self, X: np.ndarray, weight: np.ndarray | None = None) -> Kernel:
        """Return the kernel of at least two samples, with one column per sample."""
        n_samples = X.shape[0] if weight is None else np.count_nonzero(weight)
        if n_samples < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two samples, got {n_samples} sample{'s' * (n_samples != 1)}"
            )
        return one_column_a_sample(make_kernel(self.kernel, self.sigma).resolved(X, weight), X, _WANTED_BY)

    def _penalties(self) -> list[float]:
        """Return the values of `regularization`, one or several; none for "auto"."""
        if isinstance(self.regularization, str):
            return []
        penalties = np.atleast_1d(np.asarray(self.regularization))
        if penalties.ndim != 1 or not penalties.size or penalties.dtype.kind not in "iuf":
            raise ValueError(f"regularization must be a number or a list of numbers, got {self.regularization!r}")
        if not (np.isfinite(penalties).all() and (penalties > 0).all()):
            raise ValueError(f"regularization must be positive and finite, got {self.regularization!r}")
        if penalties.shape[0] > 1 and self.solver != "direct":
            raise ValueError(
                f"solver = {self.solver!r} supports one regularization, got {penalties.shape[0]}. "
                "Use solver = 'direct' to choose among several"
            )
        return [float(penalty) for penalty in penalties]


def _among(K: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the kernel values among these samples: K itself if they are all."""
    return K if rows.shape[0] == K.shape[0] else K[np.ix_(rows, rows)]


@estimator
class LSSVMRegressor(LSSVM, KernelRegressor):
    """Least-squares support vector machine for regression: ridge regression in the space of a kernel with a free bias.

    Minimizes sum_i v_i (y_i - f(x_i) - b)^2 + mu |f|^2, |f| the norm in the space of the kernel (Suykens et al. 2002,
    3.28-3.32): kernel ridge regression on centered features. All targets share one factorisation, which also gives the
    leave-one-out residuals in closed form.

    Time is O(N^3), memory 16 N^2 bytes; with a list of penalties a few times as much, for any length of the list. Every
    sample is a center, so a prediction takes N kernel values.

    Parameters
    ----------
    unpenalized : int or array-like of int of shape (n_features,)
        Highest power of each feature in a polynomial without a penalty and without products of features, which is added
        to the function (kriging with a trend; Suykens et al. 2002, 3.66-3.68). The output follows it away from the
        samples. It needs the direct solver, and each of several penalties takes a factorisation of its own.

    Attributes
    ----------
    unpenalized_coef_ : ndarray of shape (n_terms, n_outputs)
        Coefficients of the powers of the first feature from 1 to its degree, then of those of the second, and so on.
    unpenalized_scale_ : ndarray of shape (2, n_features)
        Mean and deviation with which features are standardized in these powers.
    leave_one_out_residuals_ : ndarray of the shape of y, or None
        y_i - f(x_i) of the machine without sample i, float64; the ordinary residual for samples of weight zero.
    dual_coef_ : ndarray of shape (m, n_outputs)
        alpha of the source; with weights v the residual of sample i is mu alpha_i / v_i.

    See Also
    --------
    WeightedLSSVMRegressor : robust against outliers.
    OROLSRegressor : least squares with few centers.
    """

    _takes_weights: ClassVar[bool] = True
    unpenalized: Any = parameter(Interval(Integral, 0, None, closed="left"), "array-like", default=0)

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Learn the outputs.

        Parameters
        ----------
        sample_weight : array-like of shape (n_samples,), optional
            v >= 0: weight 2 counts as two equal samples, weight 0 as none. With several penalties each takes a
            factorisation of its own.

        Raises
        ------
        ValueError
            For a kernel that is not symmetric or has large negative eigenvalues.
        MemoryError
            If the direct solver finds no room for the kernel matrix.
        """
        self._validate_params()
        X, y = checked_samples(self, X, y, multi_output=True, y_numeric=True)
        self._one_column = y.ndim == 1
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        left_out = self._fit_weighted(X, checked_targets(y, X.dtype), weight)
        self.leave_one_out_residuals_ = left_out[:, 0] if left_out is not None and self._one_column else left_out
        return self

    def _fit_weighted(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> np.ndarray | None:
        """Fit the targets; the direct solver returns their leave-one-out residuals."""
        kernel = self._resolved_kernel(X, weight)
        rows = np.arange(X.shape[0]) if weight is None else np.flatnonzero(weight)
        self.unpenalized_scale_ = np.stack([np.zeros(X.shape[1]), np.ones(X.shape[1])])
        if term_degrees(self.unpenalized, X.shape[1]).any():
            if self.solver != "direct" or isinstance(kernel, PrecomputedKernel) or issparse(X):
                raise ValueError(
                    "unpenalized terms need solver = 'direct', and dense samples instead of a precomputed kernel"
                )
            deviations = X[rows].std(axis=0, dtype=np.float64)
            self.unpenalized_scale_ = np.stack([X[rows].mean(axis=0), np.where(deviations > 0, deviations, 1.0)])
        group = Group(rows, np.arange(targets.shape[1]), None if weight is None else weight[rows])
        left_out = self._fit_groups(X, targets, [group], kernel, self._penalties())
        if left_out is not None and rows.shape[0] < X.shape[0]:
            others = np.setdiff1d(np.arange(X.shape[0]), rows)
            left_out[others] = targets[others] - self._outputs(X[others])
        return left_out

    def _terms(self, X: np.ndarray) -> np.ndarray:
        degrees = term_degrees(self.unpenalized, X.shape[1])
        return polynomial_terms(X, degrees, self.unpenalized_scale_) if degrees.any() else super()._terms(X)

    def _keep_terms(self, coef: np.ndarray) -> None:
        self.unpenalized_coef_ = coef

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        """Return all outputs for checked X, shape (n_samples, n_outputs)."""
        outputs, coef = super()._outputs(X), self.unpenalized_coef_
        return (outputs + self._terms(X) @ coef).astype(outputs.dtype) if coef.shape[0] else outputs


@estimator
class LSSVMClassifier(LSSVM, ThresholdedClassifier):
    """Least-squares support vector machine: regression onto class codes +-1.

    Two classes have one output, the regression onto -1 and +1 (Suykens et al. 2002, 3.1-3.5). More classes are coded by
    several two-class tasks (section 3.2). They are decoded by the errors of the outputs against the codeword of each
    class. All tasks on the same samples share one factorisation. Only "one-vs-one" needs one for each pair, on the
    samples of the pair. With one output per class it is `KFDClassifier` with `penalty="kernel"`.

    Time is O(N^3), memory 16 N^2 bytes; with several values of `regularization` a few times as much. Every task has a
    threshold. Leave-one-out outputs need the direct solver; tasks without a sample's class use its ordinary output.

    Parameters
    ----------
    regularization
        One penalty for all tasks, chosen by the squared error against +-1, averaged over the tasks.
    coding : {"one-vs-rest", "one-vs-one", "minimum-output", "error-correcting"}
        One task per class; one per pair of classes; the bits of the class number, which needs the fewest tasks; or many
        more tasks than classes, so that some errors are corrected (`multiclass.output_codes.output_code`).
    decoding : {"loss", "hamming"}
        Choose the class with the smallest squared error over the tasks, or with the fewest lost tasks (for
        "one-vs-one", by vote). Ties are resolved by the squared error.
    calibrate_on : {"auto", "training", "leave_one_out", "held_out"}
    posterior
        Output model, fitted to the class scores of decoding "loss".
    random_state : int, RandomState or None
        Seed of the error-correcting code for more than five classes.

    Attributes
    ----------
    code_ : ndarray of int8 of shape (n_classes, n_tasks)
        Sign of each class in each task, 0 if the task does not use it.
    leave_one_out_outputs_ : ndarray of shape (n_samples, n_tasks) or None
        Output of each sample by the machine without it, float64, with the thresholds of this one. For tasks that do not
        use the sample, or weight zero, the ordinary output. Only with the direct solver.
    dual_coef_ : ndarray of shape (m, n_tasks)
        alpha of the source times +-1, for samples of nonzero weight.
    intercept_ : ndarray of shape (n_tasks,)

    See Also
    --------
    PairwiseClassifier : one-vs-one over any classifier, with posteriors by coupling.
    """

    _takes_weights: ClassVar[bool] = True
    coding: str = parameter({"one-vs-rest", "one-vs-one", "minimum-output", "error-correcting"}, default="one-vs-rest")
    decoding: str = parameter({"loss", "hamming"}, default="loss")
    calibrate_on: str = parameter({"auto", "training", "leave_one_out", "held_out"}, default="auto")
    tol: float = 1e-4
    random_state: Any = parameter("random_state", default=None)

    def _targets(self, codes: np.ndarray) -> np.ndarray:
        self.code_ = output_code(self.coding, self.classes_.shape[0], self.random_state)
        return self.code_[codes]

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Fit the outputs, then thresholds and posterior model.

        Parameters
        ----------
        sample_weight : array-like of shape (n_samples,), optional
            v >= 0: weight 2 counts as two equal samples, also for thresholds and posteriors; weight 0 as none.
            Leave-one-out removes the whole weight of a sample. With several penalties each takes its own factorisation.

        Raises
        ------
        ValueError
            For fewer than two classes of positive weight, a kernel that is not symmetric or has large negative
            eigenvalues, or options that need the direct solver.
        MemoryError
            If the direct solver finds no room for the kernel matrix.
        """
        self._validate_params()
        X, y = checked_samples(self, X, y)
        if self.calibrate_on == "leave_one_out" and self.solver != "direct":
            raise ValueError(f"calibrate_on = 'leave_one_out' needs solver = 'direct', got {self.solver!r}")
        rows = np.arange(X.shape[0])
        weight = weights_of(self, X, y, sample_weight)
        if weight is not None:
            rows = np.flatnonzero(weight)
        self.classes_, codes = class_codes(y[rows])
        own = self._targets(codes)
        targets = np.zeros((X.shape[0], own.shape[1]))
        targets[rows] = own  # zero for samples that the task does not use
        left_out = self._fit_weighted(X, targets, weight)
        if self.calibrate_on == "held_out":
            outputs = self._held_out_outputs(X, codes, targets, weight)
        elif left_out is not None and self._leaves_one_out():
            outputs = self._small_classes_kept(left_out[rows], X[rows], codes)
        else:
            outputs = self._outputs(X[rows])
        before = self.intercept_
        self._fit_calibration(outputs, codes, targets[rows], None if weight is None else weight[rows])
        self.leave_one_out_outputs_ = None if left_out is None else left_out + (self.intercept_ - before)
        return self

    def _fit_weighted(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> np.ndarray | None:
        """Fit the tasks; the direct solver returns leave-one-out outputs."""
        kernel = self._resolved_kernel(X, weight)
        left_out = self._fit_groups(X, targets, _groups(targets, weight), kernel, self._penalties())
        return None if left_out is None else np.where(targets != 0, targets - left_out, self._outputs(X))

    def _posteriors_decide(self) -> bool:
        return self.decoding == "loss" and super()._posteriors_decide()

    def _class_scores(self, outputs: np.ndarray) -> np.ndarray:
        return class_scores(outputs, self.code_, self.decoding)

    def _posterior_inputs(self, outputs: np.ndarray) -> np.ndarray:
        return class_scores(outputs, self.code_, "loss")


def _groups(targets: np.ndarray, weight: np.ndarray | None) -> list[Group]:
    """Group tasks with the same samples, those with nonzero target."""
    found: dict[bytes, list[int]] = {}
    for task, part in enumerate((targets != 0).T):
        found.setdefault(np.packbits(part).tobytes(), []).append(task)
    groups = []
    for tasks in found.values():
        rows = np.flatnonzero(targets[:, tasks[0]])
        groups.append(Group(rows, np.array(tasks), None if weight is None else weight[rows]))
    return groups
