"""Committees of machines on parts of the samples, and second layers on their outputs (Suykens et al. 2002, 6.4)."""

from typing import Any, Self

import numpy as np
from scipy.optimize import nnls
from sklearn.base import BaseEstimator, MetaEstimatorMixin, MultiOutputMixin, RegressorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted

from discriminants.lssvm.lssvm import LSSVMRegressor
from discriminants.util.estimator import COUNT, NOT_NEGATIVE, SHARE, estimator, parameter
from discriminants.util.inputs import checked_samples
from discriminants.util.regression import checked_targets
from discriminants.util.weights import weights_of

_SUM = 1e4  # weight of the condition that weights sum to one, relative to errors of about one


@estimator
class CommitteeRegressor(MultiOutputMixin, MetaEstimatorMixin, RegressorMixin, BaseEstimator):
    """Weighted sum of regressors on disjoint parts of the samples.

    The mean squared error of sum_i beta_i f_i is beta'C beta, with C_ij the mean product of the errors of members i and
    j. For weights that sum to one its minimum is 1 / 1'C^-1 1, at beta = C^-1 1 / 1'C^-1 1 (Suykens et al. 2002,
    6.27-6.35). C is measured on samples that no member is trained on. A second layer on the outputs of the members can
    replace the weights (6.36-6.38). For dense machines with O(N^3) time, m members take about 1 / m^2 of the time of
    one machine and hold 1 / m^2 of its memory at a time.

    Parameters
    ----------
    estimator : regressor, optional
        Regressor of every member; default `LSSVMRegressor()`. A penalty on summed errors, such as its `regularization`,
        has more effect with fewer samples.
    n_members : int
        Number of members, m.
    held_out : float
        Fraction of the samples held out for C or the second layer.
    weighting : {"nonnegative", "optimal", "equal"}
        Nonnegative beta, beta as above, or all 1 / m. If C is mostly noise of the targets, "nonnegative" is more
        reliable than "optimal", and "equal" more than both.
    regularization : float
        Added to the diagonal of C, in units of its mean, because C is nearly singular for similar members.
    combine : regressor, optional
        Second layer used instead of weights; predicts the targets from the outputs of all members.
    random_state : int, RandomState or None
        Seed of the random split of the samples.

    Attributes
    ----------
    estimators_ : list of regressors
    member_weights_ : ndarray of shape (n_members,)
        beta, the same for all outputs; with `combine` the weights that the second layer replaces.
    error_covariance_ : ndarray of shape (n_members, n_members)
        C, summed over the outputs.
    combine_ : regressor or None

    See Also
    --------
    sklearn.ensemble.StackingRegressor : different regressors, each on all samples.
    """

    estimator: Any = parameter(HasMethods(["fit", "predict"]), None, default=None, kw_only=False)
    n_members: int = parameter(COUNT, default=4, kw_only=False)
    held_out: float = parameter(SHARE, default=0.1)
    weighting: str = parameter({"optimal", "nonnegative", "equal"}, default="nonnegative")
    regularization: float = parameter(NOT_NEGATIVE, default=1e-3)
    combine: Any = parameter(HasMethods(["fit", "predict"]), None, default=None)
    random_state: Any = parameter("random_state", default=None)

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: None = None) -> Self:
        """Fit members and weights.

        Raises
        ------
        ValueError
            For fewer than two samples per member, or weights of samples (not supported).
        """
        self._validate_params()
        X, y = checked_samples(self, X, y, multi_output=True, y_numeric=True)
        weights_of(self, X, y, sample_weight)
        self._one_column = y.ndim == 1
        targets = checked_targets(y, X.dtype)
        order = check_random_state(self.random_state).permutation(X.shape[0])
        n_held_out = max(1, round(self.held_out * X.shape[0]))
        if X.shape[0] - n_held_out < 2 * self.n_members:
            raise ValueError(
                f"n_members = {self.n_members} and {n_held_out} held-out samples need "
                f"{2 * self.n_members + n_held_out} samples, got {X.shape[0]} samples"
            )
        aside, parts = order[:n_held_out], np.array_split(order[n_held_out:], self.n_members)
        estimator = LSSVMRegressor() if self.estimator is None else self.estimator
        self.estimators_ = [clone(estimator).fit(X[rows], y[rows]) for rows in map(np.sort, parts)]
        outputs = self._member_outputs(X[aside])
        errors = outputs - targets[aside]
        self.error_covariance_ = np.einsum("ino,jno->ij", errors, errors) / n_held_out
        self.member_weights_ = self._weights(self.error_covariance_)
        self.combine_ = None
        if self.combine is not None:
            self.combine_ = clone(self.combine).fit(_side_by_side(outputs), y[aside])
        return self

    def _weights(self, covariance: np.ndarray) -> np.ndarray:
        n = covariance.shape[0]
        size = float(np.trace(covariance)) / n
        if self.weighting == "equal" or not size > 0:
            return np.full(n, 1.0 / n)
        # by eigenvectors, for members that are the same
        values, vectors = np.linalg.eigh(covariance / size + self.regularization * np.eye(n))
        if self.weighting == "optimal":
            values = np.maximum(values, values[-1] * n * np.finfo(float).eps)
            beta = vectors @ (vectors.sum(axis=0) / values)
        else:
            root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
            beta, _ = nnls(np.vstack([root, np.full(n, _SUM)]), np.append(np.zeros(n), _SUM))
        return beta / beta.sum()

    def _member_outputs(self, X: np.ndarray) -> np.ndarray:
        """Compute member outputs, shape (n_members, n_samples, n_outputs)."""
        return np.stack([np.asarray(member.predict(X)).reshape(X.shape[0], -1) for member in self.estimators_])

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict outputs, shaped like the y of `fit`."""
        check_is_fitted(self)
        X = checked_samples(self, X, reset=False)
        members = self._member_outputs(X)
        if self.combine_ is None:
            outputs = np.tensordot(self.member_weights_.astype(members.dtype), members, axes=1)
        else:
            outputs = np.asarray(self.combine_.predict(_side_by_side(members))).reshape(X.shape[0], -1)
        return outputs[:, 0] if self._one_column else outputs


def _side_by_side(outputs: np.ndarray) -> np.ndarray:
    """Arrange member outputs (m, n_samples, n_outputs) as features (n_samples, m n_outputs)."""
    return np.concatenate(list(outputs), axis=1)
