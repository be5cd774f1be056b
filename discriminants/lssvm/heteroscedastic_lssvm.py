"""Least-squares support vector regression with input-dependent noise (Suykens et al. 2002, 4.2)."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from discriminants.kernels import PrecomputedKernel, make_kernel
from discriminants.lssvm.bayesian_lssvm import BayesianLSSVMRegressor
from discriminants.util.estimator import COUNT, estimator, parameter
from discriminants.util.inputs import checked_samples
from discriminants.util.regression import checked_targets
from discriminants.util.weights import weights_of

_LOG_SQUARE_MEAN = -1.2703628454614782  # of the logarithm of a squared standard normal number: -log 2 - Euler's gamma
_LOG_SQUARE_VARIANCE = 0.5 * np.pi**2
_MIN_SQUARE = 1e-6  # of the mean square: floor for zero errors
_SETTLED = 0.05  # largest change of a logarithm of a variance at which the rounds end


@estimator
class HeteroscedasticLSSVMRegressor(RegressorMixin, BaseEstimator):
    """`BayesianLSSVMRegressor` with input-dependent error bars: a second machine models the noise variance.

    A model with one variance per sample (Suykens et al. 2002, 4.60, 4.74) has as many unknowns as samples; the source
    models the log residuals by a second machine instead. Here the two machines alternate. The second is fitted to the
    log squared leave-one-out errors of the first, corrected for the error of the first machine. The log of a squared
    normal variable has a known mean and variance, so the evidence determines only the smoothness of the noise. The
    first machine is then refitted with inverse variances as sample weights; the evidence also determines their common
    factor. If the errors show no differences in noise, the result is `BayesianLSSVMRegressor`.

    Every round takes the time of two Bayesian machines; memory is that of two. With more than `max_samples` samples the
    rounds find the widths and a first model of the noise on a random part of them. One more round with these widths
    then fits all samples, which takes three decompositions.

    Parameters
    ----------
    kernel, sigma
        Kernel of the curve, not precomputed; the width search begins at sigma.
    tune_width : bool
        Find the width of the curve's kernel with the largest evidence.
    noise_kernel, noise_sigma
        Kernel of the log variance; the width search begins at noise_sigma.
    max_rounds : int
        Maximum number of rounds; they stop when no variance changes by 5 %.
    max_samples : int, optional
        Maximum number of samples of the rounds that find the widths; None takes all, in O(N^3) time for every width.

    Attributes
    ----------
    regressor_ : BayesianLSSVMRegressor
        Machine of the curve, fitted with weights.
    noise_regressor_ : BayesianLSSVMRegressor or None
        Machine of the log variance, without the common factor; None if all errors are zero.
    noise_factor_ : float
    noise_range_ : ndarray of shape (2,)
        Smallest and largest log variance at the training samples; predictions are clipped to it.
    leave_one_out_residuals_ : ndarray of shape (n_samples,)
    n_rounds_ : int

    See Also
    --------
    BayesianLSSVMRegressor : one variance for all samples, or a known one for each.
    """

    kernel: Any = "gaussian"
    sigma: Any = "scale"
    tune_width: bool = parameter("boolean", default=True)
    noise_kernel: Any = "gaussian"
    noise_sigma: Any = "scale"
    max_rounds: int = parameter(COUNT, default=5)
    max_samples: int | None = parameter(Interval(Integral, 3, None, closed="left"), None, default=300)

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: None = None) -> Self:
        """Fit curve and noise.

        Raises
        ------
        ValueError
            As `BayesianLSSVMRegressor.fit`, or for weights of samples or a precomputed kernel (not supported).
        """
        self._validate_params()
        X, y = checked_samples(self, X, y, y_numeric=True)
        weights_of(self, X, y, sample_weight)
        for kernel, width in (("kernel", "sigma"), ("noise_kernel", "noise_sigma")):
            if isinstance(make_kernel(getattr(self, kernel), getattr(self, width)), PrecomputedKernel):
                raise ValueError(
                    f"{kernel} = 'precomputed' is not supported: error bars need k(x, x) of new samples. "
                    "Expected a kernel name, object or function"
                )
        targets, wide = checked_targets(y, X.dtype)[:, 0], X.astype(np.float64, copy=False)
        self.n_rounds_ = 0
        if self.max_samples is None or self.max_samples >= X.shape[0]:
            curve, noise = self._machines(self.kernel, self.noise_kernel, tune=True)
            self._alternate(wide, targets, curve, noise, np.zeros(y.shape[0]), self.max_rounds)
        else:
            rows = np.sort(np.random.default_rng(0).choice(X.shape[0], self.max_samples, replace=False))
            part = clone(self).fit(wide[rows], targets[rows])
            start = np.zeros(y.shape[0]) if part.noise_regressor_ is None else np.log(part.noise_variance(wide))
            kernels = part.regressor_.kernel_, getattr(part.noise_regressor_, "kernel_", self.noise_kernel)
            self._alternate(wide, targets, *self._machines(*kernels, tune=False), start, 1)
            self.n_rounds_ += part.n_rounds_
        self.leave_one_out_residuals_ = self.regressor_.leave_one_out_residuals_
        return self

    def _machines(self, kernel: Any, noise_kernel: Any, *, tune: bool) -> tuple[Any, Any]:
        """Return machines of the curve and of the noise; without `tune` the kernels have their widths already."""
        sigma, noise_sigma = (self.sigma, self.noise_sigma) if tune else ("scale", "scale")
        curve = BayesianLSSVMRegressor(kernel=kernel, sigma=sigma, tune_width=tune and self.tune_width)
        return curve, BayesianLSSVMRegressor(kernel=noise_kernel, sigma=noise_sigma, tune_width=tune)

    def _alternate(
        self, X: np.ndarray, targets: np.ndarray, curve: Any, noise: Any, start: np.ndarray, max_rounds: int
    ) -> None:
        """Fit curve and noise by turns, from log variances `start` (n_samples,)."""
        self._fit_curve(curve, X, targets, start)
        self.noise_regressor_, self.noise_range_ = None, np.zeros(2)
        known, before = np.full(X.shape[0], _LOG_SQUARE_VARIANCE), start
        for _ in range(max_rounds):
            squares = self._squared_errors(X, targets)
            mean = squares.mean()
            if not mean > np.finfo(np.float64).tiny:
                break
            self.n_rounds_ += 1
            logarithms = np.log(np.maximum(squares / mean, _MIN_SQUARE)) - _LOG_SQUARE_MEAN
            self.noise_regressor_ = clone(noise).fit(X, logarithms, noise_variance=known)
            found = self.noise_regressor_.predict(X)
            self.noise_range_ = np.array([found.min(), found.max()])
            self._fit_curve(curve, X, targets, found)
            change, before = np.abs(found - before).max(), found
            if change < _SETTLED:
                break

    def _fit_curve(self, curve: Any, X: np.ndarray, targets: np.ndarray, logarithms: np.ndarray) -> None:
        """Fit the curve with inverse variances as weights; equal variances are a fit without weights."""
        weight = np.exp(-logarithms)
        weights = () if not logarithms.any() else (weight / weight.mean(),)
        self.regressor_ = clone(curve).fit(X, targets, *weights)
        self.noise_factor_ = float(self.regressor_.noise_variance_[0] * weight.mean())

    def _squared_errors(self, X: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Compute unbiased estimates of the noise variance of every sample.

        With leverage h, the leave-one-out error has 1 / (1 - h) times the variance of the noise, and the residual is 1
        - h times that error. Their product is the estimate.
        """
        residuals = targets - self.regressor_.predict(X)
        products: np.ndarray = np.maximum(residuals * self.regressor_.leave_one_out_residuals_, 0.0)
        return products

    def predict(self, X: np.ndarray, return_std: bool = False) -> Any:
        """Predict outputs, and optionally their standard deviations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool
            Also return the standard deviation of a new target, including output uncertainty and local noise.

        Returns
        -------
        ndarray of shape (n_samples,), or two of them
        """
        X = self._checked(X)
        wide = X.astype(np.float64, copy=False)
        if not return_std:
            return self.regressor_.predict(wide).astype(X.dtype, copy=False)
        means, deviations = self.regressor_.predict(wide, return_std=True, noise_variance=self._noise(wide))
        return means.astype(X.dtype, copy=False), deviations.astype(X.dtype, copy=False)

    def noise_variance(self, X: np.ndarray) -> np.ndarray:
        """Predict the noise variance at each sample, shape (n_samples,).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        """
        return self._noise(self._checked(X).astype(np.float64, copy=False))

    def _noise(self, X: np.ndarray) -> np.ndarray:
        if self.noise_regressor_ is None:
            return np.full(X.shape[0], self.noise_factor_)
        logarithms: np.ndarray = np.clip(self.noise_regressor_.predict(X), *self.noise_range_)
        return self.noise_factor_ * np.exp(logarithms)

    def _checked(self, X: np.ndarray) -> np.ndarray:
        check_is_fitted(self)
        checked: np.ndarray = checked_samples(self, X, reset=False)
        return checked
