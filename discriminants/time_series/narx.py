"""Time series regression on lagged values, with recursive predictions."""

from collections.abc import Callable
from inspect import signature
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import r2_score
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_array, check_is_fitted

from discriminants.lssvm.lssvm import LSSVMRegressor
from discriminants.util.estimator import estimator


def lag_table(y: Any, n_lags: int, u: Any = None, n_input_lags: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Build the lagged inputs and targets that a regressor is trained on.

    Parameters
    ----------
    y : array-like of shape (n_times,) or (n_times, n_outputs)
        Outputs of the series.
    n_lags : int
        p, the number of previous outputs in a row.
    u : array-like of shape (n_times,) or (n_times, n_inputs), optional
        External inputs of the series.
    n_input_lags : int
        q, the number of previous inputs in a row.

    Returns
    -------
    X : ndarray of shape (n_times - max(p, q), p n_outputs + q n_inputs), float64
        The row of time k is y_{k-1}, ..., y_{k-p}, u_{k-1}, ..., u_{k-q}.
    targets : ndarray of shape (n_times - max(p, q),) or (n_times - max(p, q), n_outputs)
        The outputs y_k.

    Raises
    ------
    ValueError
        For values that are not finite, inputs without lags or lags without inputs, or a series that is too short.

    Examples
    --------
    >>> from discriminants import lag_table
    >>> lag_table([1, 2, 3, 4], 2)
    (array([[2., 1.],
           [3., 2.]]), array([3., 4.]))
    """
    outputs, inputs = checked_series(y, "y"), checked_inputs(u, n_input_lags)
    most = max(n_lags, n_input_lags)
    if outputs.shape[0] <= most:
        raise ValueError(
            f"{most} lags need more than {most} times, got {outputs.shape[0]} times of {outputs.shape[1]} values. "
            "Expected one row per time"
        )
    if inputs.shape[0] and inputs.shape[0] != outputs.shape[0]:
        raise ValueError(f"u has {inputs.shape[0]} times. Expected {outputs.shape[0]}, as in y")
    times = np.arange(most, outputs.shape[0])
    X = np.hstack([lags_before(outputs, times, n_lags), lags_before(inputs, times, n_input_lags)])
    return X, outputs[most:, 0] if np.ndim(y) == 1 else outputs[most:]


@estimator
class NARX(BaseEstimator):
    """Nonlinear autoregression with any regressor, with predictions one and several steps ahead.

    y_k = f(y_{k-1}, ..., y_{k-p}, u_{k-1}, ..., u_{k-q}) + e_k (Suykens et al. 2002, 1.42 and section 3.5): f is
    trained on measured outputs, one step ahead. For further steps, predictions replace outputs that are not yet known
    (3.34). `fit` takes a series instead of independent samples, so NARX itself is not a regressor. To search
    parameters, pass a search as the regressor: `NARX(GridSearchCV(..., cv=TimeSeriesSplit()))`.

    Parameters
    ----------
    regressor : regressor, optional
        f; default `LSSVMRegressor()`.
    n_lags : int
        Number of previous outputs, p >= 1.
    n_input_lags : int
        Number of previous inputs, q >= 0; must be positive if there are inputs.

    Attributes
    ----------
    regressor_ : regressor
    last_outputs_ : ndarray of shape (p, n_outputs)
        The last outputs of the training series, from which `simulate` continues.
    last_inputs_ : ndarray of shape (q, n_inputs)

    See Also
    --------
    RecurrentLSSVM : trained on the errors of several steps.
    lag_table : the inputs and targets of the regressor.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import NARX
    >>> y = np.sin(np.arange(100) / 3)
    >>> bool(NARX(n_lags=4).fit(y).score(y, horizon=5) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "regressor": [HasMethods(["fit", "predict"]), None],
        "n_lags": [Interval(Integral, 1, None, closed="left")],
        "n_input_lags": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(self, regressor: Any = None, *, n_lags: int = 10, n_input_lags: int = 0) -> None:
        self.regressor = regressor
        self.n_lags = n_lags
        self.n_input_lags = n_input_lags

    def fit(self, y: Any, u: Any = None) -> Self:
        """Fit a series.

        Parameters
        ----------
        y : array-like of shape (n_times,) or (n_times, n_outputs)
        u : array-like of shape (n_times,) or (n_times, n_inputs), optional

        Raises
        ------
        ValueError
            As `lag_table` and the regressor.
        """
        self._validate_params()
        X, targets = lag_table(y, self.n_lags, u, self.n_input_lags)
        self._one_column = targets.ndim == 1
        regressor = LSSVMRegressor() if self.regressor is None else clone(self.regressor)
        self.regressor_ = regressor.fit(X, targets)
        self.last_outputs_ = checked_series(y, "y")[-self.n_lags :].copy()
        inputs = checked_inputs(u, self.n_input_lags)
        self.last_inputs_ = inputs[inputs.shape[0] - self.n_input_lags :].copy()
        return self

    def predict(self, y: Any, u: Any = None, horizon: int = 1) -> np.ndarray:
        """Predict every possible output of the series from outputs measured up to `horizon` steps before.

        Parameters
        ----------
        y : array-like of shape (n_times,) or (n_times, n_outputs)
        u : array-like of shape (n_times,) or (n_times, n_inputs), optional
            Inputs, known up to the time of the prediction.
        horizon : int
            Number of steps ahead, at least 1.

        Returns
        -------
        ndarray of shape (n_times - s,) or (n_times - s, n_outputs)
            Predictions of y[s:], s = max(p, q) + horizon - 1.

        Raises
        ------
        ValueError
            As `lag_table`, if the number of outputs or inputs differs from the training series, or for a horizon below
            1.
        """
        if horizon < 1:
            raise ValueError(f"horizon must be at least 1, got {horizon}")
        outputs, inputs = self._checked(y, u)
        most = max(self.n_lags, self.n_input_lags)
        if outputs.shape[0] < most + horizon:
            raise ValueError(
                f"{most} lags and a horizon of {horizon} need {most + horizon} times, got {outputs.shape[0]}"
            )
        if self.n_input_lags and inputs.shape[0] != outputs.shape[0]:
            raise ValueError(f"u has {inputs.shape[0]} times. Expected {outputs.shape[0]}, as in y")
        times = np.arange(most, outputs.shape[0] - horizon + 1)  # times of the first step
        past = lags_before(outputs, times, self.n_lags)
        for step in range(horizon):
            found = self._next(np.hstack([past, lags_before(inputs, times + step, self.n_input_lags)]))
            past = np.hstack([found, past[:, : -outputs.shape[1]]])
        return found[:, 0] if self._one_column else found

    def simulate(self, n_steps: int, u: Any = None, *, start: Any = None, start_inputs: Any = None) -> np.ndarray:
        """Simulate the series from the model's own predictions.

        Parameters
        ----------
        n_steps : int
        u : array-like of shape (n_steps - 1,) or (n_steps - 1, n_inputs), or more, optional
            Inputs, starting at the time of the first step.
        start : array-like of shape (n_start,) or (n_start, n_outputs), optional
            Previous outputs, at least p; default: the end of the training series.
        start_inputs : array-like of shape (n_start,) or (n_start, n_inputs), optional
            The inputs at the times of `start`, at least q.

        Returns
        -------
        ndarray of shape (n_steps,) or (n_steps, n_outputs)

        Raises
        ------
        ValueError
            If `n_steps` is negative or not an integer, or if a start or inputs are too short or differ in width from
            the training series.
        """
        past, inputs = self._beginning(n_steps, u, start, start_inputs)
        found = self._fed_back(n_steps, past, inputs, self._next)[:, 0]
        return found[:, 0] if self._one_column else found

    def forecast(
        self,
        n_steps: int,
        u: Any = None,
        *,
        start: Any = None,
        start_inputs: Any = None,
        n_draws: int = 500,
        random_state: Any = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute means and standard deviations of future outputs, including noise, over simulated series.

        Every series continues as in `simulate`, but with a random draw instead of each prediction. Draws come from the
        normal density of a regressor whose `predict` has `return_std`; otherwise they are the prediction plus one of
        the regressor's leave-one-out residuals. For a search the best estimator is used, for a pipeline the last step.
        Draws of different steps are independent, so uncertainty of the function is treated as noise. If errors grow
        from step to step, the densities are not normal.

        Parameters
        ----------
        n_steps, u, start, start_inputs
            As in `simulate`.
        n_draws : int
            Number of simulated series, at least 2. The relative error of a deviation is about 1 / sqrt(2 n_draws).
        random_state : int, RandomState or None

        Returns
        -------
        means, deviations : ndarray of shape (n_steps,) or (n_steps, n_outputs)

        Raises
        ------
        ValueError
            As `simulate`, for fewer than two draws, or for a regressor with neither `return_std` nor leave-one-out
            residuals.
        """
        if n_draws < 2:
            raise ValueError(f"n_draws must be at least 2, got {n_draws}")
        past, inputs = self._beginning(n_steps, u, start, start_inputs)
        random = check_random_state(random_state)
        steps, regressor = _last_step(self.regressor_)
        residuals: Any = getattr(regressor, "leave_one_out_residuals_", None)
        with_deviations = "return_std" in signature(regressor.predict).parameters
        if residuals is None and not with_deviations:
            raise ValueError(
                f"{type(regressor).__name__} has neither return_std in predict nor leave_one_out_residuals_. "
                "Use BayesianLSSVMRegressor, or LSSVMRegressor with solver = 'direct'"
            )

        def drawn(X: np.ndarray) -> np.ndarray:
            if with_deviations:
                for step in steps:
                    X = step.transform(X)
                means, deviations = (
                    np.asarray(found).reshape(X.shape[0], -1) for found in regressor.predict(X, return_std=True)
                )
                return means + deviations * random.normal(size=means.shape)
            errors = np.asarray(residuals).reshape(np.shape(residuals)[0], -1)
            return self._next(X) + errors[random.randint(errors.shape[0], size=X.shape[0])]

        found = self._fed_back(n_steps, np.repeat(past, n_draws, axis=0), inputs, drawn)
        means, deviations = found.mean(axis=1), found.std(axis=1, ddof=1)
        return (means[:, 0], deviations[:, 0]) if self._one_column else (means, deviations)

    def score(self, y: Any, u: Any = None, horizon: int = 1) -> float:
        """Compute the coefficient of determination R^2 of `predict(y, u, horizon)`, averaged over the outputs.

        1 is perfect, 0 equals predicting the mean of the outputs.

        Parameters
        ----------
        y, u, horizon
            As in `predict`.
        """
        found = self.predict(y, u, horizon)
        wanted = checked_series(y, "y")[-found.shape[0] :]
        return float(r2_score(wanted, found))

    def _beginning(self, n_steps: int, u: Any, start: Any, start_inputs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the row of outputs before the first step, latest first, and all inputs starting q before it."""
        check_is_fitted(self)
        if not isinstance(n_steps, Integral) or n_steps < 0:
            raise ValueError(f"n_steps must be a whole number of 0 or more, got {n_steps!r}")
        p, q = self.n_lags, self.n_input_lags
        outputs, inputs = self.last_outputs_, self.last_inputs_
        if start is not None:
            outputs, inputs = self._checked(start, start_inputs)
            if outputs.shape[0] < p or inputs.shape[0] < q:
                raise ValueError(
                    f"start needs {p} outputs and {q} inputs, got {outputs.shape[0]} and {inputs.shape[0]}"
                )
        if q:
            coming = checked_inputs(u, q) if n_steps > 1 else inputs[:0]
            if coming.shape[0] < n_steps - 1 or coming.shape[1] != inputs.shape[1]:
                raise ValueError(f"u has shape {coming.shape}. Expected ({n_steps - 1}, {inputs.shape[1]})")
            inputs = np.vstack([inputs[inputs.shape[0] - q :], coming])
        elif u is not None:
            raise ValueError("u is not supported with n_input_lags = 0. Expected u = None")
        return outputs[-p:][::-1].reshape(1, -1), inputs

    def _fed_back(
        self, n_steps: int, past: np.ndarray, inputs: np.ndarray, following: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """Compute steps (n_steps, n_series, n_outputs) of series with common inputs, feeding back the outputs of
        `following`.
        """
        n_outputs, q = self.last_outputs_.shape[1], self.n_input_lags
        found = np.empty((n_steps, past.shape[0], n_outputs))
        for step in range(n_steps):
            before = np.repeat(lags_before(inputs, np.array([q + step]), q), past.shape[0], axis=0)
            found[step] = following(np.hstack([past, before]))
            past = np.hstack([found[step], past[:, :-n_outputs]])
        return found

    def _next(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.regressor_.predict(X)).reshape(X.shape[0], -1)

    def _checked(self, y: Any, u: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return checked outputs and inputs, with the widths of the training series."""
        check_is_fitted(self)
        outputs, inputs = checked_series(y, "y"), checked_inputs(u, self.n_input_lags)
        for name, found, learnt in (("y", outputs, self.last_outputs_), ("u", inputs, self.last_inputs_)):
            if found.shape[1] != learnt.shape[1]:
                raise ValueError(
                    f"{name} has {found.shape[1]} columns. Expected {learnt.shape[1]}, as in the training series"
                )
        return outputs, inputs


def _last_step(regressor: Any) -> tuple[list[Any], Any]:
    """Return the final predictor (best of a search, last step of a pipeline) and the transformers before it."""
    before: list[Any] = []
    while True:
        if hasattr(regressor, "best_estimator_"):
            regressor = regressor.best_estimator_
        elif isinstance(regressor, Pipeline):
            before += [regressor[:-1]] if len(regressor) > 1 else []
            regressor = regressor[-1]
        else:
            return before, regressor


def checked_series(values: Any, name: str) -> np.ndarray:
    """Return a checked series of shape (n_times, n_columns), float64."""
    if np.asarray(values).dtype.kind in "US":  # strings would be parsed as numbers
        raise ValueError(f"{name} must hold numbers, got strings")
    found: np.ndarray = check_array(values, dtype=np.float64, ensure_2d=False, input_name=name)
    if found.ndim not in (1, 2):
        raise ValueError(f"{name} must have the shape (n_times,) or (n_times, n_columns), got {found.shape}")
    return found[:, None] if found.ndim == 1 else found


def checked_inputs(u: Any, n_input_lags: int) -> np.ndarray:
    """Return checked inputs of shape (n_times, n_inputs); (0, 0) without inputs."""
    if (u is None) != (n_input_lags == 0):
        raise ValueError(
            f"n_input_lags = {n_input_lags} with{'out' if u is None else ''} u. "
            "Expected inputs u if n_input_lags is positive, and only then"
        )
    return np.empty((0, 0)) if u is None else checked_series(u, "u")


def lags_before(series: np.ndarray, times: np.ndarray, n_lags: int) -> np.ndarray:
    """Return the values 1 to n_lags steps before each time, shape (n_times, n_lags n_columns)."""
    return (
        series[times[:, None] - np.arange(1, n_lags + 1)].reshape(times.shape[0], -1)
        if n_lags
        else (np.empty((times.shape[0], 0)))
    )
