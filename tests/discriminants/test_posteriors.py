"""Posterior models on outputs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import norm

from discriminants.posteriors.output_models import (
    POSTERIORS,
    GaussianOutputModel,
    LogisticOutputModel,
    PlattOutputModel,
    fit_sigmoid,
    unit_length_outputs,
)


def outputs_and_classes(n_classes: int, dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    y = random.choice(n_classes, size=2000, p=np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum())
    if n_classes == 2:
        return (random.normal(size=(2000, 1)) * (1 + y[:, None]) + 2 * y[:, None] - 1).astype(dtype), y
    return (random.normal(size=(2000, n_classes)) + 2 * (y[:, None] == np.arange(n_classes))).astype(dtype), y


def test_gaussian_posteriors_are_bayes_rule_on_two_densities_normalized_over_the_classes() -> None:
    outputs, y = outputs_and_classes(4)
    expected = np.empty_like(outputs)
    for s in range(4):
        inside, rest = outputs[y == s, s], outputs[y != s, s]
        p = norm.pdf(outputs[:, s], inside.mean(), inside.std()) * (y == s).mean()
        q = norm.pdf(outputs[:, s], rest.mean(), rest.std()) * (y != s).mean()
        expected[:, s] = p / (p + q)
    expected /= expected.sum(axis=1, keepdims=True)
    found = GaussianOutputModel().fit(outputs, y).predict_log_proba(outputs)
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-10)


def test_gaussian_posteriors_of_two_classes_come_from_one_output() -> None:
    outputs, y = outputs_and_classes(2)
    densities = [
        norm.pdf(outputs[:, 0], outputs[y == k, 0].mean(), outputs[y == k, 0].std()) * (y == k).mean() for k in (0, 1)
    ]
    expected = np.array(densities).T / np.sum(densities, axis=0)[:, None]
    found = GaussianOutputModel().fit(outputs, y).predict_log_proba(outputs)
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-10)


def test_gaussian_posteriors_do_not_depend_on_the_scale_of_the_weights() -> None:
    outputs, y = outputs_and_classes(3)
    scaled = outputs * np.array([0.01, 7.0, 300.0])
    one, other = (GaussianOutputModel().fit(o, y).predict_log_proba(o) for o in (outputs, scaled))
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_unit_length_outputs_divide_by_the_length_of_each_weight_vector() -> None:
    coef = np.array([[3.0, 0.0], [4.0, 0.0]])
    np.testing.assert_allclose(unit_length_outputs(np.array([[10.0, 2.0]]), coef), [[2.0, 2.0]])


@pytest.mark.parametrize("name", sorted(POSTERIORS))
@pytest.mark.parametrize("n_classes", [2, 5])
def test_posteriors_sum_to_one_and_are_calibrated(name: str, n_classes: int) -> None:
    outputs, y = outputs_and_classes(n_classes, np.float32)
    log_proba = POSTERIORS[name]().fit(outputs, y).predict_log_proba(outputs)
    assert log_proba.dtype == np.float32
    assert log_proba.shape == (2000, n_classes)
    proba = np.exp(log_proba)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-5)
    np.testing.assert_allclose(proba.mean(axis=0), np.bincount(y) / 2000, atol=0.05)
    prior = np.bincount(y) / 2000
    assert -log_proba[np.arange(2000), y].mean() < -(prior * np.log(prior)).sum() - 0.1


def fitted(name: str, n_classes: int) -> Any:
    return POSTERIORS[name]().fit(*outputs_and_classes(n_classes))


MODELS = {(name, n): fitted(name, n) for name in POSTERIORS for n in (2, 3)}
far = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.floats(-1e3, 1e3))


@given(st.sampled_from(sorted(MODELS)), st.lists(far, min_size=3, max_size=3), st.booleans())
def test_any_finite_outputs_give_finite_log_posteriors_that_sum_to_one(
    which: tuple[str, int], values: list[float], narrow: bool
) -> None:
    n_outputs = 1 if which[1] == 2 else which[1]
    largest = np.finfo(np.float32).max if narrow else np.finfo(np.float64).max
    dtype = np.float32 if narrow else np.float64
    outputs = np.clip([values[:n_outputs]], -largest, largest).astype(dtype)
    found = MODELS[which].predict_log_proba(outputs)
    assert found.dtype == dtype
    assert np.isfinite(found).all() and (found <= 1e-6).all()
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1.0, rtol=1e-5)


@pytest.mark.parametrize("name", sorted(POSTERIORS))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_constant_outputs_give_the_priors(name: str, n_classes: int) -> None:
    y = np.array([0] * 60 + [1] * 30 + [2] * 30 * (n_classes - 2))
    outputs = np.zeros((y.size, 1 if n_classes == 2 else 3))
    found = np.exp(POSTERIORS[name]().fit(outputs, y).predict_log_proba(outputs[:1]))
    np.testing.assert_allclose(found[0], np.bincount(y) / y.size, atol=0.02)


@pytest.mark.parametrize("name", sorted(POSTERIORS))
def test_outputs_without_a_finite_variance_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="variance"):
        POSTERIORS[name]().fit(np.array([[1e200], [-1e200], [0.0], [1.0]]), np.array([0, 1, 0, 1]))


def platt_cross_entropy(parameters: Sequence[float], output: np.ndarray, positive: np.ndarray) -> float:
    n, n_positive = positive.size, positive.sum()
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n - n_positive + 2))
    score = parameters[0] * output + parameters[1]
    return float((np.logaddexp(0.0, score) - target * score).sum())


@pytest.mark.parametrize("separation", [0.0, 1.0, 30.0, -2.0])
@pytest.mark.parametrize("n_positive", [1, 20, 199])
def test_the_sigmoid_is_the_rising_one_of_least_smoothed_cross_entropy(separation: float, n_positive: int) -> None:
    positive = np.arange(200) < n_positive
    output = np.random.default_rng(0).normal(size=200) + separation * positive
    found = np.array(fit_sigmoid(output, positive))
    options = {"gtol": 1e-9, "ftol": 1e-15}
    bounds = [(1e-5, None), (None, None)]
    best = minimize(platt_cross_entropy, np.array([1e-5, 0.0]), (output, positive), bounds=bounds, options=options)
    assert platt_cross_entropy(found, output, positive) <= best.fun * (1 + 1e-9)
    np.testing.assert_allclose(found, best.x, atol=1e-3)


@pytest.mark.parametrize("separation", [-2.0, 0.5, 3.0])
def test_a_sigmoid_that_is_even_at_zero_is_the_rising_one_of_least_cross_entropy_through_there(
    separation: float,
) -> None:
    positive = np.arange(300) < 60
    output = 5.0 + 2.0 * np.random.default_rng(0).normal(size=300) + separation * positive
    for posterior in (PlattOutputModel(), LogisticOutputModel()):
        model = posterior.fit(output[:, None], positive.astype(int), even_at_zero=True)
        odds = np.subtract(*model.predict_log_proba(np.array([[0.0], [1.0], [-2.0]])).T[::-1])
        assert odds[0] == 0.0
        assert odds[2] == pytest.approx(-2 * odds[1])
        best = minimize_scalar(lambda a: platt_cross_entropy((a, 0.0), output, positive), (-10, 10), tol=1e-10)
        assert odds[1] == pytest.approx(max(best.x, 1e-5 / output.std()), rel=1e-4)


def test_two_classes_have_one_sigmoid_whatever_the_scale_and_offset_of_the_output() -> None:
    outputs, y = outputs_and_classes(2)
    model = PlattOutputModel().fit(outputs, y)
    expected = 1 / (1 + np.exp(-(model.slopes_ * outputs[:, 0] + model.offsets_)))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(outputs))[:, 1], expected, rtol=1e-10)
    np.testing.assert_allclose((model.slopes_[0], model.offsets_[0]), fit_sigmoid(outputs[:, 0], y == 1), rtol=1e-6)
    moved = 1e6 * outputs - 1e7
    np.testing.assert_allclose(
        PlattOutputModel().fit(moved, y).predict_log_proba(moved), model.predict_log_proba(outputs), atol=1e-6
    )


def test_platts_posteriors_of_many_classes_are_sigmoids_over_their_sum() -> None:
    outputs, y = outputs_and_classes(4)
    sigmoids = np.empty_like(outputs)
    for s in range(4):
        slope, offset = fit_sigmoid(outputs[:, s], y == s)
        sigmoids[:, s] = 1 / (1 + np.exp(-(slope * outputs[:, s] + offset)))
    found = np.exp(PlattOutputModel().fit(outputs, y).predict_log_proba(outputs))
    np.testing.assert_allclose(found, sigmoids / sigmoids.sum(axis=1, keepdims=True), rtol=1e-5)


def test_separated_outputs_keep_a_finite_slope() -> None:
    y = np.repeat([0, 1], 50)
    model = PlattOutputModel().fit(np.where(y == 1, 1.0, -1.0)[:, None], y)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(np.array([[1.0]]))), [[1 / 52, 51 / 52]], rtol=1e-6)


def test_a_constant_output_within_a_class_has_a_variance_floor() -> None:
    y = np.array([0, 0, 1, 1])
    found = GaussianOutputModel().fit(np.array([[-1.0], [-1.0], [1.0], [1.0]]), y).predict_log_proba(np.array([[1.0]]))
    assert np.isfinite(found).all() and found.argmax() == 1


@pytest.mark.parametrize("name", sorted(POSTERIORS))
def test_a_class_without_samples_is_refused(name: str) -> None:
    outputs, y = outputs_and_classes(3)
    with pytest.raises(ValueError, match="need"):
        POSTERIORS[name]().fit(outputs[y < 2], y[y < 2])
