"""Sparse least-squares support vector machines by pruning samples (Suykens et al. 2002, section 3.7)."""

from numbers import Real
from typing import Any, Self

import numpy as np
from scipy.stats import binom, norm
from sklearn.base import clone
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_sample_weight

from discriminants.kernels import Kernel
from discriminants.lssvm.lssvm import LSSVM, LSSVMClassifier, LSSVMRegressor
from discriminants.multiclass.one_vs_rest import winners
from discriminants.util.estimator import SHARE, estimator, field, parameter

_OUTLIER = (5.0 / norm.ppf(0.75)) ** 2  # times the median square: five standard deviations of normal residuals


@estimator
class _Pruned(LSSVM):
    """Pruning loop of classifier and regressor; `super().fit` fits the full machine.

    Parameters
    ----------
    sigma
        "scale" is computed from all samples.
    regularization
        A list is searched once, with all samples, and again by `retune`.
    share : float
        Fraction of the remaining samples to remove per round: those with the smallest |alpha|, relative to the largest
        of each output.
    retune : bool
        When the error rises, choose the penalty again for the remaining samples, with the same width and with one
        twice as small or large, and go on if that helps (step 4 of the source's algorithm).

    Attributes
    ----------
    support_ : ndarray of int of shape (m,)
        Rows of the samples that are centers.
    """

    share: float = parameter(SHARE, default=0.05)
    significance: float = parameter(Interval(Real, 0, 0.5, closed="neither"), default=0.05)
    retune: bool = parameter("boolean", default=False)
    solver: str = field(default="direct", init=False)
    tol: float = field(default=1e-6, init=False)  # for conjugate gradients, which have no leave-one-out residuals
    _first_kernel: Kernel | None = field(init=False)
    _first_penalty: float | None = field(init=False)

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Fit the full machine, then machines on fewer and fewer samples.

        Parameters
        ----------
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for regression
        sample_weight : array-like of shape (n_samples,), optional
            v >= 0, weights of the fits; the test counts every sample of positive weight once.

        Raises
        ------
        ValueError
            As the full machine.
        """
        self._first_kernel, self._first_penalty = None, None
        super().fit(X, y, sample_weight)
        self._first_penalty, criterion = self.regularization_, self.criterion_
        tuned = self._first_kernel, self._first_penalty
        losses = self._losses(y)
        weight = np.ones(losses.shape[0])
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, losses, dtype=np.float64)
        present = np.flatnonzero(weight)
        reference, kept, passed = losses[present], present, present
        sizes, errors = [present.shape[0]], [float(reference.mean())]
        while self._can_do_with(y, fewer := self._without_least(kept)):
            super().fit(X, y, _only(weight, fewer))
            kept, losses = fewer, self._losses(y)[present]
            if self.retune and self._worse(losses, reference):
                losses = self._tune(X, y, _only(weight, kept), present)
            if self._worse(losses, reference):
                break
            passed, tuned = kept, (self._first_kernel, self._first_penalty)
            sizes.append(kept.shape[0])
            errors.append(float(losses.mean()))
        if passed is not kept:
            self._first_kernel, self._first_penalty = tuned
            super().fit(X, y, _only(weight, passed))
        self.criterion_ = criterion
        self.support_, self.path_sizes_, self.path_errors_ = passed, np.array(sizes), np.array(errors)
        del self._first_kernel, self._first_penalty
        return self

    def _tune(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray, present: np.ndarray) -> np.ndarray:
        """Fit with the width of least mean loss and a new penalty, and return the losses of the samples `present`."""
        found = []
        for kernel in _with_other_widths(self._first_kernel):
            self._first_kernel, self._first_penalty = kernel, None
            super().fit(X, y, weight)
            found.append((float(self._losses(y)[present].mean()), kernel, self.regularization_))
        _, self._first_kernel, self._first_penalty = min(found, key=lambda each: each[0])
        super().fit(X, y, weight)
        return self._losses(y)[present]

    def _resolved_kernel(self, X: np.ndarray, weight: np.ndarray | None = None) -> Kernel:
        """Return the kernel with the width computed from all samples."""
        if self._first_kernel is None:
            self._first_kernel = super()._resolved_kernel(X, weight)
        return self._first_kernel

    def _penalties(self) -> list[float]:
        """Return the penalty chosen with all samples."""
        return super()._penalties() if self._first_penalty is None else [self._first_penalty]

    def _without_least(self, kept: np.ndarray) -> np.ndarray:
        """Return the rows without the given share, at least one, of smallest |alpha|, the largest over the outputs."""
        alpha = np.abs(self.dual_coef_).astype(np.float64)
        matters = (alpha / np.maximum(alpha.max(axis=0), np.finfo(float).tiny)).max(axis=1)
        n_left_out = max(1, round(self.share * kept.shape[0]))
        return np.sort(kept[np.argsort(matters, kind="stable")[n_left_out:]])

    def _losses(self, y: np.ndarray) -> np.ndarray:
        """Compute the losses of every sample by a machine that was not trained on it."""
        raise NotImplementedError

    def _can_do_with(self, y: np.ndarray, fewer: np.ndarray) -> bool:
        """Return whether a machine can be trained on these samples alone."""
        return fewer.shape[0] >= 2

    def _worse(self, losses: np.ndarray, reference: np.ndarray) -> bool:
        """Return whether losses are significantly above those of the full machine."""
        raise NotImplementedError


def _only(weight: np.ndarray, rows: np.ndarray) -> np.ndarray:
    found = np.zeros_like(weight)
    found[rows] = weight[rows]
    return found


def _with_other_widths(kernel: Any) -> list[Any]:
    width = kernel.get_params().get("sigma")
    if not isinstance(width, Real):
        return [kernel]
    return [kernel, *(clone(kernel).set_params(sigma=factor * width) for factor in (0.5, 2.0))]


@estimator
class PrunedLSSVMRegressor(_Pruned, LSSVMRegressor):
    """`LSSVMRegressor` pruned to fewer samples while the prediction error does not rise.

    Each round removes the least important samples and refits the machine (Suykens et al. 2002, section 3.7). The error
    is measured on all samples by machines that were not trained on them: leave-one-out residuals in closed form for the
    remaining samples, ordinary residuals for the removed ones. Pruning stops when the mean square is significantly
    above that of the full machine, and the previous machine is kept. Squares above 55 times their median, those of
    outliers, are set to that value. Structure that only removed samples show is lost. To explain all samples by few
    centers, use `OROLSRegressor`.

    Time is about 1 / (3 share) full fits, 7 for the source's 5 %.

    Parameters
    ----------
    significance : float
        Pruning stops at a rise with this probability, for a normal variable with the standard error of the full
        machine's mean: 0.05 is 1.64 standard errors. Smaller values prune further. (A paired test would stop at once,
        since the squares rise slightly with every removed sample.)

    Attributes
    ----------
    path_sizes_, path_errors_ : ndarray of shape (n_rounds,)
        Numbers of samples of the accepted machines, and their mean squared error on all samples.

    See Also
    --------
    OROLSRegressor : least squares with few centers.
    """

    def _losses(self, y: np.ndarray) -> np.ndarray:
        residuals: Any = self.leave_one_out_residuals_
        return residuals**2 if self._one_column else (residuals**2).sum(axis=1)

    def _worse(self, losses: np.ndarray, reference: np.ndarray) -> bool:
        # An outlier would raise the standard error until no rise is significant.
        unit = _OUTLIER * float(np.median(reference)) or float(reference.max()) or 1.0
        own = np.minimum(reference / unit, 1.0)
        rise = float(np.minimum(losses / unit, 1.0).mean() - own.mean())
        return rise > norm.isf(self.significance) * float(own.std()) / np.sqrt(own.shape[0])


@estimator
class PrunedLSSVMClassifier(_Pruned, LSSVMClassifier):
    """`LSSVMClassifier` pruned to fewer samples while the classification error does not rise.

    As `PrunedLSSVMRegressor`, with the errors on all samples by machines that were not trained on them. The test is the
    one-sided sign test on the samples that only one of the two machines gets wrong (McNemar's, exact), with level
    `significance`. All tasks share the samples; `PairwiseClassifier(PrunedLSSVMClassifier())` prunes each pair of
    classes separately, as the source does (Suykens et al. 2002, section 3.7).

    Parameters
    ----------
    calibrate_on : {"training", "leave_one_out"}
    significance : float
        Level of the sign test.

    Attributes
    ----------
    path_sizes_ : ndarray of shape (n_rounds,)
        Numbers of samples of the accepted machines.
    path_errors_ : ndarray of shape (n_rounds,)
        Error rates on all samples.

    See Also
    --------
    OROLSClassifier : least squares with few centers.

    Examples
    --------
    >>> PrunedLSSVMClassifier().fit(X[::5], y[::5]).predict(X[:3])
    array([0, 0, 0])
    """

    calibrate_on: str = parameter({"training", "leave_one_out"}, default="training")

    def _losses(self, y: np.ndarray) -> np.ndarray:
        outputs: Any = self.leave_one_out_outputs_
        return (self.classes_[winners(self._class_scores(outputs))] != np.asarray(y).ravel()).astype(np.float64)

    def _can_do_with(self, y: np.ndarray, fewer: np.ndarray) -> bool:
        """Return whether every class has at least two samples."""
        _, counts = np.unique(np.asarray(y).ravel()[fewer], return_counts=True)
        return bool(counts.shape[0] == self.classes_.shape[0] and counts.min() >= 2)

    def _worse(self, losses: np.ndarray, reference: np.ndarray) -> bool:
        worse, better = int((losses > reference).sum()), int((losses < reference).sum())
        return bool(binom.sf(worse - 1, worse + better, 0.5) < self.significance)
