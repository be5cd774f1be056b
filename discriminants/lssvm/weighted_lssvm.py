"""Robust least-squares support vector regression (Suykens et al. 2002, section 5.2)."""

from typing import Any

import numpy as np

from discriminants.lssvm.lssvm import Group, LSSVMRegressor
from discriminants.lssvm.robust_weights import LOSSES, robust_weights
from discriminants.util.estimator import COUNT, estimator, parameter

_SETTLED = 1e-3  # largest change of a weight at which reweighting ends


@estimator
class WeightedLSSVMRegressor(LSSVMRegressor):
    """`LSSVMRegressor` refitted with lower weights for samples with large residuals.

    The residuals of the unweighted machine, in units of a robust scale, determine the sample weights (Suykens et al.
    2002, 5.10-5.15). One round is the weighted machine of the source; more rounds approach the minimum of the loss
    (iteratively reweighted least squares). The method assumes symmetric errors and a suitable penalty, because the
    residuals of an oversmoothed curve are not noise. A round takes one factorisation for every target.

    Parameters
    ----------
    regularization
        "auto" chooses again in every round with the weights of the round, so that outliers do not count. A list is
        searched once, without weights.
    loss : {"cut", "huber", "hampel", "tukey", "andrews", "logistic"} or callable
        Weight of a sample whose residual is t robust scales. "cut" is the source's: 1 up to 2.5 and almost 0 from 3.
        The others follow the losses of these names (`discriminants.lssvm.robust_weights`). Huber's decreases most
        slowly; it and "logistic" have a single minimum. A function takes residuals t (n_samples,) and returns weights,
        L'(t) / t of a loss L, at most 1 (section 3.6).
    max_reweightings : int
        Maximum number of rounds; they stop when no weight changes by 0.001.

    Attributes
    ----------
    robust_weights_ : ndarray of the shape of y
        1e-4 to 1, multiplied by the sample weight if given; 1 for samples of weight zero.
    leave_one_out_residuals_
        Leave-one-out residuals with fixed weights.

    See Also
    --------
    RobustKFDClassifier : absolute and Huber's losses for classes.
    """

    loss: Any = parameter(set(LOSSES), callable, default="cut")
    max_reweightings: int = parameter(COUNT, default=1)

    def _fit_weighted(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> np.ndarray | None:
        left_out = super()._fit_weighted(X, targets, weight)
        kernel, criterion = self._resolved_kernel(X, weight), self.criterion_
        penalties = self._penalties() and [self.regularization_]
        weight = np.ones(X.shape[0]) if weight is None else weight
        rows = np.flatnonzero(weight)
        own = weight[rows]
        robust = np.ones((rows.shape[0], targets.shape[1]))
        for _ in range(self.max_reweightings):
            residuals = targets[rows] - self._outputs(X[rows])
            before, robust = robust, np.stack([robust_weights(e, self.loss, own) for e in residuals.T], axis=1)
            if np.abs(robust - before).max() < _SETTLED:
                break
            groups = [Group(rows, np.array([s]), own * robust[:, s]) for s in range(targets.shape[1])]
            found = self._fit_groups(X, targets, groups, kernel, penalties)
            if left_out is not None and found is not None:
                left_out[rows] = found[rows]
        if penalties:
            self.criterion_ = criterion
        others = np.flatnonzero(weight == 0)
        if left_out is not None and others.size:
            left_out[others] = targets[others] - self._outputs(X[others])
        weights = np.ones(targets.shape)
        weights[rows] = robust
        self.robust_weights_ = weights[:, 0] if self._one_column else weights
        return left_out
