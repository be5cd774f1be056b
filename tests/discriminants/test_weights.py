"""Weights of samples and classes, for every classifier and regressor."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score
from sklearn.svm import SVC

import discriminants
from discriminants import (
    BayesianLSSVMRegressor,
    CodedClassifier,
    FixedSizeLSSVMClassifier,
    FixedSizeLSSVMRegressor,
    KFDClassifier,
    LinearDiscriminant,
    LPMachineClassifier,
    LPMachineRegressor,
    LSSVMClassifier,
    LSSVMRegressor,
    NPDClassifier,
    NPDRegressor,
    OneVsOneSVC,
    OROLSClassifier,
    OROLSRegressor,
    PairwiseClassifier,
    PrunedLSSVMClassifier,
    PrunedLSSVMRegressor,
    RVMClassifier,
    RVMRegressor,
    SparseKernelLogisticClassifier,
    WeightedLSSVMRegressor,
)

_OF_TRAINING: dict[str, Any] = {"sigma": 2.0, "regularization": 0.1, "calibrate_on": "training"}
_SIZED: dict[str, Any] = {"sigma": 2.0, "criterion": None}
_WEIGHTED: list[Any] = [
    NPDClassifier(8, **_SIZED),
    NPDClassifier(8, criterion=None, norm_penalty=0.1),
    OROLSClassifier(8, **_SIZED, posterior="gaussian"),
    KFDClassifier(**_OF_TRAINING),
    KFDClassifier(**_OF_TRAINING, penalty="kernel", threshold="soft_margin"),
    LSSVMClassifier(**_OF_TRAINING),
    FixedSizeLSSVMClassifier(60, sigma=2.0, regularization=0.1),
    LinearDiscriminant(),
    LinearDiscriminant(posterior="platt"),
    PairwiseClassifier(LinearDiscriminant()),
    CodedClassifier(LSSVMClassifier(**_OF_TRAINING)),
    OneVsOneSVC(held_out=0.0, tol=1e-9),
    SparseKernelLogisticClassifier(8, sigma=2.0, alpha=1e-3, solver="irls"),
    NPDRegressor(8, **_SIZED),
    OROLSRegressor(8, **_SIZED),
    LSSVMRegressor(sigma=2.0, regularization=0.1),
    WeightedLSSVMRegressor(sigma=2.0, regularization=0.1),
    FixedSizeLSSVMRegressor(60, sigma=2.0, regularization=0.1),
    BayesianLSSVMRegressor(),
    LPMachineClassifier(sigma=2.0, regularization=0.1),
    LPMachineRegressor(sigma=2.0, regularization=0.1),
    RVMClassifier(sigma=2.0),
    RVMRegressor(sigma=2.0),
]
_REFUSING = [
    "BayesianLSSVMClassifier",
    "InvariantKFDClassifier",
    "KRLSClassifier",
    "KSODClassifier",
    "OLSClassifier",
    "OneVsOneKernelClassifier",
    "RobustKFDClassifier",
    "SparseGreedyKFDClassifier",
    "SparseKFDClassifier",
    "CommitteeRegressor",
    "HeteroscedasticLSSVMRegressor",
    "KRLSRegressor",
    "OLSRegressor",
    "SparseKFDRegressor",
]
_ELSEWHERE = {PrunedLSSVMClassifier.__name__, PrunedLSSVMRegressor.__name__}  # of copies, some are pruned


def samples(n_classes: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y = make_classification(
        60, 3, n_informative=3, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, flip_y=0.2, random_state=0
    )
    return X, y, np.random.default_rng(0).integers(0, 4, size=60)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", _WEIGHTED, ids=lambda learner: type(learner).__name__)
def test_weight_counts_as_repeated_samples(learner: Any, n_classes: int) -> None:
    X, y, weight = samples(n_classes)
    if not is_classifier(learner):
        y = X[:, 0] * np.sin(X[:, 1]) + y
    rows = np.repeat(np.arange(60), weight)
    weighted = clone(learner).fit(X, y, sample_weight=weight.astype(float))
    repeated = clone(learner).fit(X[rows], y[rows])
    method = next(name for name in ("predict_proba", "decision_function", "predict") if hasattr(learner, name))
    expected = getattr(repeated, method)(X)
    np.testing.assert_allclose(getattr(weighted, method)(X), expected, rtol=1e-3, atol=2e-4)
    assert np.abs(getattr(clone(learner).fit(X, y), method)(X) - expected).max() > 1e-3


@pytest.mark.parametrize("name", _REFUSING)
def test_learner_without_weights_refuses_them(name: str) -> None:
    X, y, weight = samples()
    learner = getattr(discriminants, name)()
    with pytest.raises(ValueError, match=f"{name}.*sample_weight.*LSSVM"):
        learner.fit(X, y, sample_weight=weight)
    if "class_weight" in learner.get_params():
        with pytest.raises(ValueError, match=f"{name}.*class_weight.*LSSVM"):
            learner.set_params(class_weight="balanced").fit(X, y)


def test_learner_of_the_package_has_a_row() -> None:
    kinds = {
        name for name in discriminants.__all__ if name.endswith(("Classifier", "Regressor", "SVC", "Discriminant"))
    }
    assert kinds == {type(learner).__name__ for learner in _WEIGHTED} | set(_REFUSING) | _ELSEWHERE


@pytest.mark.parametrize(
    "learner",
    [
        NPDClassifier(),
        OROLSClassifier(),
        KFDClassifier(),
        LSSVMClassifier(),
        LinearDiscriminant(),
        OneVsOneSVC(),
        SparseKernelLogisticClassifier(50),
        FixedSizeLSSVMClassifier(),
        PairwiseClassifier(KFDClassifier()),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_balanced_weights_find_a_rare_class(learner: Any) -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(450, 2)), np.arange(450) % 150 < 3
    X[y] += 2.0
    model = clone(learner).set_params(class_weight="balanced").fit(X[:150], y[:150])
    assert balanced_accuracy_score(y, model.predict(X)) > 0.75


@pytest.mark.parametrize("learner", [LSSVMClassifier(regularization=0.1), LinearDiscriminant(), OROLSClassifier(8)])
def test_class_weights_are_sample_weights(learner: Any) -> None:
    X, y, weight = samples(3)
    of_classes = {0: 1.0, 1: 3.0, 2: 0.5}
    expected = clone(learner).fit(X, y, sample_weight=(1 + weight) * np.vectorize(of_classes.get)(y))
    found = clone(learner).set_params(class_weight=of_classes).fit(X, y, sample_weight=1 + weight)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("class_weight", [{7: 1.0}, {0: -1.0}, {0: np.inf}])
def test_class_weights_that_do_not_fit_raise(class_weight: dict[int, float]) -> None:
    X, y, _ = samples()
    with pytest.raises(ValueError, match="class_weight"):
        LSSVMClassifier(class_weight=class_weight).fit(X, y)


def test_pairs_of_a_learner_without_weights_refuse_them() -> None:
    X, y, weight = samples()
    with pytest.raises(ValueError, match=r"PairwiseClassifier.*sample_weight"):
        PairwiseClassifier(_WithoutWeights()).fit(X, y, sample_weight=weight)


class _WithoutWeights(SVC):
    def fit(self, X: np.ndarray, y: np.ndarray) -> Any:
        return super().fit(X, y)
