"""Classifiers of output codes: against the LS-SVM of all tasks and against a loop over the classes."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from discriminants import (
    CodedClassifier,
    LSSVMClassifier,
    ShrinkingGridSearchCV,
    estimator_from_arrays,
    estimator_to_arrays,
)

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["a", "b", "c"])[Y]
MACHINE: dict[str, Any] = {"sigma": 2.0, "regularization": 0.1}


@pytest.mark.parametrize("decoding", ["loss", "hamming"])
@pytest.mark.parametrize("coding", ["one-vs-rest", "one-vs-one", "minimum-output", "error-correcting"])
def test_equal_settings_give_the_machine_of_all_tasks(coding: str, decoding: str) -> None:
    together = LSSVMClassifier(**MACHINE, coding=coding, decoding=decoding).fit(X, NAMES)
    separate = CodedClassifier(LSSVMClassifier(**MACHINE), coding=coding, decoding=decoding).fit(X, NAMES)
    np.testing.assert_array_equal(separate.code_, together.code_)
    np.testing.assert_allclose(separate.decision_function(X), together.decision_function(X), atol=1e-8)
    np.testing.assert_array_equal(separate.predict(X), separate.classes_[separate.decision_function(X).argmax(axis=1)])


def test_each_task_has_settings_of_its_own() -> None:
    search = ShrinkingGridSearchCV(LSSVMClassifier(), {"sigma": [8.0, 2.0, 0.5], "regularization": [1.0, 0.01]}, cv=3)
    search.set_params(n_refinements=0)
    model = CodedClassifier(search).fit(X, Y)
    chosen = [each.best_params_ for each in model.estimators_]
    for task, parameters in enumerate(chosen):
        assert parameters == search.fit(X, task == Y).best_params_
    assert chosen[0] != chosen[1]
    assert model.score(X, Y) > 0.95


def test_two_classes_have_one_task_and_files_hold_all() -> None:
    model = CodedClassifier(SVC()).fit(X[:100], NAMES[:100])
    np.testing.assert_allclose(model.decision_function(X), SVC().fit(X[:100], Y[:100]).decision_function(X))
    model = CodedClassifier(LSSVMClassifier(**MACHINE), coding="minimum-output").fit(X, NAMES)
    again = estimator_from_arrays(*estimator_to_arrays(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    model.code_ = model.code_[:, :1]
    with pytest.raises(ValueError, match=r"code_|estimators_"):
        estimator_from_arrays(*estimator_to_arrays(model))
