"""Defaults on few noisy samples: what "auto" chooses, and that it holds on other samples."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from discriminants import (
    FixedSizeLSSVMClassifier,
    FixedSizeLSSVMRegressor,
    NPDClassifier,
    OLSClassifier,
    OROLSClassifier,
    SparseKernelLogisticClassifier,
)
from discriminants.logistic.alpha_choice import OF_MANY_SAMPLES, TIMES_SAMPLES
from discriminants.util.sampling import are_few


def noisy(n_samples: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two classes in eight dimensions, a fifth of the labels wrong."""
    X, y = make_classification(
        n_samples, 8, n_informative=3, n_redundant=0, flip_y=0.3, class_sep=1.0, random_state=seed, shuffle=True
    )
    return X, y


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "as_of_many"),
    [
        (NPDClassifier(random_state=0), {"criterion": None}),
        (OROLSClassifier(random_state=0), {"criterion": None}),
        (OLSClassifier(random_state=0), {"criterion": None}),
        (FixedSizeLSSVMClassifier(random_state=0), {"regularization": "gcv"}),
        (SparseKernelLogisticClassifier(random_state=0), {"alpha": OF_MANY_SAMPLES}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_defaults_are_no_worse_than_those_of_many_samples(learner: Any, as_of_many: dict[str, Any]) -> None:
    """And near those of a support vector machine."""
    learners = [learner, clone(learner).set_params(**as_of_many), SVC()]
    errors = np.zeros((6, 3))
    for seed in range(6):
        X, y = noisy(1150, seed)
        for number, one in enumerate(learners):
            errors[seed, number] = 1.0 - one.fit(X[:150], y[:150]).score(X[150:], y[150:])
    own, before, support_vectors = errors.mean(axis=0)
    assert own <= before
    assert own < support_vectors + 0.04


@pytest.mark.parametrize("learner", [NPDClassifier, OROLSClassifier, OLSClassifier])
def test_the_criterion_is_cross_validation_of_few_samples_and_none_of_many(learner: Any) -> None:
    few, many = noisy(90), noisy(300)
    assert are_few(90, 10)
    assert not are_few(300, 10)
    for (X, y), criterion in ((few, "cv"), (many, None)):
        by_itself, named = (learner(10, random_state=0, **k).fit(X, y) for k in ({}, {"criterion": criterion}))
        np.testing.assert_array_equal(by_itself.center_indices_, named.center_indices_)
        np.testing.assert_array_equal(by_itself.dual_coef_, named.dual_coef_)


def test_a_class_of_one_sample_leaves_the_penalty_of_many_samples() -> None:
    X, y = noisy(40)
    y[0] = 2
    assert SparseKernelLogisticClassifier(10).fit(X, y).alpha_ == OF_MANY_SAMPLES


@pytest.mark.parametrize("learner", [FixedSizeLSSVMClassifier, FixedSizeLSSVMRegressor])
def test_the_penalty_is_chosen_by_leaving_out_of_few_samples_and_by_gcv_of_many(learner: Any) -> None:
    for n_samples, regularization in ((90, "leave_one_out"), (400, "gcv")):
        X, y = noisy(n_samples)
        by_itself, named = (
            learner(10, random_state=0, **k).fit(X, y) for k in ({}, {"regularization": regularization})
        )
        np.testing.assert_array_equal(by_itself.scores_, named.scores_)
    streamed = learner(10, random_state=0)
    arguments: tuple[Any, ...] = ([0, 1],) if learner is FixedSizeLSSVMClassifier else ()
    streamed.partial_fit(*noisy(90), *arguments)
    by_gcv = learner(10, random_state=0, regularization="gcv").fit(*noisy(90))
    assert streamed.regularization_ == by_gcv.regularization_


def test_the_ridge_is_that_of_a_grid_search_on_few_samples() -> None:
    X, y = noisy(100)
    found = SparseKernelLogisticClassifier(30, solver="irls", random_state=0).fit(X, y)
    searched = GridSearchCV(
        SparseKernelLogisticClassifier(30, solver="irls", random_state=0),
        {"alpha": [times / 80 for times in TIMES_SAMPLES]},
        scoring="neg_log_loss",
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
    ).fit(X, y)
    assert found.alpha_ == pytest.approx(searched.best_params_["alpha"] * 80 / 100)
    assert SparseKernelLogisticClassifier(5, random_state=0).fit(X, y).alpha_ == OF_MANY_SAMPLES
    assert SparseKernelLogisticClassifier(30, alpha=0.01).fit(X, y).alpha_ == 0.01


def test_the_ridge_of_a_precomputed_kernel_is_that_of_many_samples() -> None:
    X, y = noisy(60)
    learner: BaseEstimator = SparseKernelLogisticClassifier(20, kernel="precomputed")
    assert learner.fit(X @ X.T, y).alpha_ == OF_MANY_SAMPLES
    widths = np.full(60, 3.0)
    assert SparseKernelLogisticClassifier(20, sigma=widths).fit(X, y).alpha_ == OF_MANY_SAMPLES
