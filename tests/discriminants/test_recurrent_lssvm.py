"""Recurrent least-squares support vector machines against differences and the machine for one step."""

import numpy as np
import pytest
from sklearn.base import clone

from discriminants import NARX, LSSVMRegressor, RecurrentLSSVM
from discriminants.serialization.persistence import estimator_from_arrays, estimator_to_arrays
from discriminants.time_series.recurrent_lssvm import _Stretches


def _driven(n_times: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A system of two lags and what drove it."""
    u = np.repeat(np.random.default_rng(seed).uniform(-1.5, 1.5, n_times // 5 + 1), 5)[:n_times]
    y = np.zeros(n_times)
    for k in range(2, n_times):
        y[k] = 1.4 * np.tanh(y[k - 1]) - 0.6 * y[k - 2] + 0.5 * u[k - 1]
    return y, u


CLEAN, U = _driven(120, 0)
Y = CLEAN + 0.1 * np.random.default_rng(1).normal(size=120)


def test_with_stretches_of_one_time_it_is_the_plain_machine() -> None:
    model = RecurrentLSSVM(n_lags=2, n_input_lags=1, sigma=2.0, horizon=1).fit(Y, U)
    plain = NARX(LSSVMRegressor(sigma=2.0, regularization=0.1), n_lags=2, n_input_lags=1).fit(Y, U)
    np.testing.assert_array_equal(model.predict(Y, U), plain.predict(Y, U))
    assert model.objectives_.shape == (0, 2)


@pytest.mark.parametrize("length", [1, 4, 50, 200])
def test_errors_are_those_of_a_loop_and_derivatives_those_of_differences(length: int) -> None:
    plain = NARX(LSSVMRegressor(sigma=2.0), n_lags=2, n_input_lags=1).fit(Y, U)
    runs = _Stretches(Y[:, None], U[:, None], (2, 1), plain.regressor_, 0.1)
    theta = np.append(plain.regressor_.dual_coef_[:, 0], plain.regressor_.intercept_)
    errors, rows = runs.errors(theta, length, True)
    expected = []
    for start in range(2, 120, length):
        n_steps = min(length, 120 - start)
        made = plain.simulate(n_steps, U[start:], start=Y[:start], start_inputs=U[:start])
        expected.extend(Y[start : start + n_steps] - made)
    np.testing.assert_allclose(np.sort(errors), np.sort(expected), atol=1e-10)
    for parameter in (0, 17, 118):
        step = np.zeros(theta.shape[0])
        step[parameter] = 1e-5
        differences = runs.errors(theta - step, length, False)[0] - runs.errors(theta + step, length, False)[0]
        np.testing.assert_allclose(rows[:, parameter], differences / 2e-5, rtol=1e-4, atol=1e-6 * np.abs(rows).max())


def test_the_objective_falls_at_every_length() -> None:
    model = RecurrentLSSVM(n_lags=2, n_input_lags=1, sigma=2.0, horizon=12).fit(Y, U)
    assert model.objectives_.shape == (4, 2)  # 2, 4, 8, 12
    assert (model.objectives_[:, 1] < model.objectives_[:, 0]).all()


def test_from_noisy_outputs_it_makes_a_better_free_run() -> None:
    clean, u = _driven(300, 7)
    errors = []
    for horizon in (1, 16):
        model = RecurrentLSSVM(n_lags=2, n_input_lags=1, sigma=2.0, horizon=horizon).fit(Y, U)
        made = model.simulate(298, u[2:], start=clean[:2], start_inputs=u[:2])
        errors.append(np.sqrt(np.mean((made - clean[2:]) ** 2)))
    assert errors[1] < 0.7 * errors[0]


def test_it_comes_back_from_a_file_and_refuses_several_outputs() -> None:
    model = RecurrentLSSVM(n_lags=3, horizon=4).fit(Y)
    again = estimator_from_arrays(*estimator_to_arrays(model))
    np.testing.assert_array_equal(again.simulate(20), model.simulate(20))
    np.testing.assert_array_equal(clone(model).fit(Y).simulate(20), model.simulate(20))
    with pytest.raises(ValueError, match="one output, got 2"):
        RecurrentLSSVM().fit(np.column_stack([Y, U]))
    for parameters in ({"horizon": 0}, {"sigma": -1.0}, {"regularization": 0.0}, {"n_lags": 0}):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            RecurrentLSSVM(**parameters).fit(Y)
