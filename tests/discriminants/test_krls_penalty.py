"""The ridge of kernel recursive least squares against its closed form, and the bias that bears none."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_blobs
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from discriminants import KRLSClassifier, KRLSRegressor, ModelFormatError
from discriminants.serialization.persistence import estimator_from_arrays, estimator_to_arrays, load_arrays, save_arrays

FORMS = ["one_pass", "two_pass", "thesis"]
SIGMA = 1.0


def k(X: np.ndarray, C: np.ndarray) -> np.ndarray:
    """The Gaussian kernel plus one, by its definition."""
    return 1 + np.exp(-((X[:, None] - C[None]) ** 2).sum(axis=2) / (2 * SIGMA**2))


def ridge(learner: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, *, free_bias: bool) -> np.ndarray:
    """Outputs by the normal equations in the coordinates of the learner's dictionary."""
    entries = learner.center_indices_
    factor = np.linalg.cholesky(k(X[entries], X[entries]))
    every = np.linalg.solve(factor, k(X[entries], X)).T
    since = np.where(np.arange(X.shape[0])[:, None] < entries, 0.0, every)
    learnt = since if learner.form == "one_pass" else every
    A = np.hstack([learnt, np.ones((X.shape[0], int(free_bias)))])
    m = entries.shape[0]
    normal = A.T @ A
    normal[:m, :m] += learner.penalty * np.eye(m)
    if learner.form == "thesis":
        normal[:m, :m] += since.T @ since
    coefficients = np.linalg.solve(normal, A.T @ y)
    return np.linalg.solve(factor, k(X[entries], X_test)).T @ coefficients[:m] + coefficients[m:].sum(axis=0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("penalty", [1e-6, 0.1, 30.0])
@pytest.mark.parametrize(("block_size", "max_centers"), [(1, None), (37, 20), (1024, None)])
def test_weights_and_bias_are_those_of_the_closed_form(
    wave: tuple[np.ndarray, ...], form: str, penalty: float, block_size: int, max_centers: int | None
) -> None:
    X, y, X_test = wave
    options: dict[str, Any] = {"form": form, "block_size": block_size, "max_centers": max_centers}
    learner = KRLSRegressor(sigma=SIGMA, penalty=penalty, **options).fit(X, y)
    expected = ridge(learner, X, y, X_test, free_bias=True)
    np.testing.assert_allclose(learner.predict(X_test), expected, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_a_classifiers_outputs_are_the_ridge_without_another_bias(wave: tuple[np.ndarray, ...], form: str) -> None:
    X, y, X_test = wave
    learner = KRLSClassifier(sigma=SIGMA, penalty=0.3, form=form, block_size=50).fit(X, y > 2)
    expected = ridge(learner, X, np.where(y > 2, 1.0, -1.0), X_test, free_bias=False)
    np.testing.assert_allclose(learner.decision_function(X_test), expected, atol=1e-9)


def test_with_every_sample_in_the_dictionary_it_is_kernel_ridge_regression() -> None:
    rng = np.random.default_rng(1)
    X, X_test = rng.normal(size=(150, 6)), rng.normal(size=(50, 6))
    y = np.sin(X[:, 0]) + X[:, 1]
    learner = KRLSRegressor(1e-10, sigma=SIGMA, form="two_pass", penalty=0.2).fit(X, y)
    bias = float(learner.recursion_.bias()[0])
    peer = KernelRidge(alpha=0.2, kernel=lambda a, b: float(k(a[None], b[None])[0, 0])).fit(X, y - bias)
    np.testing.assert_allclose(learner.predict(X_test), peer.predict(X_test) + bias, atol=1e-8)
    assert np.abs(learner.dual_coef_.sum()) < 1e-8  # the free bias leaves a zero weight for the kernel


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("offset", [1.0, -1e3, 1e6])
def test_a_constant_added_to_the_targets_is_added_to_the_outputs(
    wave: tuple[np.ndarray, ...], form: str, offset: float
) -> None:
    X, y, X_test = wave
    Y = np.column_stack([y, -3 * y])
    learner = KRLSRegressor(sigma=SIGMA, form=form, block_size=64)
    expected = learner.fit(X, Y).predict(X_test)
    offsets = np.array([offset, -2 * offset])
    found = learner.fit(X, Y + offsets).predict(X_test) - offsets
    np.testing.assert_allclose(found, expected, atol=1e-14 * abs(offset) + 1e-12)


@pytest.mark.parametrize("penalty", [1e-12, 0.1, 1e6])
@pytest.mark.parametrize("form", FORMS)
def test_constant_targets_come_back(wave: tuple[np.ndarray, ...], form: str, penalty: float) -> None:
    X, _, X_test = wave
    learner = KRLSRegressor(sigma=SIGMA, form=form, penalty=penalty).fit(X, np.full(400, -7.0))
    np.testing.assert_allclose(learner.predict(X_test), -7.0, rtol=1e-9)


def test_a_bias_that_is_rounding_alone_is_left_to_the_kernel() -> None:
    y = np.random.default_rng(2).normal(size=40)
    learner = KRLSRegressor(sigma=SIGMA, form="two_pass", penalty=1e-40).fit(np.ones((40, 1)), y)
    assert learner.recursion_.bias() == 0
    np.testing.assert_allclose(learner.predict(np.ones((1, 1))), y.mean())


def test_a_stream_cut_anywhere_and_saved_in_between_is_one_fit(wave: tuple[np.ndarray, ...], tmp_path: Path) -> None:
    X, y, X_test = wave
    Y = np.column_stack([y, y**2])
    whole = KRLSRegressor(sigma=SIGMA, penalty=0.5).fit(X, Y)
    pieces = KRLSRegressor(sigma=SIGMA, penalty=0.5, block_size=33)
    for rows in np.split(np.arange(400), [1, 2, 50, 51, 300]):
        pieces.partial_fit(X[rows], Y[rows])
        save_arrays(tmp_path / "model", *estimator_to_arrays(pieces))
        back = estimator_from_arrays(*load_arrays(tmp_path / "model"))
        np.testing.assert_array_equal(back.predict(X_test), pieces.predict(X_test))
        assert back.get_params() == pieces.get_params()
        pieces = back
    np.testing.assert_array_equal(pieces.center_indices_, whole.center_indices_)
    np.testing.assert_allclose(pieces.predict(X_test), whole.predict(X_test), atol=1e-9)


def test_a_stream_keeps_the_penalty_that_it_began_with(wave: tuple[np.ndarray, ...]) -> None:
    X, y, X_test = wave
    learner = KRLSRegressor(sigma=SIGMA, penalty=0.5).partial_fit(X[:100], y[:100])
    learner.set_params(penalty=20.0).partial_fit(X[100:], y[100:])
    whole = KRLSRegressor(sigma=SIGMA, penalty=0.5).fit(X, y)
    np.testing.assert_allclose(learner.predict(X_test), whole.predict(X_test), atol=1e-9)


@pytest.mark.parametrize("kind", [KRLSRegressor, KRLSClassifier])
def test_a_file_that_tells_of_no_penalty_goes_on_without_one(wave: tuple[np.ndarray, ...], kind: Any) -> None:
    X, y, X_test = wave
    first: dict[str, Any] = {"classes": [False, True]} if kind is KRLSClassifier else {}
    targets = y > 2 if kind is KRLSClassifier else y
    learner = kind(sigma=SIGMA, penalty=0.0).partial_fit(X[:200], targets[:200], **first)
    arrays, metadata = estimator_to_arrays(learner)
    _, _, parameters, attributes = metadata["estimator"]
    recursion = next(value for name, value in attributes if name == "recursion_")
    assert not any("projected_ones" in name for name in arrays)
    parameters[:] = [pair for pair in parameters if pair[0] != "penalty"]
    recursion[2][:] = [pair for pair in recursion[2] if pair[0] == "kernel"]
    back = estimator_from_arrays(arrays, metadata)
    assert back.penalty == 0
    for model in (back, learner):
        model.partial_fit(X[200:], targets[200:])
    np.testing.assert_array_equal(back.predict(X_test), learner.predict(X_test))
    np.testing.assert_array_equal(back.dual_coef_, learner.dual_coef_)


@pytest.mark.parametrize("penalty", [-1.0, ["float", "nan"], "a", None])
def test_a_file_with_an_impossible_penalty_is_refused(wave: tuple[np.ndarray, ...], penalty: Any) -> None:
    arrays, metadata = estimator_to_arrays(KRLSRegressor(sigma=SIGMA).fit(*wave[:2]))
    recursion = next(value for name, value in metadata["estimator"][3] if name == "recursion_")
    next(pair for pair in recursion[2] if pair[0] == "penalty")[1] = penalty
    with pytest.raises(ModelFormatError, match="penalty"):
        estimator_from_arrays(arrays, metadata)


def test_single_precision_data_have_their_bias_in_double(wave: tuple[np.ndarray, ...]) -> None:
    X, y, X_test = (part.astype(np.float32) for part in wave)
    single = KRLSRegressor(sigma=SIGMA).fit(X, y + 100)
    double = KRLSRegressor(sigma=SIGMA).fit(X.astype(float), y + 100)
    assert single.recursion_.bias().dtype == np.float64
    assert single.predict(X_test).dtype == np.float32
    np.testing.assert_allclose(single.predict(X_test), double.predict(X_test.astype(float)), rtol=1e-5)


def test_the_default_keeps_off_the_noise() -> None:
    X, y = load_diabetes(return_X_y=True)
    folds = KFold(5, shuffle=True, random_state=0)

    def score(learner: Any) -> float:
        return float(cross_val_score(make_pipeline(StandardScaler(), learner), X, y, cv=folds).mean())

    assert score(KRLSRegressor(penalty=0)) < 0 < 0.4 < score(KRLSRegressor())


def test_a_stronger_penalty_makes_for_smaller_weights() -> None:
    X, y = make_blobs(200, centers=3, cluster_std=3.0, random_state=0)
    norms = [
        np.linalg.norm(KRLSClassifier(sigma=2.0, penalty=penalty).fit(X, y).recursion_.weights())
        for penalty in (0.0, 0.01, 0.1, 1.0, 1e3)
    ]
    assert (np.diff(norms) < 0).all()


@pytest.mark.parametrize("penalty", [-0.1, np.nan, np.inf, "0.1"])
def test_a_penalty_that_is_none_is_refused(wave: tuple[np.ndarray, ...], penalty: Any) -> None:
    with pytest.raises(ValueError, match="penalty"):
        KRLSRegressor(penalty=penalty).fit(*wave[:2])
