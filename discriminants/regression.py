"""What the least-squares regressors share: one output a target column."""

from typing import Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import validate_data

from discriminants.expansion import FLOATS, KernelExpansion


class KernelRegressor(MultiOutputMixin, RegressorMixin, KernelExpansion):
    """Base of the regressors: a subclass gives `_fit_targets(X, targets)`, which stores the expansion."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn the outputs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)

        Raises
        ------
        ValueError
            For NaN or infinite input, wrong shapes, or parameters out of range.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=FLOATS, order="C", multi_output=True, y_numeric=True)
        self._one_column = y.ndim == 1
        self._fit_targets(X, y[:, None] if self._one_column else y)
        return self

    def _fit_targets(self, X: np.ndarray, targets: np.ndarray) -> None:
        """Learn to give `targets` (n_samples, n_outputs) for the checked X."""
        raise NotImplementedError

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Outputs, shaped like the y of `fit`: (n_samples,) or (n_samples, n_outputs)."""
        outputs = self._outputs(self._checked(X))
        return outputs[:, 0] if self._one_column else outputs
