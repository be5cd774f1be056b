"""Least-squares support vector regression that outliers cannot turn (Suykens et al. 2002, section 5.2)."""

import numpy as np

from discriminants.lssvm.lssvm import Group, LSSVMRegressor
from discriminants.lssvm.robust_weights import LOSSES, robust_weights
from discriminants.util.estimator import COUNT, estimator, parameter

_SETTLED = 1e-3  # largest change of a weight at which reweighting ends


@estimator
class WeightedLSSVMRegressor(LSSVMRegressor):
    """`LSSVMRegressor` fitted again with less weight on the samples that it came to lie far from.

    The residuals of the plain machine, in units of a robust scale, say how much each sample weighs (Suykens et al.
    2002, 5.10-5.15); one round is the weighted machine of the source, more rounds go towards the minimum of the loss
    (iteratively reweighted least squares). Errors are taken to be symmetric about the curve, and the penalty to be good
    already, for the residuals of too smooth a curve are no noise. A round takes a factorisation for every target.

    Parameters
    ----------
    regularization
        "auto" chooses anew in every round, by the weights of the round, so that samples far off have no say; of a list
        the choice falls without weights, and stays.
    loss : {"cut", "huber", "hampel", "tukey"}
        What a sample weighs whose residual is t robust scales: all up to 2.5 and nothing from 3 on, the source's; or by
        the losses of these names (`discriminants.lssvm.robust_weights`). Huber's falls most slowly and has one minimum.
    max_reweightings : int
        Rounds at most; they end when no weight changes by 0.001.

    Attributes
    ----------
    robust_weights_ : ndarray of the shape of y
        1e-4 to 1, to be multiplied by the sample weight, if there is one; 1 for samples of weight zero.
    leave_one_out_residuals_
        Leave-one-out with the weights as they are.

    See Also
    --------
    RobustKFDClassifier : absolute and Huber's losses for classes.
    """

    loss: str = parameter(set(LOSSES), default="cut")
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
