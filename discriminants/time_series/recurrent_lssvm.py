"""Recurrent least-squares support vector machines, trained on recursive predictions."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.utils._param_validation import Interval, StrOptions

from discriminants.kernels import GaussianKernel
from discriminants.lssvm.lssvm import LSSVMRegressor
from discriminants.time_series.narx import NARX, checked_inputs, checked_series, lags_before
from discriminants.util.estimator import estimator

_SETTLED = 1e-6  # relative decrease of the objective at which a horizon has converged
_STEPS = 40  # maximum number for every horizon
_DAMPING = 1e-3  # relative to the curvature, of the first step
_MAX_DAMPING = 1e8
_RIDGE = 1e-6  # of the damping, relative to the mean curvature


@estimator
class RecurrentLSSVM(NARX):
    """An autoregression trained on the errors of several steps of recursive predictions.

    Minimizes sum_k (y_k - s_k)^2 + mu |f|^2, with f a sum of Gaussians on the lag rows and a bias. The series is cut
    into stretches of `horizon` times, and s_k is predicted recursively from the measured outputs before the stretch. A
    horizon of 1 gives `NARX(LSSVMRegressor())`. A horizon as long as the series gives the recurrent machine of Suykens
    et al. (2002, 8.4-8.13) for gamma to infinity, but with centers fixed at the measured lags and a penalty on f. (The
    source's condition sum alpha = 0 follows only for a horizon of 1 and is not imposed.)

    The problem is not convex. The search starts at the solution for one step and doubles the stretches up to `horizon`,
    by damped Gauss-Newton steps with derivatives computed along the predictions. A step takes O(N m (p + m)) time for m
    = N centers, about one or two factorisations; memory is 16 N m bytes. Only one output is supported.

    Parameters
    ----------
    sigma : float or "scale"
        Width of the Gaussian.
    regularization : float
        mu > 0, as in `LSSVMRegressor`.
    horizon : int
        Length of a stretch. Errors of a chaotic series grow from step to step, so derivatives are useless beyond some
        steps.

    Attributes
    ----------
    regressor_ : LSSVMRegressor
        Regressor with the final weights; its leave-one-out residuals are those of the initial one-step solution.
    objectives_ : ndarray of shape (n_horizons, 2)
        Objective before and after training, for each stretch length.

    See Also
    --------
    NARX : trained one step ahead, with any regressor.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import RecurrentLSSVM
    >>> y = np.sin(np.arange(100) / 3)
    >>> bool(RecurrentLSSVM(n_lags=4, horizon=4).fit(y).score(y, horizon=4) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "sigma": [Interval(Real, 0, None, closed="neither"), StrOptions({"scale"})],
        "regularization": [Interval(Real, 0, None, closed="neither")],
        "horizon": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        n_lags: int = 10,
        n_input_lags: int = 0,
        sigma: Any = "scale",
        regularization: float = 0.1,
        horizon: int = 16,
    ) -> None:
        self.n_lags = n_lags
        self.n_input_lags = n_input_lags
        self.sigma = sigma
        self.regularization = regularization
        self.horizon = horizon

    @property
    def regressor(self) -> LSSVMRegressor:
        """The initial one-step regressor."""
        return LSSVMRegressor(kernel=GaussianKernel(self.sigma), regularization=self.regularization)

    def fit(self, y: Any, u: Any = None) -> Self:
        """Fit a series.

        Parameters
        ----------
        y : array-like of shape (n_times,)
        u : array-like of shape (n_times,) or (n_times, n_inputs), optional

        Raises
        ------
        ValueError
            As `NARX.fit`, or if there are several outputs.
        """
        super().fit(y, u)
        if self.last_outputs_.shape[1] != 1:
            raise ValueError(f"RecurrentLSSVM needs one output, got {self.last_outputs_.shape[1]} outputs")
        machine = self.regressor_
        runs = _Stretches(
            checked_series(y, "y"),
            checked_inputs(u, self.n_input_lags),
            (self.n_lags, self.n_input_lags),
            machine,
            self.regularization,
        )
        theta = np.append(machine.dual_coef_[:, 0], machine.intercept_)
        found = []
        length = 1
        while length < self.horizon:
            length = min(2 * length, self.horizon)
            theta, before, after = runs.improved(theta, length)
            found.append((before, after))
        machine.dual_coef_, machine.intercept_ = theta[:-1, None].copy(), theta[-1:].copy()
        self.objectives_ = np.array(found).reshape(-1, 2)
        return self


class _Stretches:
    """Predictions over stretches of a series, and their derivatives with respect to weights and bias."""

    def __init__(
        self, y: np.ndarray, u: np.ndarray, lags: tuple[int, int], machine: LSSVMRegressor, regularization: float
    ) -> None:
        self._y, self._u, self._lags = y, u, lags
        self._centers, self._sigma = machine.basis_centers_, float(machine.sigma_)
        self._columns = machine.kernel_.columns(self._centers, np.float64)
        n = self._centers.shape[0]
        self._penalty = np.zeros((n + 1, n + 1))
        self._penalty[:n, :n] = regularization * self._columns.block(self._centers)

    def errors(self, theta: np.ndarray, length: int, sensitive: bool) -> tuple[np.ndarray, np.ndarray]:
        """Compute y - s of every time, and with `sensitive` ds / dtheta, (n_times, n_parameters)."""
        p, q = self._lags
        n_times, alpha = self._y.shape[0], theta[:-1]
        starts = np.arange(max(p, q), n_times, length)
        past = lags_before(self._y, starts, p)
        slopes = np.zeros((starts.shape[0], p, theta.shape[0])) if sensitive else np.zeros((0, 0, 0))
        errors, rows = [], []
        for step in range(min(length, n_times - max(p, q))):
            times = starts + step
            if times[-1] >= n_times:  # the last stretch may be shorter
                times, past, slopes, starts = times[:-1], past[:-1], slopes[:-1], starts[:-1]
            K = self._columns.block(np.hstack([past, lags_before(self._u, times, q)]))
            found = K @ theta[:-1] + theta[-1]
            errors.append(self._y[times, 0] - found)
            if sensitive:
                by_lag = ((K * alpha) @ self._centers[:, :p] - past * (K @ alpha)[:, None]) / self._sigma / self._sigma
                row = np.hstack([K, np.ones((K.shape[0], 1))]) + np.einsum("sp,spt->st", by_lag, slopes)
                slopes = np.concatenate([row[:, None], slopes[:, :-1]], axis=1)
                rows.append(row)
            past = np.hstack([found[:, None], past[:, :-1]])
        return np.concatenate(errors), np.concatenate(rows) if sensitive else np.zeros((0, 0))

    def objective(self, theta: np.ndarray, length: int) -> float:
        errors, _ = self.errors(theta, length, False)
        value = float(errors @ errors + theta @ self._penalty @ theta)
        return value if np.isfinite(value) else np.inf

    def improved(self, theta: np.ndarray, length: int) -> tuple[np.ndarray, float, float]:
        """Return better parameters for stretches of this length, and the objective before and after."""
        first = value = self.objective(theta, length)
        damping = _DAMPING
        for _ in range(_STEPS):
            errors, rows = self.errors(theta, length, True)
            curvature = rows.T @ rows + self._penalty
            downhill = rows.T @ errors - self._penalty @ theta
            scale = np.diag(curvature).mean()
            if not np.isfinite(scale):
                break
            trial, before = np.inf, value
            while damping <= _MAX_DAMPING:
                damped = curvature + damping * (self._penalty + _RIDGE * scale * np.eye(theta.shape[0]))
                try:
                    step = cho_solve(cho_factor(damped, check_finite=False), downhill, check_finite=False)
                    trial = self.objective(theta + step, length)
                except LinAlgError:  # the penalty is negligible compared with the derivatives: more damping
                    trial = np.inf
                if trial < value:
                    break
                damping *= 4.0
            if not trial < value:
                break
            theta, value, damping = theta + step, trial, max(damping / 8.0, 1e-8)
            if before - value < _SETTLED * before:
                break
        return theta, first, value
