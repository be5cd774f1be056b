"""Nystroem features and fixed-size LS-SVM: against the exact kernel, dense formulas and each other."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_moons, make_regression
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer

from discriminants import FixedSizeLSSVMClassifier, FixedSizeLSSVMRegressor, GaussianKernel, GreedyNystroem
from discriminants.center_selection.choice import CHOOSERS
from discriminants.linear_systems.ridge_sums import RidgeSums
from discriminants.serialization.persistence import estimator_from_arrays, estimator_to_arrays

SIGMA = 1.3
KERNEL = GaussianKernel(SIGMA)


def samples(n_samples: int = 90, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, classes, and two smooth targets with noise."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n_samples, 2))
    targets = np.stack([np.sin(2 * X[:, 0]), X[:, 0] * X[:, 1] + 5.0], axis=1)
    targets += 0.1 * random.normal(size=targets.shape)
    return X, np.digitize(targets[:, 0], np.linspace(-1, 1, n_classes + 1)[1:-1]), targets


def first_rows(X: np.ndarray, kernel: Any, n_centers: int, random: Any, targets: Any) -> np.ndarray:
    return np.arange(min(n_centers, X.shape[0]))


@pytest.mark.parametrize("name", CHOOSERS)
def test_with_all_samples_as_centres_products_of_features_are_the_kernel(name: str) -> None:
    X, y, _ = samples(40)
    model = GreedyNystroem(40, sigma=0.3, chooser=name, random_state=0).fit(X, y)
    features = model.transform(X)
    np.testing.assert_allclose(features @ features.T, GaussianKernel(0.3)(X, X), atol=1e-8)
    assert features.shape == (40, len(model.get_feature_names_out())) == (40, model.center_indices_.shape[0])


def test_the_same_centres_give_the_products_of_scikit_learns_features() -> None:
    X, _, _ = samples()
    drawn = Nystroem(gamma=0.5 / SIGMA**2, n_components=9, random_state=0).fit(X)

    def same(X: np.ndarray, *_: Any) -> np.ndarray:
        return drawn.component_indices_

    ours = GreedyNystroem(9, sigma=SIGMA, chooser=same).fit(X).transform(X)
    theirs = drawn.transform(X)
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-8)


def test_features_of_the_centres_are_white() -> None:
    X, _, _ = samples()
    model = GreedyNystroem(12, sigma=SIGMA, chooser="cholesky").fit(X)
    np.testing.assert_array_equal(model.basis_centers_, X[model.center_indices_])
    A = model.dual_coef_
    K = KERNEL(model.basis_centers_, model.basis_centers_)
    np.testing.assert_allclose(A.T @ K @ A, np.eye(12), atol=1e-8)


def test_centres_that_nearly_depend_on_others_are_left_out() -> None:
    X, _, _ = samples(30)
    X = np.vstack([X, X + 1e-9])
    model = GreedyNystroem(60, sigma=0.3, chooser=first_rows).fit(X)
    features = model.transform(X)
    assert features.shape[1] == 30
    np.testing.assert_allclose(features @ features.T, GaussianKernel(0.3)(X, X), atol=1e-6)
    assert GreedyNystroem(60, sigma=0.3, tol=0.5, chooser=first_rows).fit(X).transform(X).shape[1] < 30


def test_single_precision_features_are_the_double_ones_rounded() -> None:
    X, _, _ = samples(3000)
    X = X.astype(np.float32)
    model = GreedyNystroem(40, sigma=3.0, random_state=0).fit(X)
    found, expected = model.transform(X), model.transform(X.astype(np.float64))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(
    "kernel", ["sigmoid", GaussianKernel(np.full(90, 1.0)), lambda A, B: A @ np.triu(np.ones((2, 2))) @ B.T]
)
def test_a_kernel_that_is_no_scalar_product_is_refused(kernel: Any) -> None:
    X, _, _ = samples()
    with pytest.raises(ValueError, match=r"semidefinite|symmetric"):
        GreedyNystroem(20, kernel=kernel, chooser="random", random_state=0).fit(X)


def test_it_takes_the_place_of_random_features_in_a_pipeline() -> None:
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    scores = {}
    for name, features in {
        "random": Nystroem(gamma=0.5 / 1.5**2, n_components=40, random_state=0),
        "greedy": GreedyNystroem(40, sigma=1.5, chooser="greedy", random_state=0),
        "k-means": GreedyNystroem(40, sigma=1.5, random_state=0),
    }.items():
        pipeline = make_pipeline(features, RidgeClassifier(alpha=1e-3)).fit(X[:1000], y[:1000])
        scores[name] = pipeline.score(X[1000:], y[1000:])
    assert scores["greedy"] > scores["random"]
    assert scores["k-means"] > scores["random"]


@pytest.mark.parametrize("regularization", [1e-3, 1.0])
def test_with_all_samples_as_centres_it_is_centred_kernel_ridge_regression(regularization: float) -> None:
    X, _, targets = samples(60)
    model = FixedSizeLSSVMRegressor(60, sigma=0.3, chooser="cholesky", regularization=regularization, tol=1e-14).fit(
        X, targets
    )
    K, means = GaussianKernel(0.3)(X, X), targets.mean(axis=0)
    ridge = KernelRidge(alpha=regularization, kernel="precomputed")
    expected = ridge.fit(KernelCenterer().fit_transform(K), targets - means).predict(KernelCenterer().fit_transform(K))
    np.testing.assert_allclose(model.predict(X), expected + means, atol=1e-8)


def explicit(X: np.ndarray, targets: np.ndarray, mu: float) -> tuple[np.ndarray, np.ndarray]:
    """Outputs of ridge regression with a free bias in the features of the first twelve samples, and the smoother."""
    Z = GreedyNystroem(12, sigma=SIGMA, chooser=first_rows).fit(X).transform(X)
    B = np.hstack([Z, np.ones((Z.shape[0], 1))])
    S = B @ np.linalg.solve(B.T @ B + mu * np.diag([1.0] * 12 + [0.0]), B.T)
    return S @ targets, S


def test_outputs_scores_and_parameters_are_those_of_the_smoother() -> None:
    X, _, targets = samples()
    penalties = np.array([1e-3, 1e-1, 10.0])
    common = {"sigma": SIGMA, "chooser": first_rows, "penalties": penalties}
    by_gcv = FixedSizeLSSVMRegressor(12, regularization="gcv", **common).fit(X, targets)
    by_leaving_out = FixedSizeLSSVMRegressor(12, regularization="leave_one_out", **common).fit(X, targets)
    n = X.shape[0]
    for number, mu in enumerate(penalties):
        outputs, S = explicit(X, targets, mu)
        squares = (targets - outputs) ** 2
        np.testing.assert_allclose(by_gcv.scores_[number], n * squares.sum() / (n - np.trace(S)) ** 2)
        left_out = squares / (1 - S.diagonal()[:, None]) ** 2
        np.testing.assert_allclose(by_leaving_out.scores_[number], left_out.sum() / n)
    for model in (by_gcv, by_leaving_out):
        assert model.regularization_ == penalties[np.argmin(model.scores_)]
        outputs, S = explicit(X, targets, model.regularization_)
        np.testing.assert_allclose(model.predict(X), outputs, atol=1e-8)
        np.testing.assert_allclose(model.effective_parameters_, np.trace(S))


def test_leaving_out_is_training_without_the_sample() -> None:
    X, _, targets = samples(40)
    centers = X[:8]
    common = {"sigma": SIGMA, "centers": centers}
    model = FixedSizeLSSVMRegressor(regularization="leave_one_out", penalties=[0.3], **common).fit(X, targets)
    errors = 0.0
    for row in range(40):
        rest = np.delete(np.arange(40), row)
        without = FixedSizeLSSVMRegressor(regularization=0.3, **common).fit(X[rest], targets[rest])
        errors += float(((without.predict(X[[row]]) - targets[row]) ** 2).sum())
    np.testing.assert_allclose(model.scores_[0], errors / 40)


@pytest.mark.parametrize("regularization", ["gcv", "leave_one_out"])
def test_the_units_of_the_features_do_not_matter_to_a_linear_kernel(regularization: str) -> None:
    X, y = make_regression(150, 60, n_informative=10, noise=100.0, random_state=0)
    outputs = [
        FixedSizeLSSVMRegressor(100, kernel="linear", regularization=regularization, random_state=0)
        .fit(units * X[:100], y[:100])
        .predict(units * X[100:])
        for units in (10.0, 1e4)
    ]
    np.testing.assert_allclose(outputs[1], outputs[0], rtol=1e-3, atol=1e-3 * np.ptp(y))


def test_copies_do_not_choose_a_small_penalty() -> None:
    X, y = make_moons(1060, noise=0.3, random_state=1)
    once = FixedSizeLSSVMClassifier(random_state=0).fit(X[:60], y[:60])
    twice = FixedSizeLSSVMClassifier(random_state=0).fit(X[:60].repeat(2, axis=0), y[:60].repeat(2))
    assert 0.09 < twice.regularization_ / once.regularization_ < 11
    assert twice.score(X[60:], y[60:]) > 0.8


@pytest.mark.parametrize("sizes", [[90], [2, 88], [30, 1, 40, 19], [2, *[11] * 8]])
def test_a_stream_cut_anywhere_gives_the_regressor_of_all_samples(sizes: list[int]) -> None:
    X, _, targets = samples()
    model = FixedSizeLSSVMRegressor(sigma=SIGMA, centers=X[:10], regularization="gcv")
    expected = clone(model).fit(X, targets)
    for rows in np.split(np.arange(90), np.cumsum(sizes)[:-1]):
        model.partial_fit(X[rows], targets[rows])
    assert model.regularization_ == expected.regularization_
    np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("sizes", [[90], [30, 1, 40, 19]])
def test_a_stream_cut_anywhere_gives_the_classifier_of_all_samples(sizes: list[int], n_classes: int) -> None:
    X, y, _ = samples(n_classes=n_classes)
    model = FixedSizeLSSVMClassifier(sigma=SIGMA, centers=X[:10], regularization="gcv")
    expected = clone(model).set_params(posterior="gaussian").fit(X, y)
    for rows in np.split(np.arange(90), np.cumsum(sizes)[:-1]):
        model.partial_fit(X[rows], y[rows], classes=np.arange(n_classes))
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(model.predict_log_proba(X), expected.predict_log_proba(X), atol=1e-6)


def test_the_centres_of_a_stream_are_chosen_from_its_first_samples() -> None:
    X, _, targets = samples()
    model = (
        FixedSizeLSSVMRegressor(10, chooser="random", random_state=0)
        .partial_fit(X[:40], targets[:40])
        .partial_fit(X[40:], targets[40:])
    )
    assert model.center_indices_.max() < 40
    assert model.sums_.n_samples_ == 90


def test_a_stream_that_begins_with_too_few_samples_for_its_centres_says_so() -> None:
    X, _, targets = samples()
    with pytest.warns(UserWarning, match="8 samples, .* n_centers = 10"):
        model = FixedSizeLSSVMRegressor(10).partial_fit(X[:8], targets[:8])
    model.partial_fit(X[8:], targets[8:])  # says nothing more
    assert model.basis_centers_.shape[0] == 8


def test_what_a_stream_cannot_do_is_said() -> None:
    X, y, targets = samples()
    fitted = FixedSizeLSSVMClassifier(10, chooser="random", random_state=0).fit(X, y)
    for model, reason in (
        (fitted, "previous fit"),
        (FixedSizeLSSVMRegressor(regularization="leave_one_out"), "twice"),
        (FixedSizeLSSVMRegressor(kernel="precomputed"), "precomputed"),
        (FixedSizeLSSVMClassifier(posterior="platt"), "platt"),
    ):
        assert not hasattr(model, "partial_fit")
        with pytest.raises(AttributeError, match=reason):
            model.partial_fit(X, y)
    stream = FixedSizeLSSVMRegressor(10, chooser="random", random_state=0).partial_fit(X, targets)
    with pytest.raises(ValueError, match=r"targets of shape \(n_samples, 2\)"):
        stream.partial_fit(X, targets[:, 0])
    classifier = FixedSizeLSSVMClassifier(10, chooser="random", random_state=0)
    with pytest.raises(ValueError, match="first call"):
        classifier.partial_fit(X, y)
    classifier.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="unknown labels"):
        classifier.partial_fit(X, y + 1)
    before = classifier.sums_.n_samples_
    with pytest.raises(ValueError, match="NaN"):
        classifier.partial_fit(np.full_like(X, np.nan), y)
    assert classifier.sums_.n_samples_ == before == 90
    stream.fit(X, targets)
    assert not hasattr(stream, "sums_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"penalties": [1.0, 0.0]}, "penalties"),
        ({"penalties": []}, "penalties"),
        ({"penalties": ["a"]}, "penalties"),
        ({"penalties": [[1.0]]}, "penalties"),
        ({"centers": np.ones((3, 5))}, r"shape \(n_centers, 2\)"),
        ({"centers": np.full((3, 2), np.nan)}, "finite numbers"),
        ({"centers": np.empty((0, 2))}, "finite numbers"),
        ({"centers": np.ones((3, 2)), "kernel": "precomputed"}, "precomputed"),
        ({"regularization": "aic"}, "'regularization' parameter"),
        ({"regularization": 0.0}, "'regularization' parameter"),
    ],
)
def test_wrong_centres_and_penalties_are_refused(parameters: dict[str, Any], message: str) -> None:
    X, _, targets = samples()
    X, targets = (X @ X.T, targets) if "kernel" in parameters else (X, targets)
    with pytest.raises(ValueError, match=message):
        FixedSizeLSSVMRegressor(10, **parameters).fit(X, targets)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("kind", [FixedSizeLSSVMClassifier, FixedSizeLSSVMRegressor])
def test_a_stored_learner_computes_the_same_and_a_stream_goes_on(kind: Any, streamed: bool) -> None:
    X, y, targets = samples()
    classifies = kind is FixedSizeLSSVMClassifier
    wanted = y if classifies else targets
    model = kind(10, random_state=0)
    if streamed:
        model.partial_fit(X[:50], wanted[:50], *([np.arange(3)] if classifies else []))
    else:
        model.fit(X[:50], wanted[:50])
    again = estimator_from_arrays(*estimator_to_arrays(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert hasattr(again, "partial_fit") == streamed
    if streamed:
        again.partial_fit(X[50:], wanted[50:])
        np.testing.assert_array_equal(again.predict(X), model.partial_fit(X[50:], wanted[50:]).predict(X))


@pytest.mark.parametrize("name", ["products_", "squares_", "n_samples_", "whitening_", "moments_", "sums_"])
def test_sums_that_do_not_belong_to_the_learner_are_refused(name: str) -> None:
    X, y, _ = samples()
    model = FixedSizeLSSVMClassifier(10, random_state=0).partial_fit(X, y, [0, 1, 2])
    holder = model.sums_ if hasattr(model.sums_, name) else model
    value: Any = np.zeros((3, 2))
    if name == "n_samples_":
        value = 0
    elif name in ("moments_", "sums_"):
        value = type(getattr(model, name))()
        for attribute, kept in vars(getattr(model, name)).items():
            setattr(value, attribute, kept[..., :-1].copy() if isinstance(kept, np.ndarray) and kept.ndim else kept)
    setattr(holder, name, value)
    with pytest.raises(ValueError, match=r"\.\w+_ "):
        estimator_from_arrays(*estimator_to_arrays(model))


def test_memory_is_that_of_a_block_and_the_sums() -> None:
    X, y = np.random.default_rng(0).normal(size=(60_000, 2)), np.arange(60_000) % 2
    model = FixedSizeLSSVMClassifier(60, sigma=0.5, n_candidates=500, chooser="random", random_state=0)
    tracemalloc.start()
    model.fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60_000 * 60 * 8 / 3


def test_far_origins_cost_no_digits() -> None:
    random = np.random.default_rng(0)
    Z, w = random.normal(size=(200, 4)), random.normal(size=(4, 1))
    Y = Z @ w + 0.1 * random.normal(size=(200, 1))
    near = RidgeSums().start(np.zeros(4), np.zeros(1))
    near.add(Z, Y)
    far = RidgeSums().start(np.full(4, 1e8), np.full(1, 1e8))
    far.add(Z + 1e8, Y + 1e8)
    np.testing.assert_allclose(far.path().solve(0.1)[0], near.path().solve(0.1)[0], rtol=1e-6)
