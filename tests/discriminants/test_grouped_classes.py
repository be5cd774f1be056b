"""Kernel logistic regression that tells groups of classes first, and then the classes of a group."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_softmax
from sklearn.datasets import make_blobs

from discriminants import SparseKernelLogisticClassifier
from discriminants.kernels import GaussianKernel
from discriminants.logistic.loss import LOSSES, Factored, log_posteriors
from discriminants.serialization.persistence import estimator_from_arrays, estimator_to_arrays
from discriminants.util.errors import ModelFormatError

GROUP = np.array([1, 0, 1, 2, 0])
EXAMPLES: dict[str, Any] = {"n_centers": 15, "n_candidates": 60, "sigma": 3.0, "random_state": 0}


def naive_loss(outputs: np.ndarray, codes: np.ndarray, weight: np.ndarray, loss: str) -> float:
    """One sample after the other, as the words say it."""
    n_groups, total = GROUP.max() + 1, 0.0
    for row, code, w in zip(outputs, codes, weight, strict=True):
        group, groups = GROUP[code], row[:n_groups]
        if loss == "multinomial":
            total -= w * log_softmax(groups)[group]
        else:
            total -= w * sum(np.log(expit(f if g == group else -f)) for g, f in enumerate(groups))
        rivals = np.flatnonzero(group == GROUP)
        total -= w * log_softmax(row[n_groups + rivals])[np.searchsorted(rivals, code)]
    return float(total)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_loss_and_derivative_equal_the_formulas(loss: str) -> None:
    random = np.random.default_rng(0)
    outputs, codes, weight = 3 * random.normal(size=(7, 8)), random.integers(0, 5, 7), random.random(7) + 0.1
    derivative = outputs.copy()
    assert Factored(loss, GROUP)(derivative, codes, weight) == pytest.approx(naive_loss(outputs, codes, weight, loss))
    for i in np.ndindex(outputs.shape):
        step = np.zeros_like(outputs)
        step[i] = 1e-6
        slope = naive_loss(outputs + step, codes, weight, loss) - naive_loss(outputs - step, codes, weight, loss)
        assert derivative[i] == pytest.approx(slope / 2e-6, abs=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_posteriors_are_those_of_the_group_times_those_within_it(loss: str, dtype: type) -> None:
    outputs = (3 * np.random.default_rng(1).normal(size=(20, 8))).astype(dtype)
    found = log_posteriors(outputs, Factored(loss, GROUP))
    of_groups = log_posteriors(outputs[:, :3], loss)
    for group in range(3):
        own = np.flatnonzero(group == GROUP)
        expected = of_groups[:, [group]] + log_softmax(outputs[:, 3 + own], axis=1)
        np.testing.assert_allclose(found[:, own], expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1.0, rtol=1e-5)
    extreme = np.array([[1e4, -1e4, 0.0, 300.0, -300.0, 0.0, 1e4, 1e4]], dtype)
    assert np.isfinite(log_posteriors(extreme, Factored(loss, GROUP))).all()


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_descent_reaches_the_minimum_that_a_general_optimizer_finds(loss: str) -> None:
    X, y = make_blobs(200, centers=5, cluster_std=2.5, random_state=0)
    alpha = 1e-3
    learner = SparseKernelLogisticClassifier(
        **EXAMPLES, loss=loss, groups=GROUP, alpha=alpha, max_iter=1500, learning_rate=0.05
    ).fit(X, y)
    kernel = GaussianKernel(3.0)
    K, K_mm = kernel(X, learner.basis_centers_), kernel(learner.basis_centers_, learner.basis_centers_)

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        W = flat.reshape(16, 8)
        outputs, ridge = K @ W[1:] + W[0], alpha * K_mm @ W[1:]
        value = Factored(loss, GROUP)(outputs, y, np.ones(200)) / 200 + 0.5 * np.trace(W[1:].T @ ridge)
        return value, np.vstack([outputs.sum(axis=0) / 200, K.T @ outputs / 200 + ridge]).ravel()

    found, _ = objective(np.vstack([learner.intercept_, learner.dual_coef_]).ravel())
    best = minimize(objective, np.zeros(128), jac=True, method="L-BFGS-B", options={"maxiter": 500}).fun
    assert found <= best * (1 + 1e-3)


def test_labels_of_any_kind_name_classes_and_groups_and_survive_a_file() -> None:
    X, codes = make_blobs(400, centers=5, cluster_std=1.5, random_state=1)
    y = np.array(["a", "b", "c", "d", "e"])[codes]
    groups = ["vowel", "consonant", "consonant", "consonant", "vowel"]
    learner = SparseKernelLogisticClassifier(**EXAMPLES, groups=groups).fit(X, y, X_val=X, y_val=y)
    assert learner.score(X, y) >= SparseKernelLogisticClassifier(**EXAMPLES).fit(X, y).score(X, y) - 0.02
    np.testing.assert_allclose(learner.predict_proba(X).sum(axis=1), 1.0, rtol=1e-6)
    assert (learner.predict(X) == learner.classes_[learner.predict_proba(X).argmax(axis=1)]).all()
    assert (learner.classes_[learner.decision_function(X).argmax(axis=1)] == learner.predict(X)).all()
    assert learner.dual_coef_.shape[1] == 7
    arrays, metadata = estimator_to_arrays(learner)
    np.testing.assert_array_equal(estimator_from_arrays(arrays, metadata).predict_proba(X), learner.predict_proba(X))


@pytest.mark.parametrize("damage", ["out of range", "left out", "too few"])
def test_groups_that_do_not_suit_a_file_are_refused(damage: str) -> None:
    X, y = make_blobs(200, centers=5, random_state=1)
    learner = SparseKernelLogisticClassifier(**EXAMPLES, groups=GROUP).fit(X, y)
    wrong = {"out of range": GROUP + 5, "left out": np.array([0, 0, 0, 2, 2]), "too few": GROUP[:4]}
    learner.groups_ = wrong[damage]
    arrays, metadata = estimator_to_arrays(learner)
    with pytest.raises(ModelFormatError, match=r"groups_|dual_coef_"):
        estimator_from_arrays(arrays, metadata)


def test_groups_that_are_not_one_for_each_class_and_newtons_method_are_refused() -> None:
    X, y = make_blobs(100, centers=5, random_state=1)
    for groups in ([0, 1], [0] * 5, np.zeros((5, 1))):
        with pytest.raises(ValueError, match="one group for each of 5 classes"):
            SparseKernelLogisticClassifier(**EXAMPLES, groups=groups).fit(X, y)
    with pytest.raises(ValueError, match="irls"):
        SparseKernelLogisticClassifier(**EXAMPLES, groups=GROUP, solver="irls").fit(X, y)


def test_groups_of_one_class_each_are_the_classes_themselves() -> None:
    X, y = make_blobs(300, centers=5, cluster_std=2.0, random_state=2)
    plain = SparseKernelLogisticClassifier(**EXAMPLES, loss="ovr").fit(X, y)
    alone = SparseKernelLogisticClassifier(**EXAMPLES, loss="ovr", groups=np.arange(5)).fit(X, y)
    np.testing.assert_allclose(alone.predict_proba(X), plain.predict_proba(X), atol=1e-9)
    again = alone.set_params(warm_start=True, groups=GROUP).fit(X, y)
    assert again.dual_coef_.shape[1] == 8
