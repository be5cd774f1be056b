"""Labels against posteriors, for every classifier with default parameters."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification

import discriminants
from discriminants import LinearDiscriminant, NPDClassifier, PairwiseClassifier

_NAMES = [
    name
    for name in discriminants.__all__
    if name.endswith(("Classifier", "SVC", "LinearDiscriminant")) and name != "CodedClassifier"  # has no posteriors
]


def classifier(name: str) -> Any:
    kind = getattr(discriminants, name)
    return kind(LinearDiscriminant()) if kind is PairwiseClassifier else kind()


def overlapping(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes of unequal size that overlap."""
    weights = [0.75, 0.25] if n_classes == 2 else [0.5, 0.3, 0.2]
    return make_classification(
        150, 4, n_informative=3, n_redundant=0, n_classes=n_classes, weights=weights, flip_y=0.2, random_state=0
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", _NAMES)
def test_label_is_the_class_of_the_largest_posterior(name: str, n_classes: int) -> None:
    X, y = overlapping(n_classes)
    learner = classifier(name)
    assert is_classifier(learner)
    learner.fit(X, y)
    proba = learner.predict_proba(X)
    np.testing.assert_array_equal(learner.classes_[proba.argmax(axis=1)], learner.predict(X))


@pytest.mark.parametrize("posterior", ["multinomial", "gaussian", "platt"])
@pytest.mark.parametrize("learner", [NPDClassifier(10), LinearDiscriminant()])
def test_decision_by_output_keeps_the_threshold_of_the_source(learner: Any, posterior: str) -> None:
    X, y = overlapping(2)
    learner = clone(learner).set_params(posterior=posterior).fit(X, y)
    np.testing.assert_array_equal(learner.predict(X), learner.predict_proba(X).argmax(axis=1))
    learner.set_params(decide_by="output")
    np.testing.assert_array_equal(learner.predict(X), learner.decision_function(X) > 0)
