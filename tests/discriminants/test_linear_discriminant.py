"""Fisher's linear discriminant against least squares, the normal densities and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from discriminants.fisher.linear_discriminant import LinearDiscriminant


def _classes(n_classes: int, n: int = 150, d: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    y = random.choice(n_classes, size=n, p=np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum())
    X = random.normal(size=(n, d)) @ random.normal(size=(d, d)) + random.normal(size=(n_classes, d))[y]
    return X, y


def _scatter(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(3.7), a sample at a time."""
    means = {c: X[y == c].mean(axis=0) for c in np.unique(y)}
    return sum((np.outer(x - means[c], x - means[c]) for x, c in zip(X, y, strict=True)), np.zeros((X.shape[1],) * 2))


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@given(seed=st.integers(0, 10_000), d=st.integers(1, 8))
@settings(max_examples=25, deadline=None)
def test_the_direction_is_that_of_least_squares_onto_the_labels(seed: int, d: int) -> None:
    X, y = _classes(2, d=d, seed=seed)
    w = LinearDiscriminant().fit(X, y).coef_[0]
    solution = np.linalg.lstsq(np.hstack([X, np.ones((150, 1))]), 2.0 * y - 1.0, rcond=None)[0]
    assert _cosine(w, solution[:-1]) == pytest.approx(1.0, abs=1e-10)
    assert solution[-1] == pytest.approx(
        (2.0 * y - 1.0).mean() - X.mean(axis=0) @ solution[:-1]
    )  # (3.26), with corrected signs


@pytest.mark.parametrize("mu", [0.0, 3.0])
def test_weights_and_bias_are_those_of_the_formulas(mu: float) -> None:
    X, y = _classes(2)
    learner = LinearDiscriminant(regularization=mu).fit(X, y)
    inverse = np.linalg.inv((_scatter(X, y) + mu * np.eye(5)) / 150)
    negative, positive = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
    np.testing.assert_allclose(learner.coef_[0], inverse @ (positive - negative), rtol=1e-9)  # (3.18)
    bias = 0.5 * (negative @ inverse @ negative - positive @ inverse @ positive) + np.log(
        (y == 1).sum() / (y == 0).sum()
    )
    assert learner.intercept_[0] == pytest.approx(bias, rel=1e-9)  # (3.19)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_posteriors_are_bayes_rule_on_the_normal_densities(n_classes: int) -> None:
    X, y = _classes(n_classes)
    learner = LinearDiscriminant().fit(X, y)
    covariance = _scatter(X, y) / 150
    joint = np.stack(
        [(y == c).mean() * multivariate_normal(X[y == c].mean(axis=0), covariance).pdf(X) for c in range(n_classes)], 1
    )
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(learner.predict_proba(X), expected, atol=1e-10)  # (3.14)
    np.testing.assert_array_equal(learner.predict(X), expected.argmax(axis=1))


def test_two_classes_have_the_direction_of_scikit_learns_analysis() -> None:
    X, y = make_classification(200, 8, random_state=0)[0:2]
    X = X + 1e-3 * np.random.default_rng(0).normal(size=X.shape)  # its redundant features are made independent
    theirs = LinearDiscriminantAnalysis().fit(X, y).coef_[0]
    assert _cosine(LinearDiscriminant().fit(X, y).coef_[0], theirs) == pytest.approx(1.0, abs=1e-10)


def test_iris_posteriors_are_those_of_scikit_learns_maximum_likelihood_solver() -> None:
    X, y = load_iris(return_X_y=True)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    ours = LinearDiscriminant().fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-10)


def test_a_class_between_two_others_is_not_hidden() -> None:
    random = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 50)
    X = random.normal(scale=0.3, size=(150, 2)) + 3.0 * y[:, None]
    assert LinearDiscriminant().fit(X, y).score(X, y) > 0.98


def test_scaling_a_feature_changes_nothing_without_a_ridge() -> None:
    X, y = _classes(3)
    scale = np.array([1e-6, 1.0, 1e5, 3.0, 1e3])
    np.testing.assert_allclose(
        LinearDiscriminant().fit(X * scale, y).predict_proba(X * scale),
        LinearDiscriminant().fit(X, y).predict_proba(X),
        atol=1e-9,
    )


def test_constant_and_repeated_features_change_nothing() -> None:
    X, y = _classes(3)
    wide = np.hstack([X, np.full((150, 1), 3.3), X[:, :2], X[:, :1] - X[:, 1:2]])
    learner = LinearDiscriminant().fit(wide, y)
    np.testing.assert_allclose(learner.predict_proba(wide), LinearDiscriminant().fit(X, y).predict_proba(X), atol=1e-8)
    assert (learner.coef_[:, 5] == 0).all()


@pytest.mark.parametrize("posterior", ["equal_covariance", "gaussian"])
@pytest.mark.parametrize("names", [["no", "yes"], ["a", "b", "c"]])
def test_outputs_posteriors_and_labels_fit_together(posterior: str, names: list[str]) -> None:
    X, codes = _classes(len(names))
    y = np.array(names)[codes]
    learner = LinearDiscriminant(posterior=posterior).fit(X, y)
    outputs, proba = learner.decision_function(X), learner.predict_proba(X)
    assert outputs.shape == ((150,) if len(names) == 2 else (150, len(names)))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    best = (outputs > 0).astype(int) if len(names) == 2 else outputs.argmax(axis=1)
    np.testing.assert_array_equal(learner.predict(X), np.array(names)[best])
    assert (np.array(names)[proba.argmax(axis=1)] == learner.predict(X)).mean() > 0.85


def test_float32_samples_far_from_the_origin_keep_their_digits() -> None:
    X, y = _classes(3)
    X = (X + 1000.0).astype(np.float32)
    learner = LinearDiscriminant().fit(X, y)
    single, double = learner.decision_function(X), learner.decision_function(X.astype(np.float64))
    assert single.dtype == learner.predict_proba(X).dtype == np.float32
    np.testing.assert_allclose(single, double, atol=1e-5)


def test_more_features_than_samples_need_a_ridge() -> None:
    X, y = _classes(2, n=10, d=30)
    with pytest.raises(ValueError, match="regularization > 0"):
        LinearDiscriminant().fit(X, y)
    assert LinearDiscriminant(regularization=1.0).fit(X, y).score(X, y) == 1.0


def test_a_feature_that_tells_the_label_is_refused_without_a_ridge() -> None:
    X, y = _classes(3)
    X[:, 2] = y
    with pytest.raises(ValueError, match="no variance"):
        LinearDiscriminant().fit(X, y)
