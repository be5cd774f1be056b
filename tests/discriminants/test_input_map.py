import numpy as np
import pytest
from scipy.optimize import check_grad

from discriminants.kernels import GaussianKernel
from discriminants.logistic.affine_transform import _Objective, fit_input_map, identity_map
from discriminants.logistic.loss import LOSSES
from discriminants.sparse.sparse_logistic import SparseKernelLogisticClassifier


@pytest.fixture(scope="module")
def rings():
    rng = np.random.default_rng(0)
    angle, codes = rng.uniform(0, 2 * np.pi, 600), rng.integers(0, 3, 600)
    radius = 1.0 + codes + 0.2 * rng.normal(size=600)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X, codes


@pytest.fixture(scope="module")
def model(rings):
    X, codes = rings
    return SparseKernelLogisticClassifier(60, n_candidates=120, sigma=0.8, random_state=0).fit(X, codes)


@pytest.mark.parametrize("loss", ["multinomial", "ovr"])
def test_the_gradient_is_that_of_finite_differences(model, rings, loss):
    X, codes = rings
    objective = _Objective(model, model.sigma_, X[:50], codes[:50], np.full(50, 0.02), LOSSES[loss], 0.1)
    theta = np.append(np.eye(2).ravel(), np.zeros(2)) + 0.1 * np.random.default_rng(1).normal(size=6)
    error = check_grad(lambda t: objective(t)[0], lambda t: objective(t)[1], theta)
    assert error < 1e-5 * np.linalg.norm(objective(theta)[1]) + 1e-6


def test_a_rotated_and_shifted_speaker_is_brought_back(model, rings):
    X, codes = rings
    moved = X @ np.array([[1.2, 0.2], [-0.1, 0.8]]) + np.array([0.6, -0.4])
    before = (model.predict(moved) == codes).mean()
    adapted = fit_input_map(model, moved, codes, ridge=1e-3, max_iter=60)
    after = (model.predict(adapted(moved)) == codes).mean()
    assert after > before + 0.1
    assert after > (model.predict(X) == codes).mean() - 0.02


def test_a_large_ridge_keeps_the_identity(model, rings):
    X, codes = rings
    found = fit_input_map(model, X + 0.5, codes, ridge=1e6)
    assert np.abs(found.matrix - np.eye(2)).max() < 1e-4
    assert np.array_equal(identity_map(2)(X), X)


def test_weights_are_repetitions(model, rings):
    X, codes = rings
    twice = fit_input_map(model, np.vstack([X[:40], X[:10]]), np.append(codes[:40], codes[:10]))
    weighted = fit_input_map(model, X[:40], codes[:40], np.repeat([2.0, 1.0], [10, 30]))
    np.testing.assert_allclose(twice.matrix, weighted.matrix, atol=1e-6)


def test_single_precision_input_stays_so(model, rings):
    X, codes = rings
    found = fit_input_map(model, X[:100].astype(np.float32), codes[:100])
    assert found(X.astype(np.float32)).dtype == np.float32


def test_what_cannot_be_mapped_is_refused(model, rings):
    X, codes = rings
    with pytest.raises(ValueError, match="positive weight"):
        fit_input_map(model, X[:0], codes[:0])
    with pytest.raises(ValueError, match="ridge"):
        fit_input_map(model, X, codes, ridge=-1)
    with pytest.raises(ValueError, match="hinge"):
        fit_input_map(model, X, codes, loss="hinge")
    widths = SparseKernelLogisticClassifier(20, n_candidates=40, kernel=GaussianKernel(np.full(600, 0.8)))
    with pytest.raises(ValueError, match="one width"):
        fit_input_map(widths.fit(X, codes), X, codes)
