"""The parameter `kernel` of every learner: names, objects, functions and matrices in scikit-learn's tools."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from discriminants import (
    KFDClassifier,
    KRLSClassifier,
    KRLSRegressor,
    NPDClassifier,
    NPDRegressor,
    OLSClassifier,
    OLSRegressor,
    OROLSClassifier,
    OROLSRegressor,
    PairwiseClassifier,
    SparseKernelLogisticClassifier,
)
from discriminants.kernels import (
    ARDGaussianKernel,
    CompactGaussianKernel,
    ExponentialKernel,
    GaussianKernel,
    Kernel,
    LaplacianKernel,
    LinearKernel,
    MultiscaleGaussianKernel,
    PolynomialKernel,
    PrecomputedKernel,
    SigmoidKernel,
)
from discriminants.serialization.persistence import estimator_from_arrays, estimator_to_arrays, load_arrays, save_arrays

X = np.random.default_rng(0).normal(size=(80, 3))
CLASSES = np.array(["left", "middle", "right"])[(X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 0.8)]
SMOOTH = np.sin(X[:, 0]) + 0.1 * X[:, 1]
LEARNERS: list[Any] = [
    NPDClassifier(15),
    OROLSClassifier(30, n_candidates=None, rule="matching_pursuit"),
    OLSClassifier(15),
    KRLSClassifier(max_centers=15),
    KFDClassifier(),
    SparseKernelLogisticClassifier(15, random_state=0, solver="irls", alpha=1e-4),
    NPDRegressor(15, dictionary="private"),
    OROLSRegressor(15),
    OLSRegressor(15),
    KRLSRegressor(max_centers=15),
]
NOT_STREAMING = [learner for learner in LEARNERS if not hasattr(learner, "partial_fit")]
NAMED: dict[str, Kernel] = {
    "gaussian": GaussianKernel(),
    "ard_gaussian": ARDGaussianKernel(),
    "laplacian": LaplacianKernel(),
    "exponential": ExponentialKernel(),
    "compact_gaussian": CompactGaussianKernel(),
    "polynomial": PolynomialKernel(),
    "linear": LinearKernel(),
}


def name_of(learner: Any) -> str:
    return type(learner).__name__


def targets(learner: Any) -> np.ndarray:
    return CLASSES if is_classifier(learner) else SMOOTH


def outputs(learner: Any, samples: np.ndarray) -> np.ndarray:
    return learner.decision_function(samples) if is_classifier(learner) else learner.predict(samples)


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
@pytest.mark.parametrize("name", NAMED)
def test_a_name_means_the_kernel_object_with_its_defaults(learner: Any, name: str) -> None:
    kernel = NAMED[name]
    by_name = clone(learner).set_params(kernel=name).fit(X, targets(learner))
    by_object = clone(learner).set_params(kernel=kernel).fit(X, targets(learner))
    np.testing.assert_array_equal(outputs(by_name, X), outputs(by_object, X))
    # A fit computes parameters from the data and does not change the given object.
    assert str(kernel) == str(type(kernel)())
    assert by_object.get_params()["kernel"] is kernel
    assert not any(isinstance(value, str) for value in by_object.kernel_.get_params().values())


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_a_width_beside_the_name_is_that_of_the_object(learner: Any) -> None:
    by_name = clone(learner).set_params(sigma=0.9).fit(X, targets(learner))
    by_object = clone(learner).set_params(kernel=GaussianKernel(0.9)).fit(X, targets(learner))
    np.testing.assert_array_equal(outputs(by_name, X), outputs(by_object, X))
    assert by_name.sigma_ == by_object.sigma_ == 0.9


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_a_function_is_a_kernel(learner: Any) -> None:
    by_function = clone(learner).set_params(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.5)).fit(X, targets(learner))
    by_name = clone(learner).set_params(sigma=1.0).fit(X, targets(learner))
    np.testing.assert_allclose(outputs(by_function, X), outputs(by_name, X), atol=1e-6)
    assert not hasattr(by_function, "sigma_")


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_clones_have_kernels_of_their_own(learner: Any) -> None:
    original = clone(learner).set_params(kernel=GaussianKernel(2.0))
    copy = clone(original).set_params(kernel__sigma=0.5)
    assert original.kernel.sigma == 2.0
    assert copy.get_params()["kernel__sigma"] == 0.5
    copy.fit(X, targets(learner))
    assert not hasattr(clone(copy), "kernel_")


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_the_parameters_of_a_kernel_are_searched_over_inside_a_pipeline(learner: Any) -> None:
    pipeline = make_pipeline(StandardScaler(), clone(learner).set_params(kernel=GaussianKernel()))
    step = pipeline.steps[-1][0]
    grid = [{f"{step}__kernel__sigma": [0.01, 1.5]}, {f"{step}__kernel": [LinearKernel(), "laplacian"]}]
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, targets(learner))
    assert len(search.cv_results_["params"]) == 4
    assert search.best_params_ != {f"{step}__kernel__sigma": 0.01}
    assert search.score(X, targets(learner)) > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["precomputed", PrecomputedKernel()])
@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_a_precomputed_matrix_is_cut_on_both_sides_by_cross_validation(learner: Any, kernel: Any) -> None:
    y = targets(learner)
    K = rbf_kernel(X, gamma=0.5)
    matrix = clone(learner).set_params(kernel=kernel)
    assert get_tags(matrix).input_tags.pairwise
    assert not get_tags(learner).input_tags.pairwise
    expected = cross_val_score(clone(learner).set_params(sigma=1.0), X, y, cv=4)
    np.testing.assert_allclose(cross_val_score(matrix, K, y, cv=4), expected, atol=1e-6)
    search = GridSearchCV(make_pipeline(matrix), {}, cv=4, error_score="raise").fit(K, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected.mean(), atol=1e-6)


@pytest.mark.parametrize("learner", [NPDClassifier(10), KFDClassifier()], ids=name_of)
@pytest.mark.parametrize("combine", ["voting", "coupling", "dag"])
def test_a_precomputed_matrix_reaches_every_pair_of_classes(learner: Any, combine: str) -> None:
    K = rbf_kernel(X, gamma=0.5)
    expected = cross_val_score(PairwiseClassifier(clone(learner).set_params(sigma=1.0), combine), X, CLASSES, cv=4)
    matrix = PairwiseClassifier(clone(learner).set_params(kernel="precomputed"), combine)
    np.testing.assert_allclose(cross_val_score(matrix, K, CLASSES, cv=4), expected)


@pytest.mark.parametrize("learner", NOT_STREAMING, ids=name_of)
def test_a_precomputed_matrix_need_not_be_symmetric(learner: Any) -> None:
    widths = np.random.default_rng(1).uniform(0.8, 1.5, size=80)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * widths**2))
    matrix = clone(learner).set_params(kernel="precomputed").fit(K, targets(learner))
    points = clone(learner).set_params(sigma=widths).fit(X, targets(learner))
    np.testing.assert_allclose(outputs(matrix, K), outputs(points, X), atol=1e-5)


SAVED: list[Kernel | str] = [
    GaussianKernel(1.1),
    LaplacianKernel(),
    ExponentialKernel(),
    CompactGaussianKernel(1.0, cutoff=4.0),
    PolynomialKernel(2, theta=0.5),
    LinearKernel(),
    "precomputed",
]
NOT_POSITIVE_DEFINITE: list[Kernel] = [
    GaussianKernel(np.linspace(0.8, 1.6, 80)),
    MultiscaleGaussianKernel([0.7, 1.4]),
    SigmoidKernel(0.3),
]


def same_after_saving(learner: Any, samples: np.ndarray, folder: Path) -> None:
    save_arrays(folder / "model", *estimator_to_arrays(learner))
    back = estimator_from_arrays(*load_arrays(folder / "model"))
    assert str(back) == str(learner)
    np.testing.assert_array_equal(back.predict(samples), learner.predict(samples))
    np.testing.assert_array_equal(outputs(back, samples), outputs(learner, samples))
    if is_classifier(learner):
        np.testing.assert_array_equal(back.predict_proba(samples), learner.predict_proba(samples))
    save_arrays(folder / "again", *estimator_to_arrays(back))
    assert (folder / "again").read_bytes() == (folder / "model").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_learner_with_any_kernel_predicts_the_same_bits_after_it_was_saved(
    learner: Any, dtype: type, tmp_path: Path
) -> None:
    for kernel in [*SAVED, *NOT_POSITIVE_DEFINITE] if learner in NOT_STREAMING else SAVED:
        samples = (rbf_kernel(X) if kernel == "precomputed" else X).astype(dtype)
        fitted = clone(learner).set_params(kernel=kernel).fit(samples, targets(learner))
        same_after_saving(fitted, samples, tmp_path)


@pytest.mark.parametrize("learner", [KRLSClassifier(0.1), KRLSRegressor(0.1)], ids=name_of)
@pytest.mark.parametrize("kernel", [GaussianKernel(1.5), LaplacianKernel(2.0), PolynomialKernel(2, gamma=0.5)])
def test_a_stream_goes_on_after_saving_as_if_nothing_had_been(learner: Any, kernel: Kernel, tmp_path: Path) -> None:
    first = {"classes": np.unique(CLASSES)} if is_classifier(learner) else {}
    model = clone(learner).set_params(kernel=kernel).partial_fit(X[:30], targets(learner)[:30], **first)
    for start in (30, 55):
        save_arrays(tmp_path / "model", *estimator_to_arrays(model))
        back = estimator_from_arrays(*load_arrays(tmp_path / "model"))
        for each in (model, back):
            each.partial_fit(X[start : start + 25], targets(learner)[start : start + 25])
        np.testing.assert_array_equal(back.center_indices_, model.center_indices_)
        np.testing.assert_array_equal(outputs(back, X), outputs(model, X))
        same_after_saving(back, X, tmp_path)


def test_a_stream_that_meets_a_sample_it_must_refuse_stays_as_it_was() -> None:
    def broken_far_away(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        K = rbf_kernel(A, B)
        K[(np.abs(A) > 50).any(axis=1)] = np.nan
        return K

    far = X[40:60].copy()
    far[15] = 100.0
    classifier = KRLSClassifier(kernel=broken_far_away, block_size=5, posterior="gaussian")
    for learner in (classifier, KRLSRegressor(kernel=broken_far_away)):
        y = targets(learner)
        first = {"classes": np.unique(CLASSES)} if is_classifier(learner) else {}
        learner.partial_fit(X[:40], y[:40], **first)
        before = outputs(learner, X)
        with pytest.raises(ValueError, match="not finite"):
            learner.partial_fit(far, y[40:60])
        np.testing.assert_array_equal(outputs(learner, X), before)
        learner.partial_fit(X[40:], y[40:])
        whole = clone(learner).fit(X, y)
        np.testing.assert_allclose(outputs(learner, X), outputs(whole, X), atol=1e-9)
        if is_classifier(learner):
            np.testing.assert_allclose(learner.predict_proba(X), whole.predict_proba(X), atol=1e-7)


def test_a_kernel_that_is_a_function_cannot_be_written_and_the_error_says_which() -> None:
    learner = NPDClassifier(5, kernel=lambda A, B: A @ B.T).fit(X, CLASSES)
    with pytest.raises(ValueError, match=r"NPDClassifier\.kernel "):
        estimator_to_arrays(learner)
