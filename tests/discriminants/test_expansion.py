"""A kernel prepared for a learner's centres is kept between calls, and never outlives what it was made of."""

import numpy as np
import pytest

from discriminants import KRLSClassifier, SparseKernelLogisticClassifier
from discriminants.kernels import GaussianKernel


@pytest.fixture
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=150)
    return (rng.standard_normal((150, 4)) + y[:, None]).astype(np.float32), y


@pytest.fixture
def learner(data) -> SparseKernelLogisticClassifier:
    return SparseKernelLogisticClassifier(n_centers=20, max_iter=2, random_state=0).fit(*data)


def count_preparations(monkeypatch) -> list[int]:
    calls: list[int] = []
    original = GaussianKernel.columns

    def counting(self, centers, dtype=np.float64):
        calls.append(len(centers))
        return original(self, centers, dtype)

    monkeypatch.setattr(GaussianKernel, "columns", counting)
    return calls


def test_centers_are_prepared_once_for_many_small_calls(data, learner, monkeypatch):
    expected = learner.decision_function(data[0])
    calls = count_preparations(monkeypatch)
    for row in range(5):
        np.testing.assert_allclose(learner.decision_function(data[0][row : row + 1])[0], expected[row], rtol=1e-4)
    assert len(calls) <= 1


def test_another_float_type_another_fit_and_another_width_are_prepared_anew(data, learner):
    X, y = data
    narrow = learner.decision_function(X)
    assert learner.decision_function(X.astype(np.float64)).dtype == np.float64
    learner.kernel_.sigma = 3.0 * learner.kernel_.sigma
    assert not np.allclose(learner.decision_function(X), narrow)
    learner.fit(X[:, ::-1], y)
    fresh = SparseKernelLogisticClassifier(n_centers=20, max_iter=2, random_state=0).fit(X[:, ::-1], y)
    np.testing.assert_array_equal(learner.decision_function(X), fresh.decision_function(X))


def test_a_learner_that_goes_on_learning_uses_its_new_centers(data):
    X, y = data
    learner = KRLSClassifier(max_centers=30).partial_fit(X[:50], y[:50], classes=np.arange(3))
    learner.decision_function(X)
    learner.partial_fit(X[50:], y[50:])
    other = KRLSClassifier(max_centers=30).partial_fit(X[:50], y[:50], classes=np.arange(3)).partial_fit(X[50:], y[50:])
    np.testing.assert_array_equal(learner.decision_function(X), other.decision_function(X))


def test_predicting_leaves_nothing_in_the_learner(data, learner):
    before = set(vars(learner))
    learner.predict(data[0])
    assert set(vars(learner)) == before
