"""NPD and OROLS as classifiers."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs, make_gaussian_quantiles
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from discriminants import (
    KFDClassifier,
    KRLSClassifier,
    KSODClassifier,
    LSSVMClassifier,
    NPDClassifier,
    OROLSClassifier,
)

LEARNERS = [NPDClassifier, OROLSClassifier]


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, ...]:
    X, y = load_digits(return_X_y=True)
    return tuple(train_test_split(X, y, test_size=0.4, random_state=0, stratify=y))


def test_a_shared_dictionary_of_200_kernels_reads_digits(digits: tuple[np.ndarray, ...]) -> None:
    X, X_test, y, y_test = digits
    for learner in (NPDClassifier(200, random_state=0), OROLSClassifier(200, random_state=0)):
        assert learner.fit(X, y).score(X_test, y_test) > 0.985
        assert learner.basis_centers_.shape[0] <= 200


def test_the_seeds_own_form_reads_digits_with_a_private_dictionary_for_each_class(
    digits: tuple[np.ndarray, ...],
) -> None:
    X, X_test, y, y_test = digits
    learner = OROLSClassifier(60, dictionary="private", rule="largest_residual", n_candidates=None, sigma=20.0)
    assert learner.fit(X, y).score(X_test, y_test) > 0.97
    assert learner.lambda_.shape == (10,)
    used = (learner.dual_coef_ != 0).sum(axis=0)
    assert used.max() <= 60
    assert learner.basis_centers_.shape[0] <= used.sum()


@pytest.mark.parametrize("learner_class", LEARNERS)
@pytest.mark.parametrize("posterior", ["gaussian", "multinomial"])
@pytest.mark.parametrize("names", [["no", "yes"], ["a", "b", "c"]])
def test_outputs_posteriors_and_labels_fit_together(learner_class: Any, posterior: str, names: list[str]) -> None:
    X, codes = make_blobs(300, centers=len(names), cluster_std=1.5, random_state=1)
    y = np.array(names)[codes]
    learner = learner_class(10, posterior=posterior).fit(X, y)
    outputs, proba = learner.decision_function(X), learner.predict_proba(X)
    assert outputs.shape == ((300,) if len(names) == 2 else (300, len(names)))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_allclose(proba, np.exp(learner.predict_log_proba(X)))
    np.testing.assert_array_equal(learner.predict(X), np.array(names)[proba.argmax(axis=1)])
    assert learner.score(X, y) > 0.9
    best = (outputs > 0).astype(int) if len(names) == 2 else outputs.argmax(axis=1)
    np.testing.assert_array_equal(learner.set_params(decide_by="output").predict(X), np.array(names)[best])
    assert log_loss(y, proba) < 0.3


@pytest.mark.parametrize(
    "learner",
    [
        NPDClassifier(50),
        OROLSClassifier(50),
        KFDClassifier(),
        LSSVMClassifier(),
        KRLSClassifier(),
        KSODClassifier(random_state=0),
    ],
)
def test_a_class_between_two_others_is_found(learner: Any) -> None:
    X, y = make_gaussian_quantiles(n_samples=1300, n_features=4, n_classes=3, random_state=50)
    fitted = clone(learner).fit(X[:300], y[:300])
    by_outputs = np.mean(fitted.decision_function(X[300:]).argmax(axis=1) == y[300:])
    assert fitted.score(X[300:], y[300:]) > max(0.85, by_outputs + 0.05)
    source = clone(learner).set_params(decide_by="output").fit(X[:300], y[:300])
    assert source.score(X[300:], y[300:]) == by_outputs


@pytest.mark.parametrize(
    "learner",
    [
        KFDClassifier(threshold="least_error"),
        LSSVMClassifier(threshold="soft_margin"),
        LSSVMClassifier(decoding="hamming"),
    ],
)
def test_thresholds_and_votes_that_were_asked_for_decide(learner: Any) -> None:
    X, y = make_blobs(200, centers=3, cluster_std=3.0, random_state=1)
    outputs = learner.fit(X, y).decision_function(X)
    np.testing.assert_array_equal(learner.predict(X), outputs.argmax(axis=1))


@pytest.mark.parametrize(
    "learner",
    [
        KSODClassifier(random_state=0),
        KSODClassifier(validation=3, posterior="platt"),
        KFDClassifier(threshold="least_error"),
        LSSVMClassifier(threshold="soft_margin", posterior="platt"),
    ],
)
def test_of_two_classes_parted_by_a_threshold_the_more_probable_one_is_decided_for(learner: Any) -> None:
    X, y = make_gaussian_quantiles(n_samples=900, n_features=3, n_classes=3, random_state=1)
    names = np.where(y == 1, "shell", "else")  # unequal, and far from normal
    fitted = clone(learner).fit(X[:300], names[:300])
    proba, decided = fitted.predict_proba(X), fitted.predict(X)
    np.testing.assert_array_equal(fitted.classes_[proba.argmax(axis=1)], decided)
    assert proba.max() > 0.8
    assert log_loss(names[300:], proba[300:]) < 0.6


def test_a_rule_of_the_users_own_chooses_the_centres() -> None:
    X, y = make_blobs(60, centers=2, random_state=6)
    learner = NPDClassifier(5, rule=lambda state: int(np.flatnonzero(state.available)[-1]), n_candidates=None)
    np.testing.assert_array_equal(learner.fit(X, y).center_indices_, [59, 58, 57, 56, 55])


@pytest.mark.slow
def test_float32_learners_are_right_where_columns_nearly_depend_on_each_other(
    digits: tuple[np.ndarray, ...],
) -> None:
    X, X_test, y, y_test = digits
    for learner in (NPDClassifier(600, sigma=60.0), OROLSClassifier(600, sigma=60.0, tol=0.0)):
        wide = learner.fit(X, y).score(X_test, y_test)
        single = learner.fit(X.astype(np.float32), y).score(X_test.astype(np.float32), y_test)
        assert single > 0.97
        assert single == pytest.approx(wide, abs=0.01)
