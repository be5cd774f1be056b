"""Autoregressions against loops over time."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from discriminants import NARX, BayesianLSSVMRegressor, LSSVMRegressor, ModelFormatError, lag_table
from discriminants.serialization.persistence import estimator_from_arrays, estimator_to_arrays

RANDOM = np.random.default_rng(0)
U = RANDOM.normal(size=(80, 2))
Y = np.zeros((80, 2))
for k in range(2, 80):
    Y[k, 0] = 0.6 * Y[k - 1, 0] - 0.3 * Y[k - 2, 1] + 0.5 * U[k - 1, 0] + 0.2 * U[k - 3, 1]
    Y[k, 1] = 0.4 * Y[k - 1, 1] + 0.2 * Y[k - 1, 0] + np.tanh(U[k - 2, 0])


def test_a_row_has_outputs_and_inputs_from_the_latest_back() -> None:
    X, targets = lag_table(Y, 2, U, 3)
    for row, k in enumerate(range(3, 80)):
        np.testing.assert_array_equal(X[row], np.concatenate([Y[k - 1], Y[k - 2], U[k - 1], U[k - 2], U[k - 3]]))
        np.testing.assert_array_equal(targets[row], Y[k])
    X, targets = lag_table(Y[:, 0], 3)
    assert X.shape == (77, 3)
    assert targets.shape == (77,)
    np.testing.assert_array_equal(X[5], Y[[7, 6, 5], 0])


@pytest.mark.parametrize("horizon", [1, 2, 5])
@pytest.mark.parametrize(("y", "u", "lags"), [(Y, U, (2, 3)), (Y[:, 0], U[:, 0], (4, 1)), (Y[:, 0], None, (3, 0))])
def test_several_steps_ahead_are_steps_fed_back(y: np.ndarray, u: Any, lags: tuple[int, int], horizon: int) -> None:
    p, q = lags
    model = NARX(LSSVMRegressor(regularization=0.01), n_lags=p, n_input_lags=q).fit(y, u)
    found = model.predict(y, u, horizon)
    first = max(p, q) + horizon - 1
    assert found.shape == y[first:].shape
    for k in (first, 40, 79):
        known = k - horizon + 1
        made = list(y[:known])
        for time in range(known, k + 1):
            row = [made[time - lag] for lag in range(1, p + 1)]
            row += [u[time - lag] for lag in range(1, q + 1)]
            made.append(model.regressor_.predict(np.hstack([np.atleast_1d(part) for part in row])[None])[0])
        np.testing.assert_allclose(found[k - first], made[k], atol=1e-10)
    if horizon == 1:
        X, _ = lag_table(y, p, u, q)
        np.testing.assert_allclose(found, model.regressor_.predict(X), atol=1e-12)
    simulated = model.simulate(
        horizon, u[known:] if u is not None else None, start=y[:known], start_inputs=None if u is None else u[:known]
    )
    np.testing.assert_allclose(simulated[-1], found[-1], atol=1e-10)


def test_a_linear_system_is_simulated_on_from_its_end() -> None:
    X, targets = lag_table(Y[:60], 2, np.column_stack([U, np.tanh(U[:, 0])])[:60], 3)
    model = NARX(LinearRegression(), n_lags=2, n_input_lags=3)
    inputs = np.column_stack([U, np.tanh(U[:, 0])])
    model.fit(Y[:60], inputs[:60])
    assert X.shape[1] == 13
    assert targets.shape == (57, 2)
    np.testing.assert_allclose(model.simulate(20, inputs[60:]), Y[60:], atol=1e-8)


def test_a_sine_goes_on_by_a_search_over_widths() -> None:
    wave = np.sin(0.3 * np.arange(150))
    search = GridSearchCV(
        LSSVMRegressor(regularization=np.logspace(-8, 0, 5)), {"sigma": [1.0, 4.0]}, cv=TimeSeriesSplit(3)
    )
    model = NARX(search, n_lags=5).fit(wave[:100])
    np.testing.assert_allclose(model.simulate(50), wave[100:], atol=0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Y, 80), "more than 80"),
        ((Y, 2, U), "n_input_lags = 0"),
        ((Y, 2, None, 1), "n_input_lags = 1 without u"),
        ((Y, 2, U[:70], 1), "70 times"),
        ((np.full(9, np.nan), 2), "NaN"),
        ((Y[:, 0].astype(str), 2), "numbers, got strings"),
        ((Y[:, 0][None], 2), "one row per time"),
        ((Y, 2, Y[:, 0]), "n_input_lags = 0"),
        ((np.zeros((4, 2, 2)), 1), "n_times|dim"),
    ],
)
def test_series_that_make_no_table_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lag_table(*arguments)


def test_what_a_model_did_not_learn_is_refused() -> None:
    model = NARX(n_lags=2, n_input_lags=3).fit(Y, U)
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: model.predict(Y[:, 0], U), "1 columns"),
        (lambda: model.predict(Y, U[:, :1]), "1 columns"),
        (lambda: model.predict(Y, U, 0), "at least 1"),
        (lambda: model.predict(Y[:4], U[:4], 2), "need 5 times"),
        (lambda: model.predict(Y, U[1:]), "79 times"),
        (lambda: model.simulate(5, U[:3]), r"\(4, 2\)"),
        (lambda: model.simulate(2, U, start=Y[:1], start_inputs=U[:3]), "2 outputs"),
        (lambda: NARX(n_lags=0).fit(Y), "n_lags"),
        (lambda: NARX(n_lags=1).fit(Y).simulate(2, U), "n_input_lags = 0"),
        (lambda: model.simulate(-3, U), "n_steps must be .* got -3"),
        (lambda: model.forecast(2.5, U), "n_steps must be .* got 2.5"),
    ]
    for call, message in calls:
        with pytest.raises(ValueError, match=message):
            call()


def test_files() -> None:
    model = NARX(n_lags=2, n_input_lags=3).fit(Y, U)
    arrays, metadata = estimator_to_arrays(model)
    again = estimator_from_arrays(arrays, metadata)
    np.testing.assert_array_equal(again.simulate(9, U), model.simulate(9, U))
    assert clone(model).get_params()["n_lags"] == 2
    for name, spoilt in (("NARX.last_outputs_", Y[:3]), ("NARX.last_inputs_", U[:3, :1])):
        with pytest.raises(ModelFormatError, match="NARX"):
            estimator_from_arrays({**arrays, name: spoilt}, metadata)


def autoregression(n_times: int) -> np.ndarray:
    y, random = np.zeros(n_times), np.random.default_rng(3)
    for time in range(1, n_times):
        y[time] = 0.8 * y[time - 1] + 0.5 * random.normal()
    return y


@pytest.mark.parametrize(
    "regressor",
    [BayesianLSSVMRegressor(kernel="linear"), LSSVMRegressor(kernel="linear", regularization=1e-3)],
)
def test_bars_of_a_linear_autoregression_grow_as_they_must(regressor: Any) -> None:
    """y_k = a y_{k-1} + e_k: h steps ahead the variance is that of e times 1 + a^2 + ... + a^(2h - 2)."""
    model = NARX(regressor, n_lags=1).fit(autoregression(300))
    start = np.array([2.0])
    means, deviations = model.forecast(12, start=start, n_draws=4000, random_state=0)
    slope, level = np.polyfit([0.0, 1.0], model.regressor_.predict(np.array([[0.0], [1.0]])), 1)
    noise = np.std(model.regressor_.leave_one_out_residuals_)
    expected, mean = [], 2.0
    for step in range(12):
        mean = slope * mean + level
        expected.append(noise * np.sqrt((slope ** (2 * np.arange(step + 1))).sum()))
        assert abs(means[step] - mean) < 0.06
    np.testing.assert_allclose(deviations, expected, rtol=0.06)
    again = model.forecast(12, start=start, n_draws=4000, random_state=0)
    np.testing.assert_array_equal(again[1], deviations)


def test_a_forecast_of_certain_steps_is_the_simulation() -> None:
    class Sure(LinearRegression):
        def predict(self, X: np.ndarray, return_std: bool = False) -> Any:
            found = super().predict(X)
            return (found, np.zeros(found.shape)) if return_std else found

    model = NARX(Sure(), n_lags=2, n_input_lags=3).fit(Y[:60], U[:60])
    means, deviations = model.forecast(10, U[60:], n_draws=3)
    np.testing.assert_allclose(means, model.simulate(10, U[60:]), atol=1e-12)
    np.testing.assert_allclose(deviations, 0.0, atol=1e-12)


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda last: make_pipeline(StandardScaler(), last),
        lambda last: GridSearchCV(make_pipeline(StandardScaler(), make_pipeline(last)), {}, cv=TimeSeriesSplit(2)),
        lambda last: make_pipeline(StandardScaler(), GridSearchCV(last, {}, cv=TimeSeriesSplit(2))),
    ],
)
@pytest.mark.parametrize("last", [BayesianLSSVMRegressor(kernel="linear"), LSSVMRegressor(kernel="linear")])
def test_a_pipeline_forecasts_as_its_last_step(wrapped: Any, last: Any) -> None:
    y = 100.0 + autoregression(80)
    found = NARX(wrapped(last), n_lags=1).fit(y).forecast(4, n_draws=5, random_state=0)
    scaler = StandardScaler().fit(y[:-1, None])
    alone = last.fit(scaler.transform(y[:-1, None]), y[1:])
    random, paths = np.random.RandomState(0), np.full((5, 1), y[-1])
    for step in range(4):
        x = scaler.transform(paths)
        if isinstance(last, BayesianLSSVMRegressor):
            means, deviations = alone.predict(x, return_std=True)
            paths = (means + deviations * random.normal(size=(5, 1))[:, 0])[:, None]
        else:
            errors = alone.leave_one_out_residuals_
            paths = (alone.predict(x) + errors[random.randint(errors.shape[0], size=5)])[:, None]
        np.testing.assert_allclose(found[0][step], paths.mean(), atol=1e-10)


def test_what_does_not_say_how_far_it_is_off_gives_no_bars() -> None:
    model = NARX(LinearRegression(), n_lags=2).fit(Y[:, 0])
    with pytest.raises(ValueError, match="return_std"):
        model.forecast(3)
    with pytest.raises(ValueError, match="n_draws"):
        model.forecast(3, n_draws=1)


@pytest.mark.parametrize("horizon", [1, 3])
def test_the_score_is_the_share_of_variance_explained(horizon: int) -> None:
    model = NARX(LinearRegression(), n_lags=2, n_input_lags=3).fit(Y[:60], U[:60])
    found, wanted = model.predict(Y, U, horizon), Y[2 + horizon :]
    explained = 1 - ((wanted - found) ** 2).sum(axis=0) / ((wanted - wanted.mean(axis=0)) ** 2).sum(axis=0)
    np.testing.assert_allclose(model.score(Y, U, horizon), explained.mean())
    alone = NARX(LinearRegression(), n_lags=2).fit(Y[:, 0])
    assert alone.score(Y[:, 0]) < 1
