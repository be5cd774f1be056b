"""The dense kernel Fisher discriminant against its definitions."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs, make_classification, make_moons
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import scale

from discriminants.fisher.kfd import KFDClassifier
from discriminants.fisher.linear_discriminant import LinearDiscriminant
from discriminants.fisher.sparse_greedy_kfd import SparseGreedyKFDClassifier
from discriminants.fisher.thresholds import THRESHOLDS
from discriminants.kernels import GaussianKernel, MultiscaleGaussianKernel, PolynomialKernel
from discriminants.linear_systems.penalty_choice import usual_penalties
from discriminants.linear_systems.penalty_path import PenaltyPath
from discriminants.lssvm.lssvm import LSSVMClassifier
from discriminants.multiclass.thresholded import stratified_folds

PENALTIES = ["identity", "kernel"]


def _two_classes(n: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y = make_moons(n, noise=0.3, random_state=0)
    keep = np.sort(np.r_[np.flatnonzero(y == 0)[: n // 3], np.flatnonzero(y == 1)])  # unequal classes
    return X[keep], y[keep], GaussianKernel(0.4)(X[keep], X[keep])


def _fisher(K: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Within-class scatter and difference of the means, as (3.36-3.38) print them."""
    within, means = np.zeros_like(K), []
    for label in (0, 1):
        part = K[:, y == label]
        n = part.shape[1]
        within += part @ (np.eye(n) - np.full((n, n), 1 / n)) @ part.T
        means.append(part.mean(axis=1))
    return within, means[1] - means[0]


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def _ridge(K: np.ndarray, y: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, float]:
    """Least squares onto y in the columns [K, 1] with the penalty alpha'R alpha, by the normal equations."""
    n = K.shape[1]
    A = np.hstack([K, np.ones((K.shape[0], 1))])
    penalty = np.zeros((n + 1, n + 1))
    penalty[:n, :n] = R
    solution = np.linalg.solve(A.T @ A + penalty, A.T @ y)
    return solution[:n], float(solution[n])


@pytest.mark.parametrize("mu", [1e-2, 10.0])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_direction_is_fishers(penalty: str, mu: float) -> None:
    X, y, K = _two_classes()
    learner = KFDClassifier(sigma=0.4, regularization=mu, penalty=penalty).fit(X, y)
    within, difference = _fisher(K, y)
    direct = np.linalg.solve(within + mu * (np.eye(len(K)) if penalty == "identity" else K), difference)
    assert _cosine(learner.dual_coef_[:, 0], direct) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_direction_is_the_leading_generalised_eigenvector(penalty: str) -> None:
    X, y, K = _two_classes()
    learner = KFDClassifier(sigma=0.4, regularization=0.1, penalty=penalty).fit(X, y)
    within, difference = _fisher(K, y)
    within += 0.1 * (np.eye(len(K)) if penalty == "identity" else K)
    _, vectors = eigh(np.outer(difference, difference), within)
    assert abs(_cosine(learner.dual_coef_[:, 0], vectors[:, -1])) == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_outputs_are_those_of_regularized_least_squares_onto_the_labels(penalty: str) -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[:120] + np.random.default_rng(0).normal(scale=1e-3, size=(120, 4)), y[:120]
    K = GaussianKernel(0.3)(X, X)
    learner = KFDClassifier(sigma=0.3, regularization=0.5, penalty=penalty).fit(X, y)
    for c in range(3):
        alpha, bias = _ridge(K, np.where(y == c, 1.0, -1.0), 0.5 * (np.eye(120) if penalty == "identity" else K))
        np.testing.assert_allclose(learner.dual_coef_[:, c], alpha, atol=1e-9)
        assert learner.intercept_[c] == pytest.approx(bias, abs=1e-9)


