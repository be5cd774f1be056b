"""Base of the least-squares regressors, with one output per target column."""

from typing import ClassVar, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from discriminants.util.estimator import estimator
from discriminants.util.expansion import KernelExpansion
from discriminants.util.inputs import checked_samples
from discriminants.util.weights import weights_of, with_positive_weight

_MAX_TARGET = {np.dtype(np.float64): 1e150, np.dtype(np.float32): 1e30}  # sums of squares and weights stay finite


@estimator
class KernelRegressor(MultiOutputMixin, RegressorMixin, KernelExpansion):
    """Base of the regressors; a subclass implements `_fit_targets(X, targets)`, which stores the expansion."""

    _takes_weights: ClassVar[bool] = False  # whether `_fit_targets` uses weights; otherwise it gets None

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Fit the outputs.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)

        Raises
        ------
        ValueError
            For targets that are not numbers, or whose squares exceed the float type of X; or weights
            that the learner does not support.
        """
        self._validate_params()
        X, y = checked_samples(self, X, y, multi_output=True, y_numeric=True)
        X, y, weight = with_positive_weight(self, X, y, weights_of(self, X, y, sample_weight))
        self._one_column = y.ndim == 1
        self._fit_targets(X, checked_targets(y, X.dtype), weight)
        return self

    def _fit_targets(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Fit the expansion to `targets` (n_samples, n_outputs) for the checked X, with weights if they are given."""
        raise NotImplementedError

    def _checked_stream(
        self, X: np.ndarray, y: np.ndarray, n_outputs: int | None, dtype: np.dtype | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return checked data of a `partial_fit`; `n_outputs` and `dtype` are earlier ones, None in the first call."""
        first = n_outputs is None
        X, y = checked_samples(self, X, y, multi_output=True, y_numeric=True, reset=first)
        targets = checked_targets(y, X.dtype if dtype is None else dtype)
        if first:
            self._one_column = y.ndim == 1
        elif (y.ndim == 1) != self._one_column or targets.shape[1] != n_outputs:
            wanted = "(n_samples,)" if self._one_column else f"(n_samples, {n_outputs})"
            raise ValueError(f"y has shape {y.shape}. Expected targets of shape {wanted}, as in the first call")
        return X, targets

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return outputs with the shape of y in `fit`: (n_samples,) or (n_samples, n_outputs)."""
        outputs = self._outputs(self._checked(X))
        return outputs[:, 0] if self._one_column else outputs


def checked_targets(y: np.ndarray, dtype: np.dtype, name: str = "y") -> np.ndarray:
    """Return targets as float64 of shape (n_samples, n_outputs).

    Raises ValueError if they are not finite numbers, or too large or too small for models in float type `dtype`.
    """
    if y.dtype.kind not in "biuf":
        raise ValueError(f"y must hold numbers, got an array of type {y.dtype}")
    targets = (y[:, None] if y.ndim == 1 else y).astype(np.float64, copy=False)
    largest = np.maximum(targets.max(axis=0), -targets.min(axis=0))
    if not np.isfinite(largest).all():
        raise ValueError("y contains NaN or infinity. Expected finite numbers")
    limit = _MAX_TARGET[dtype]
    if ((largest > limit) | ((largest > 0) & (largest < 1 / limit))).any():
        raise ValueError(
            f"columns of {name} have the largest absolute values {largest}. Expected 0, or {1 / limit:.0e} to "
            f"{limit:.0e} for X of type {dtype}. Scale {name}"
        )
    return targets
