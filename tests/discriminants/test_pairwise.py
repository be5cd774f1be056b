"""One-vs-one classification against a sample at a time and against scikit-learn."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits, make_blobs
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from discriminants.fisher.linear_discriminant import LinearDiscriminant
from discriminants.multiclass.pairwise import PairwiseClassifier, couple, pairwise_log_odds

COMBINE = ["voting", "coupling", "dag"]


def _blobs(n_classes: int = 5) -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(240, centers=n_classes, cluster_std=4.0, n_features=3, random_state=0)


def _coupled_as_printed(nu: np.ndarray) -> np.ndarray:
    """(4.8) for one sample, T the number of classes; nu[i, j] the posterior of i against j."""
    T = len(nu)
    p = np.array([1.0 / (sum(1.0 / nu[i, j] for j in range(T) if j != i) - (T - 2)) for i in range(T)])
    return p / p.sum()


def _posteriors(learner: PairwiseClassifier, x: np.ndarray) -> np.ndarray:
    T = len(learner.classes_)
    nu = np.full((T, T), np.nan)
    for estimator, (i, j) in zip(learner.estimators_, combinations(range(T), 2), strict=True):
        nu[i, j], nu[j, i] = estimator.predict_proba(x[None])[0]
    return nu


def _voted(learner: PairwiseClassifier, x: np.ndarray) -> int:
    T = len(learner.classes_)
    votes, sums = np.zeros(T), np.zeros(T)
    for estimator, (i, j) in zip(learner.estimators_, combinations(range(T), 2), strict=True):
        decision = float(estimator.decision_function(x[None])[0])
        votes[j if decision > 0 else i] += 1
        sums[j] += decision
        sums[i] -= decision
    most = np.flatnonzero(votes == votes.max())
    return int(most[sums[most].argmax()])


def _walked(learner: PairwiseClassifier, x: np.ndarray) -> int:
    left = list(range(len(learner.classes_)))
    pairs = list(combinations(left, 2))
    while len(left) > 1:
        decision = learner.estimators_[pairs.index((left[0], left[-1]))].decision_function(x[None])[0]
        left.pop(0 if decision > 0 else -1)
    return left[0]


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_every_way_to_combine_agrees_with_a_sample_at_a_time(n_classes: int) -> None:
    X, y = _blobs(n_classes)
    learner = PairwiseClassifier(LogisticRegression(), "voting").fit(X, y)
    coupled = np.array([_coupled_as_printed(_posteriors(learner, x)) for x in X[:80]])
    naive = {
        "voting": [_voted(learner, x) for x in X[:80]],
        "dag": [_walked(learner, x) for x in X[:80]],
        "coupling": coupled.argmax(axis=1),
    }
    for combine in COMBINE:
        learner = PairwiseClassifier(LogisticRegression(), combine).fit(X, y)
        np.testing.assert_array_equal(learner.predict(X[:80]), naive[combine])
        np.testing.assert_allclose(learner.predict_proba(X[:80]), coupled, rtol=1e-9)
        assert learner.score(X, y) > 0.55


@pytest.mark.parametrize("n_classes", [2, 5])
def test_voting_is_scikit_learns(n_classes: int) -> None:
    X, y = _blobs(n_classes)
    ours = PairwiseClassifier(LogisticRegression(), "voting").fit(X, y)
    theirs = OneVsOneClassifier(LogisticRegression()).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if n_classes > 2:
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X))
    else:  # theirs counts one vote; ours are the decision values
        np.testing.assert_array_equal(ours.decision_function(X), ours.estimators_[0].decision_function(X))


def test_default_combination_is_coupling_if_there_are_posteriors() -> None:
    X, y = _blobs(3)
    coupled = PairwiseClassifier(LogisticRegression()).fit(X, y)
    np.testing.assert_array_equal(coupled.predict(X), coupled.predict_proba(X).argmax(axis=1))
    assert hasattr(PairwiseClassifier(SVC()).fit(X, y), "decision_function")


class _Fixed(ClassifierMixin, BaseEstimator):
    """Its decision, or its probability of the second class, is a column of X."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "_Fixed":
        self.classes_ = np.unique(y)
        self.n_seen_ = 0
        return self


class _FixedDecision(_Fixed):
    def decision_function(self, X: np.ndarray) -> np.ndarray:
        self.n_seen_ += len(X)
        return X[:, self.column_]


class _FixedPosterior(_Fixed):
    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.stack([1 - X[:, self.column_], X[:, self.column_]], axis=1)


def _fixed(inner: Any, combine: str, n_classes: int = 3) -> PairwiseClassifier:
    """Pair k decides by column k of X."""
    n_pairs = n_classes * (n_classes - 1) // 2
    learner = PairwiseClassifier(inner, combine).fit(np.zeros((n_classes, n_pairs)), np.arange(n_classes))
    for column, estimator in enumerate(learner.estimators_):
        estimator.column_ = column
    return learner


def test_equal_votes_are_decided_by_the_summed_decisions_and_then_by_the_order_of_classes() -> None:
    # 0 beats 1, 1 beats 2, 2 beats 0: one vote each.
    circle = np.array([[-1.0, 0.2, -0.5], [-0.1, 5.0, -0.1], [-1.0, 1.0, -1.0]])
    learner = _fixed(_FixedDecision(), "voting")
    np.testing.assert_array_equal(learner.predict(circle), [0, 2, 0])
    np.testing.assert_array_equal(learner.predict(1e6 * circle), [0, 2, 0])


