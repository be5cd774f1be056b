"""Weights moved along the slope of a criterion of the outputs, against differences and the criterion itself."""

import numpy as np
import pytest
from sklearn.base import clone

from discriminants.parallel.workers import LocalWorkers
from discriminants.sparse.output_descent import OutputDescent, weight_gradient
from discriminants.sparse.sparse_logistic import SparseKernelLogisticClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 3))
Y = np.array([2, 5, 7])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.3)]
SLOPES = RNG.normal(size=(240, 3))
SLOPES -= SLOPES.mean(axis=1, keepdims=True)


def fitted(loss: str, **parameters) -> SparseKernelLogisticClassifier:
    model = SparseKernelLogisticClassifier(20, n_candidates=40, loss=loss, max_iter=2, random_state=0, **parameters)
    return model.fit(X, Y)


def criterion(model: SparseKernelLogisticClassifier, smoothing: float) -> float:
    """The sum of slopes times log posteriors, less the smoothed loss of the classifier."""
    codes = np.searchsorted(model.classes_, Y)
    loss = -model.predict_log_proba(X)[np.arange(240), codes].sum()
    if model.loss == "ovr":
        f = model.decision_function(X)
        signs = np.where(np.arange(3) == codes[:, None], 1.0, -1.0)
        loss = np.logaddexp(0.0, -signs * f).sum()
    return float((SLOPES * model.predict_log_proba(X)).sum() - smoothing * loss)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["multinomial", "ovr"])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_the_gradient_is_that_of_differences(loss, smoothing):
    model = fitted(loss)
    codes = np.searchsorted(model.classes_, Y)
    gradient = weight_gradient(model, X, SLOPES, codes, smoothing=smoothing)
    for weight, column in ((0, 0), (7, 1), (19, 2), (20, 1)):  # the last is a bias
        values = []
        for step in (1e-5, -1e-5):
            moved = clone(model).fit(X, Y)
            (moved.intercept_ if weight == 20 else moved.dual_coef_[weight])[column] += step
            values.append(criterion(moved, smoothing))
        assert gradient[weight, column] == pytest.approx((values[0] - values[1]) / 2e-5, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("loss", ["multinomial", "ovr"])
def test_steps_raise_the_criterion_and_leave_the_centres(loss):
    model = fitted(loss)
    centers, before = model.basis_centers_.copy(), criterion(model, 0.1)
    codes = np.searchsorted(model.classes_, Y)
    descent = OutputDescent(model, X, learning_rate=0.05, n_steps=10)
    found = [before]
    for _ in range(10):
        descent.step(weight_gradient(model, X, SLOPES, codes, smoothing=0.1) / 240)
        found.append(criterion(model, 0.1))
    assert (np.diff(found) > 0).all()
    np.testing.assert_array_equal(model.basis_centers_, centers)


def test_coordinates_do_not_depend_on_the_workers():
    models = [fitted("multinomial") for _ in range(2)]
    codes = np.searchsorted(models[0].classes_, Y)
    alone = OutputDescent(models[0], X, learning_rate=0.05, n_steps=2)
    shared = OutputDescent(models[1], X, learning_rate=0.05, n_steps=2, workers=LocalWorkers(2))
    for model, descent in zip(models, (alone, shared), strict=True):
        descent.step(weight_gradient(model, X, SLOPES, codes, smoothing=0.1))
    np.testing.assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)


def test_groups_of_classes_are_refused():
    with pytest.raises(ValueError, match="groups"):
        OutputDescent(fitted("multinomial", groups=[0, 0, 1]), X, learning_rate=0.05, n_steps=2)
