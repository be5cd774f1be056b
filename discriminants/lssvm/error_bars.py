"""Regressors whose predictions have error bars."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from discriminants.kernels import PrecomputedKernel
from discriminants.lssvm.evidence.posterior_variance import PosteriorVariance
from discriminants.util.estimator import estimator, field
from discriminants.util.regression import KernelRegressor


@estimator
class ErrorBars(KernelRegressor):
    """Base of the regressors that find their variances by the evidence, and then predict standard deviations."""

    regularization_: Any = field(init=False)
    prior_variance_: np.ndarray = field(init=False)
    noise_variance_: np.ndarray = field(init=False)
    variance_: PosteriorVariance = field(init=False)
    _bias_variance: np.ndarray = field(init=False)
    _noise_known: bool = field(init=False)

    def predict(self, X: np.ndarray, return_std: bool = False, noise_variance: np.ndarray | float | None = None) -> Any:
        """Predict outputs, shaped like the y of `fit`, and optionally their standard deviations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool
            Also return the standard deviation of a new target, output and noise together (Suykens et al. 2002, section
            4.2.2). Not available for a precomputed kernel, which lacks k(x, x) of new samples.
        noise_variance : float or array-like of shape (n_samples,), optional
            Noise variance of the new targets; 0 gives the deviation of the output alone. Default: `noise_variance_`, or
            0 if `fit` was given the variances.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs), or two of them
        """
        X = self._checked(X)
        if return_std and not hasattr(self, "variance_"):
            raise ValueError(
                f"return_std = True needs regularization = 'evidence', got {self.get_params()['regularization']!r}"
            )
        outputs = self._outputs(X)
        deviations = np.sqrt(self._variances(X, noise_variance)).astype(X.dtype) if return_std else outputs
        if self._one_column:
            outputs, deviations = outputs[:, 0], deviations[:, 0]
        return (outputs, deviations) if return_std else outputs

    def _variances(self, X: np.ndarray, noise_variance: Any) -> np.ndarray:
        if isinstance(self.kernel_, PrecomputedKernel):
            raise ValueError(
                "return_std = True is not supported by a precomputed kernel, which lacks k(x, x) of new samples"
            )
        noise = np.zeros(1) if self._noise_known else self.noise_variance_
        if noise_variance is not None:
            noise = checked_variances("noise_variance", noise_variance, X.shape[0], zero=True)[:, None]
        wanted = [(0, s2, r) for s2, r in zip(self.prior_variance_, self.regularization_, strict=True)]
        return self.variance_.variances(self.kernel_, self.basis_centers_, X, wanted) + self._bias_variance + noise


def checked_variances(name: str, value: Any, n_samples: int, *, zero: bool = False) -> np.ndarray:
    """Return one positive finite variance for each sample, float64 (n_samples,); one number applies to all.

    `zero` also allows zeros. Raises ValueError for other values.
    """
    variances = check_array(np.atleast_1d(value), ensure_2d=False, dtype=np.float64, input_name=name)
    if variances.ndim != 1 or variances.shape[0] not in (1, n_samples):
        raise ValueError(f"{name} must be one number for each of {n_samples} samples, got shape {variances.shape}")
    smallest, largest = variances.min(), variances.max()
    if not ((smallest > 1e-100 or (zero and smallest >= 0)) and largest < 1e100):
        raise ValueError(f"{name} must be positive numbers between 1e-100 and 1e100, got {smallest} to {largest}")
    return np.broadcast_to(variances, (n_samples,))