def test_the_kernel_penalty_is_the_least_squares_support_vector_machine() -> None:
    X, y, K = _two_classes()
    n = len(K)
    learner = KFDClassifier(sigma=0.4, regularization=0.2, penalty="kernel").fit(X, y)
    system = np.block([[K + 0.2 * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    expected = np.linalg.solve(system, np.append(2.0 * y - 1.0, 0.0))
    np.testing.assert_allclose(np.append(learner.dual_coef_[:, 0], learner.intercept_), expected, atol=1e-10)


def test_a_kernel_centred_beforehand_gives_kernel_ridge() -> None:
    X, y, _ = _two_classes()
    X, targets = X - X.mean(axis=0), 2.0 * y - 1.0
    learner = KFDClassifier(kernel=lambda A, B: A @ B.T, regularization=0.7, penalty="kernel").fit(X, y)
    ridge = KernelRidge(alpha=0.7).fit(X, targets - targets.mean())
    np.testing.assert_allclose(learner.decision_function(X), ridge.predict(X) + targets.mean(), atol=1e-10)


def test_a_linear_kernel_gives_the_linear_discriminant() -> None:
    X, y, _ = _two_classes()
    learner = KFDClassifier(kernel=lambda A, B: A @ B.T, regularization=0.7, penalty="kernel").fit(X, y)
    direction = LinearDiscriminant(regularization=0.7).fit(X, y).coef_[0]
    assert _cosine(X.T @ learner.dual_coef_[:, 0], direction) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("penalty", "own_column"), [("identity", True), ("identity", False), ("kernel", True)])
def test_leaving_one_out_in_closed_form_is_training_without_it(penalty: str, own_column: bool, classes: int) -> None:
    X, y = make_blobs(30, centers=classes, cluster_std=3.0, random_state=1)
    mus = [1e-3, 0.1, 5.0]
    path = PenaltyPath(GaussianKernel(2.0)(X, X), penalty)
    targets = np.where(y[:, None] == np.arange(classes), 1, -1)
    found = path.leave_one_out_outputs(targets, mus, own_column=own_column)
    naive = np.empty_like(found)
    for r, mu in enumerate(mus):
        for i in range(30):
            others = np.delete(np.arange(30), i)
            centers = np.arange(30) if penalty == "identity" and own_column else others
            K = GaussianKernel(2.0)(X, X[centers])
            A = np.hstack([K[others], np.ones((29, 1))])
            R = np.zeros((len(centers) + 1, len(centers) + 1))
            R[:-1, :-1] = mu * (np.eye(len(centers)) if penalty == "identity" else K[others])
            for c in range(classes):
                weights = np.linalg.solve(A.T @ A + R, A.T @ np.where(y[others] == c, 1.0, -1.0))
                naive[r, i, c] = np.append(K[i], 1.0) @ weights
    np.testing.assert_allclose(found, naive, atol=1e-6)
    if penalty == "kernel" or not own_column:
        learner = KFDClassifier(sigma=2.0, penalty=penalty)
        expected = (naive.argmax(axis=2) != y).mean(axis=1)
        np.testing.assert_allclose(learner.leave_one_out_errors(X, y, mus), expected)


def test_leaving_one_out_keeps_its_digits_where_hardly_any_regularization_is_left() -> None:
    X, y, K = _two_classes(24)
    found = PenaltyPath(K, "kernel").leave_one_out_outputs((2 * y - 1)[:, None], [1e-7])[0, :, 0]
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        learner = KFDClassifier(sigma=0.4, regularization=1e-7, penalty="kernel").fit(X[rest], y[rest])
        assert found[i] == pytest.approx(learner.decision_function(X[[i]])[0], abs=1e-5, rel=1e-5)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_hardly_any_regularization_leaves_the_equations_solved(penalty: str) -> None:
    X, y = make_classification(500, 10, n_informative=6, random_state=0)
    K, targets = GaussianKernel(5.0)(X, X), 2.0 * y - 1.0
    mu = 1e-7
    learner = KFDClassifier(sigma=5.0, regularization=mu, penalty=penalty).fit(X, y)
    alpha, bias = learner.dual_coef_[:, 0], learner.intercept_[0]
    residual = targets - K @ alpha - bias
    left = residual if penalty == "kernel" else K @ residual
    np.testing.assert_allclose(left, mu * alpha, atol=1e-6 if penalty == "kernel" else 1e-4)
    assert residual.sum() == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_precomputed_kernel_gives_what_its_points_give(penalty: str) -> None:
    X, y, K = _two_classes()
    K_before = K.copy()
    by_matrix = KFDClassifier(kernel="precomputed", penalty=penalty).fit(K, y)
    by_points = KFDClassifier(sigma=0.4, penalty=penalty).fit(X, y)
    np.testing.assert_allclose(by_matrix.decision_function(K), by_points.decision_function(X), atol=1e-7)
    np.testing.assert_array_equal(K, K_before)


def test_float32_samples_are_solved_in_float64_and_stay_float32() -> None:
    X, y, _ = _two_classes()
    X = X.astype(np.float32)
    single, double = (KFDClassifier(sigma=0.4).fit(A, y) for A in (X, X.astype(np.float64)))
    assert single.dual_coef_.dtype == single.decision_function(X).dtype == np.float32
    np.testing.assert_array_equal(single.dual_coef_, double.dual_coef_.astype(np.float32))


@pytest.mark.parametrize(("penalty", "copies"), [("identity", 2), ("kernel", 1)])
def test_memory_is_that_of_the_matrices_named(penalty: str, copies: int) -> None:
    X, y = make_moons(1000, noise=0.2, random_state=0)
    learner = KFDClassifier(penalty=penalty, regularization=0.1)
    learner.fit(X[:50], y[:50])
    tracemalloc.start()
    learner.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (copies + 0.6) * 8e6


@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_penalty_chosen_has_the_least_squared_error_left_out(penalty: str) -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    learner = KFDClassifier(sigma=1.0, penalty=penalty).fit(X, y)
    K, targets = GaussianKernel(1.0)(X, X), np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    squares = {}
    for mu in usual_penalties(K, penalty=penalty):
        outputs = PenaltyPath(K.copy(), penalty).leave_one_out_outputs(targets, [mu], own_column=False)[0]
        squares[mu] = ((targets - outputs) ** 2).sum()
    assert learner.regularization_ == min(squares, key=lambda mu: squares[mu])
    matrix = KFDClassifier(kernel="precomputed", penalty=penalty).fit(K, y)
    assert matrix.regularization_ == pytest.approx(learner.regularization_)
    twice = KFDClassifier(sigma=1.0, penalty=penalty).fit(X.repeat(2, axis=0), y.repeat(2))
    assert 0.09 < twice.regularization_ / learner.regularization_ < 11
    given = KFDClassifier(sigma=1.0, penalty=penalty, regularization=learner.regularization_).fit(X, y)
    np.testing.assert_array_equal(given.dual_coef_, learner.dual_coef_)
    if penalty == "kernel":
        descent = clone(learner).set_params(solver="coordinate_descent", significant_figures=6).fit(X, y)
        assert descent.regularization_ == learner.regularization_


def test_a_penalty_is_chosen_for_a_polynomial_kernel_as_well_as_by_folds_and_posteriors_hold() -> None:
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(scale(X), y, train_size=200, stratify=y, random_state=0)
    kernel = PolynomialKernel(3, gamma=1 / 64)
    chosen = KFDClassifier(kernel=kernel).fit(X, y)
    penalties = usual_penalties(chosen.kernel_(X, X), penalty="identity")[::2]
    search = GridSearchCV(KFDClassifier(kernel=kernel), {"regularization": penalties}, cv=3).fit(X, y)
    assert chosen.score(X_test, y_test) > search.score(X_test, y_test) - 0.01
    assert log_loss(y_test, chosen.predict_proba(X_test)) < 0.35


@pytest.mark.parametrize("mu", [0.0, -1.0, np.nan])
def test_a_regularization_that_is_not_positive_is_refused(mu: float) -> None:
    _, y, K = _two_classes()
    with pytest.raises(ValueError, match="positive"):
        PenaltyPath(K).leave_one_out_outputs(y[:, None], [1.0, mu])


def test_an_asymmetric_kernel_is_refused_with_the_kernel_penalty_only() -> None:
    X, y, _ = _two_classes()
    widths = np.random.default_rng(0).uniform(0.3, 0.6, len(X))  # one a center
    with pytest.raises(ValueError, match="symmetric"):
        KFDClassifier(sigma=widths, penalty="kernel").fit(X, y)
    learner = KFDClassifier(sigma=widths, regularization=0.1).fit(X, y)
    alpha, bias = _ridge(GaussianKernel(widths)(X, X), 2.0 * y - 1.0, 0.1 * np.eye(len(X)))
    np.testing.assert_allclose(learner.dual_coef_[:, 0], alpha, atol=1e-8)
    assert learner.intercept_[0] == pytest.approx(bias, abs=1e-8)


def test_a_kernel_of_several_widths_takes_every_sample_at_every_width() -> None:
    X, y, _ = _two_classes()
    kernel = MultiscaleGaussianKernel([0.3, 1.0])
    learner = KFDClassifier(kernel=kernel, regularization=0.1).fit(X, y)
    K = kernel(X, X)
    alpha, bias = _ridge(K, 2.0 * y - 1.0, 0.1 * np.eye(2 * len(X)))
    np.testing.assert_allclose(learner.decision_function(X), K @ alpha + bias, atol=1e-8)
    assert learner.leave_one_out_errors(X, y, [0.1])[0] < 0.2
    with pytest.raises(ValueError, match="one column per sample"):
        KFDClassifier(kernel=kernel, penalty="kernel").fit(X, y)


def test_a_negative_eigenvalue_larger_than_the_regularization_is_refused() -> None:
    X, y, _ = _two_classes()

    def distance(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.linalg.norm(A[:, None] - B, axis=2)

    with pytest.raises(ValueError, match="semidefinite"):
        KFDClassifier(kernel=distance, penalty="kernel").fit(X, y)
    with pytest.raises(ValueError, match="negative eigenvalues"):
        KFDClassifier(kernel=distance, penalty="kernel").leave_one_out_errors(X, y, [1e-3])
    assert KFDClassifier(kernel=distance).fit(X, y).score(X, y) > 0.9


def test_held_out_or_left_out_outputs_set_threshold_and_posterior() -> None:
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(size=(180, 10)), 0.5 * random.normal(size=(30, 10)) + 0.4])
    y = np.repeat([0, 1], [180, 30])
    plain = KFDClassifier(sigma=3.0, regularization=0.01).fit(X, y)
    for calibrate_on in ("training", "leave_one_out", "leave_label_out", "held_out"):
        for threshold in ("least_error", "soft_margin"):
            learner = KFDClassifier(sigma=3.0, regularization=0.01, threshold=threshold, calibrate_on=calibrate_on).fit(
                X, y
            )
            np.testing.assert_allclose(learner.dual_coef_, plain.dual_coef_)
            shift = plain.intercept_[0] - learner.intercept_[0]
            if calibrate_on.startswith("leave"):
                path, own_column = PenaltyPath(GaussianKernel(3.0)(X, X)), calibrate_on == "leave_label_out"
                outputs = path.leave_one_out_outputs((2 * y - 1)[:, None], [0.01], own_column=own_column)[0, :, 0]
                assert shift == pytest.approx(THRESHOLDS[threshold](outputs, y == 1), abs=1e-6)
            elif calibrate_on == "training":
                assert shift == pytest.approx(THRESHOLDS[threshold](plain.decision_function(X), y == 1), abs=1e-6)
            learner.posterior_.predict_log_proba(learner.decision_function(X)[:, None])
    normal = KFDClassifier(sigma=3.0, regularization=1e-3, posterior="gaussian")
    deviations = [
        np.sqrt(normal.set_params(calibrate_on=calibrate_on).fit(X, y).posterior_.variances_[0, 0])
        for calibrate_on in ("training", "leave_one_out", "held_out")
    ]
    assert deviations[0] < 0.8 * min(deviations[1:])  # outputs of training samples vary less


@pytest.mark.parametrize("learner", [KFDClassifier(), SparseGreedyKFDClassifier(random_state=0), LSSVMClassifier()])
def test_one_is_left_out_where_classes_have_ten_samples(learner: Any) -> None:
    random = np.random.default_rng(0)
    for counts, alike in (([10, 14], "leave_one_out"), ([9, 9, 9], "training"), ([9, 14, 14], None)):
        y = np.arange(len(counts)).repeat(counts)
        X = random.normal(size=(len(y), 2)) + y[:, None]
        probabilities = {
            name: clone(learner).set_params(calibrate_on=name).fit(X, y).predict_proba(X)
            for name in ("auto", "leave_one_out", "training")
        }
        for name in ("leave_one_out", "training"):
            assert np.array_equal(probabilities["auto"], probabilities[name]) == (name == alike)


def test_outputs_held_out_are_those_of_a_model_without_the_fold() -> None:
    X, y = make_moons(60, noise=0.3, random_state=0)
    learner = KFDClassifier(sigma=0.5, regularization=0.1, threshold="least_error", calibrate_on="held_out").fit(X, y)
    fold = stratified_folds(y, 5)
    assert (np.bincount(fold, minlength=5) == 12).all()
    outputs = np.empty(60)
    for number in range(5):
        model = KFDClassifier(sigma=0.5, regularization=0.1).fit(X[fold != number], y[fold != number])
        outputs[fold == number] = model.decision_function(X[fold == number])
    plain = KFDClassifier(sigma=0.5, regularization=0.1).fit(X, y)
    expected = plain.intercept_[0] - THRESHOLDS["least_error"](outputs, y == 1)
    assert learner.intercept_[0] == pytest.approx(expected, abs=1e-9)
    by_matrix = KFDClassifier(
        kernel="precomputed", regularization=0.1, threshold="least_error", calibrate_on="held_out"
    ).fit(GaussianKernel(0.5)(X, X), y)
    assert by_matrix.intercept_[0] == pytest.approx(expected, abs=1e-9)


def test_a_class_of_one_sample_cannot_be_held_out() -> None:
    X, y, _ = _two_classes()
    with pytest.raises(ValueError, match="two samples of every class"):
        KFDClassifier(calibrate_on="held_out").fit(X, np.arange(len(y)) == 3)


def test_descent_gives_the_discriminant_of_the_direct_solution_without_its_matrix() -> None:
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(scale=1e-3, size=X.shape)
    settings = {"sigma": 0.5, "regularization": 0.1, "penalty": "kernel"}
    direct = KFDClassifier(**settings).fit(X, y)
    descent = KFDClassifier(**settings, solver="coordinate_descent", significant_figures=6).fit(X, y)
    np.testing.assert_allclose(descent.decision_function(X), direct.decision_function(X), atol=1e-3)
    assert KFDClassifier(**settings, solver="coordinate_descent").fit(X, y).score(X, y) > 0.97
    with pytest.raises(ValueError, match="coordinate_descent"):
        KFDClassifier(solver="coordinate_descent").fit(X, y)


@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_descent_by_default_predicts_as_the_direct_solution(noise: float) -> None:
    """A small penalty, with which the descent alone takes over 10,000 blocks."""
    X, y = make_moons(1200, noise=noise, random_state=0)
    settings = {"penalty": "kernel", "regularization": 1e-4, "calibrate_on": "training"}
    direct = KFDClassifier(**settings).fit(X[:600], y[:600])
    descent = KFDClassifier(**settings, solver="coordinate_descent").fit(X[:600], y[:600])
    expected = direct.decision_function(X)
    np.testing.assert_allclose(descent.decision_function(X), expected, atol=1e-3 * expected.std())
    np.testing.assert_array_equal(descent.predict(X), direct.predict(X))


@pytest.mark.slow
def test_descent_holds_no_matrix_of_all_samples() -> None:
    X, y = make_moons(6000, noise=0.2, random_state=0)
    learner = KFDClassifier(sigma=0.5, regularization=1.0, penalty="kernel", solver="coordinate_descent")
    learner.fit(X[:200], y[:200])
    tracemalloc.start()
    learner.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6  # the matrix would be 288 MB
    assert learner.score(X, y) > 0.95
