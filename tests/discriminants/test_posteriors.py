"""Posterior models on outputs."""

import numpy as np
import pytest
from scipy.stats import norm

from discriminants.posteriors import GaussianOutputModel, LogisticOutputModel, unit_length_outputs


def outputs_and_classes(n_classes: int, dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    y = random.choice(n_classes, size=2000, p=np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum())
    if n_classes == 2:
        return (random.normal(size=(2000, 1)) * (1 + y[:, None]) + 2 * y[:, None] - 1).astype(dtype), y
    return (random.normal(size=(2000, n_classes)) + 2 * (y[:, None] == np.arange(n_classes))).astype(dtype), y


def test_gaussian_posteriors_are_bayes_rule_on_two_densities_normalised_over_the_classes() -> None:
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


@pytest.mark.parametrize("model", [GaussianOutputModel(), LogisticOutputModel()])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_posteriors_sum_to_one_and_are_calibrated(model: GaussianOutputModel, n_classes: int) -> None:
    outputs, y = outputs_and_classes(n_classes, np.float32)
    log_proba = model.fit(outputs, y).predict_log_proba(outputs)
    assert log_proba.dtype == np.float32
    assert log_proba.shape == (2000, n_classes)
    proba = np.exp(log_proba)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-5)
    np.testing.assert_allclose(proba.mean(axis=0), np.bincount(y) / 2000, atol=0.05)
    prior = np.bincount(y) / 2000
    assert -log_proba[np.arange(2000), y].mean() < -(prior * np.log(prior)).sum() - 0.1


def test_far_outputs_give_finite_log_posteriors() -> None:
    outputs, y = outputs_and_classes(3)
    found = GaussianOutputModel().fit(outputs, y).predict_log_proba(np.array([[1e4, -1e4, 0.0], [-50.0, -50.0, -50.0]]))
    assert np.isfinite(found).all()


def test_a_constant_output_within_a_class_has_a_variance_floor() -> None:
    y = np.array([0, 0, 1, 1])
    found = GaussianOutputModel().fit(np.array([[-1.0], [-1.0], [1.0], [1.0]]), y).predict_log_proba(np.array([[1.0]]))
    assert np.isfinite(found).all() and found.argmax() == 1


@pytest.mark.parametrize("model", [GaussianOutputModel(), LogisticOutputModel()])
def test_a_class_without_samples_is_refused(model: GaussianOutputModel) -> None:
    outputs, y = outputs_and_classes(3)
    with pytest.raises(ValueError, match="need"):
        model.fit(outputs[y < 2], y[y < 2])
