"""What the least-squares regressors share: one output a target column."""

from typing import Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import validate_data

from discriminants.util.estimator import estimator
from discriminants.util.expansion import FLOATS, KernelExpansion

_MAX_TARGET = {np.dtype(np.float64): 1e150, np.dtype(np.float32): 1e30}  # sums of squares, weights stay finite


@estimator
class KernelRegressor(MultiOutputMixin, RegressorMixin, KernelExpansion):
    """Base of the regressors: a subclass gives `_fit_targets(X, targets)`, which stores the expansion."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn the outputs.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)

        Raises
        ------
        ValueError
            For targets that are no numbers or whose squares the float type of X cannot hold.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=FLOATS, order="C", multi_output=True, y_numeric=True)
        self._one_column = y.ndim == 1
        self._fit_targets(X, checked_targets(y, X.dtype))
        return self

    def _fit_targets(self, X: np.ndarray, targets: np.ndarray) -> None:
        """Learn to give `targets` (n_samples, n_outputs) for the checked X."""
        raise NotImplementedError

    def _checked_stream(
        self, X: np.ndarray, y: np.ndarray, n_outputs: int | None, dtype: np.dtype | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Samples and targets of a `partial_fit`; `n_outputs` and `dtype` are those before, None in the first call."""
        first = n_outputs is None
        X, y = validate_data(self, X, y, dtype=FLOATS, order="C", multi_output=True, y_numeric=True, reset=first)
        targets = checked_targets(y, X.dtype if dtype is None else dtype)
        if first:
            self._one_column = y.ndim == 1
        elif (y.ndim == 1) != self._one_column or targets.shape[1] != n_outputs:
            wanted = "(n_samples,)" if self._one_column else f"(n_samples, {n_outputs})"
            raise ValueError(f"y has shape {y.shape}; the samples before had targets of shape {wanted}")
        return X, targets

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Outputs, shaped like the y of `fit`: (n_samples,) or (n_samples, n_outputs)."""
        outputs = self._outputs(self._checked(X))
        return outputs[:, 0] if self._one_column else outputs


def checked_targets(y: np.ndarray, dtype: np.dtype, name: str = "y") -> np.ndarray:
    """Targets as float64 of shape (n_samples, n_outputs).

    Raises ValueError if they are no finite numbers, or too large or too small for models in float type `dtype`.
    """
    if y.dtype.kind not in "biuf":
        raise ValueError(f"y must hold numbers, got an array of type {y.dtype}")
    targets = (y[:, None] if y.ndim == 1 else y).astype(np.float64, copy=False)
    largest = np.maximum(targets.max(axis=0), -targets.min(axis=0))
    if not np.isfinite(largest).all():
        raise ValueError("y holds missing values or values that are not finite")
    limit = _MAX_TARGET[dtype]
    if ((largest > limit) | ((largest > 0) & (largest < 1 / limit))).any():
        raise ValueError(
            f"{name} has columns whose largest absolute values are {largest}; with X of type {dtype} they must lie "
            f"between {1 / limit:.0e} and {limit:.0e} (or be 0): scale {name}"
        )
    return targets