def test_votes_come_from_probabilities_where_there_are_no_decisions() -> None:
    learner = _fixed(_FixedPosterior(), "voting")
    np.testing.assert_array_equal(learner.predict([[0.4, 0.6, 0.9], [0.1, 0.1, 0.9], [0.9, 0.4, 0.2]]), [2, 0, 1])


def test_the_graph_evaluates_each_sample_one_time_less_than_there_are_classes() -> None:
    X = np.random.default_rng(0).normal(size=(50, 10))
    learner = _fixed(_FixedDecision(), "dag", n_classes=5)
    learner.predict(X)
    assert sum(estimator.n_seen_ for estimator in learner.estimators_) == 50 * 4


@given(st.integers(2, 7), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_coupling_is_the_formula_and_gives_back_posteriors_that_fit_together(n_classes: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    p = random.dirichlet(np.ones(n_classes), size=4)
    pairs = [(i, j, np.log(p[:, i]) - np.log(p[:, j])) for i, j in combinations(range(n_classes), 2)]
    np.testing.assert_allclose(np.exp(couple(pairs, 4, n_classes)), p, rtol=1e-9)
    pairs = [(i, j, random.normal(scale=3, size=4)) for i, j, _ in pairs]
    found = np.exp(couple(pairs, 4, n_classes))
    for n in range(4):
        nu = np.full((n_classes, n_classes), np.nan)
        for i, j, log_odds in pairs:
            nu[i, j], nu[j, i] = 1 / (1 + np.exp(-log_odds[n])), 1 / (1 + np.exp(log_odds[n]))
        np.testing.assert_allclose(found[n], _coupled_as_printed(nu), rtol=1e-8)


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_pairs_that_are_certain_give_finite_posteriors(seed: int) -> None:
    random = np.random.default_rng(seed)
    certain = random.choice([0.0, 1.0, 0.3], size=(6, 8)).T
    found = _fixed(_FixedPosterior(), "coupling", 4).predict_proba(certain[:, :6])
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_a_certain_winner_gets_everything_and_a_certain_circle_is_shared() -> None:
    found = _fixed(_FixedPosterior(), "coupling").predict_proba([[0.0, 0.0, 0.5], [0.0, 1.0, 0.0]])
    np.testing.assert_allclose(found, [[1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]], atol=1e-12)
    assert np.isfinite(pairwise_log_odds(np.array([0.0, 1.0]), np.array([1.0, 0.0]))).all()


@pytest.mark.parametrize("combine", COMBINE)
def test_names_of_classes_come_back(combine: str) -> None:
    X, codes = _blobs(3)
    y = np.array(["a", "b", "c"])[codes]
    learner = PairwiseClassifier(GaussianNB(), combine).fit(X, y)
    assert learner.score(X, y) > 0.7
    assert len(learner.estimators_) == 3
    assert hasattr(learner, "decision_function") == (combine == "voting")


def test_estimators_without_posteriors_vote_and_walk_but_do_not_couple() -> None:
    X, y = _blobs()
    for combine in ("voting", "dag"):
        learner = PairwiseClassifier(RidgeClassifier(), combine).fit(X, y)
        assert learner.score(X, y) > 0.55
        assert not hasattr(learner, "predict_proba")
    with pytest.raises(ValueError, match="predict_proba"):
        PairwiseClassifier(RidgeClassifier(), "coupling").fit(X, y)


@pytest.mark.parametrize("combine", ["voting", "dag"])
def test_a_precomputed_kernel_gives_what_its_points_give(combine: str) -> None:
    X, y = _blobs()
    by_points = PairwiseClassifier(SVC(kernel="linear"), combine).fit(X, y)
    by_matrix = PairwiseClassifier(SVC(kernel="precomputed"), combine).fit(X @ X.T, y)
    np.testing.assert_array_equal(by_matrix.predict(X @ X.T), by_points.predict(X))


def test_sparse_samples_pass_where_the_estimator_takes_them() -> None:
    X, y = load_digits(n_class=4, return_X_y=True)
    learner = PairwiseClassifier(RidgeClassifier(), "dag").fit(csr_array(X), y)
    assert learner.score(csr_array(X), y) > 0.98
    with pytest.raises(TypeError, match="dense"):
        PairwiseClassifier(LinearDiscriminant()).fit(csr_array(X), y)


def test_jobs_at_the_same_time_train_the_same_estimators() -> None:
    X, y = _blobs()
    with parallel_config(backend="threading"):
        one, two = (PairwiseClassifier(LogisticRegression(), n_jobs=n).fit(X, y) for n in (None, 2))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize("parameters", [{"estimator": None}, {"estimator": _Fixed()}])
def test_parameters_out_of_range_are_refused(parameters: dict[str, Any]) -> None:
    X, y = _blobs(3)
    with pytest.raises(ValueError, match=next(iter(parameters))):
        PairwiseClassifier(**{"estimator": GaussianNB(), **parameters}).fit(X, y)
