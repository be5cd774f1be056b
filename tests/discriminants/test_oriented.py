"""Directions held against disturbances: against their definitions and scikit-learn's kernel PCA."""

from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA

from discriminants import InvariantKFDClassifier, KFDClassifier, OrientedKernelPCA
from discriminants.fisher.image_transformations import TRANSFORMATIONS, smoothed_images, transformed_images
from discriminants.fisher.tangent_covariance import tangent_covariance
from discriminants.kernels import GaussianKernel
from discriminants.serialization.persistence import estimator_from_arrays, estimator_to_arrays

PENALTIES = ["identity", "kernel"]


def _rotated(X: np.ndarray, angle: float) -> np.ndarray:
    return X @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def _ring(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Points whose radius tells the class, and copies turned both ways."""
    random = np.random.default_rng(0)
    radius, angle = random.uniform(0.5, 2.0, n), random.uniform(0, 2 * np.pi, n)
    X = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return X, np.stack([_rotated(X, 0.3), _rotated(X, -0.3)])


def test_the_tangent_covariance_is_how_outputs_move() -> None:
    X, copies = _ring()
    kernel, alpha = GaussianKernel(1.0), np.random.default_rng(1).normal(size=60)
    T = tangent_covariance(kernel, X, X, copies)
    moved = [(kernel(X, X) - kernel(copy, X)) @ alpha for copy in copies]
    assert alpha @ T @ alpha == pytest.approx(np.mean(np.square(moved)))
    np.testing.assert_allclose(T, tangent_covariance(kernel, X, X, copies, outputs=kernel(X, X)), atol=1e-12)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_directions_solve_the_generalised_eigenproblem(penalty: str) -> None:
    X, copies = _ring()
    K = GaussianKernel(1.0)(X, X)
    found = OrientedKernelPCA(3, sigma=1.0, regularization=0.01, orientation=2.0, penalty=penalty).fit(X, copies=copies)
    H = np.eye(60) - 1 / 60
    against = 2.0 * tangent_covariance(GaussianKernel(1.0), X, X, copies)
    against += 0.01 * (np.eye(60) if penalty == "identity" else K)
    values, vectors = eigh(K @ H @ K / 60, against + 1e-10 * against.trace() / 60 * np.eye(60))
    np.testing.assert_allclose(found.eigenvalues_, values[::-1][:3], rtol=1e-5)
    for j in range(3):
        expected = H @ K @ vectors[:, -1 - j]
        assert abs(np.corrcoef(found.transform(X)[:, j], expected)[0, 1]) == pytest.approx(1.0, abs=1e-6)
        alpha = found.dual_coef_[:, j]
        assert alpha @ K @ alpha == pytest.approx(1.0)


def test_without_disturbances_it_is_kernel_principal_component_analysis() -> None:
    X, _ = _ring()
    ours = OrientedKernelPCA(4, sigma=1.0, regularization=1.0, penalty="kernel").fit(X)
    theirs = KernelPCA(4, kernel="precomputed").fit(GaussianKernel(1.0)(X, X))
    for a, b in zip(ours.transform(X).T, theirs.transform(GaussianKernel(1.0)(X, X)).T, strict=True):
        assert abs(np.corrcoef(a, b)[0, 1]) == pytest.approx(1.0, abs=1e-5)
        assert a.std() == pytest.approx(b.std(), rel=1e-3)


def test_a_rotation_leaves_the_first_feature_alone_once_it_is_held_against() -> None:
    X, copies = _ring(150)
    points, _ = _ring(400)
    moved = []
    for orientation in (0.0, 100.0):
        model = OrientedKernelPCA(1, sigma=1.0, orientation=orientation).fit(X, copies=copies)
        feature = model.transform(points)[:, 0]
        moved.append(np.std(feature - model.transform(_rotated(points, 0.3))[:, 0]) / feature.std())
    assert moved[1] < 0.3 * moved[0]
    radius = np.linalg.norm(points, axis=1)
    assert abs(np.corrcoef(feature, radius)[0, 1]) > 0.9


def test_noise_samples_turn_the_direction_away() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2)) * [3.0, 1.0]
    noise = random.normal(size=(100, 2)) * [3.0, 0.05]
    plain, oriented = (
        OrientedKernelPCA(1, kernel="linear", penalty="kernel", regularization=1e-3).fit(X, noise=n)
        for n in (None, noise)
    )
    for model, axis in ((plain, 0), (oriented, 1)):
        w = X.T @ model.dual_coef_[:, 0]
        assert abs(w[axis]) > 0.95 * np.linalg.norm(w)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_an_invariant_discriminant_solves_its_normal_equations(penalty: str) -> None:
    X, copies = _ring()
    y = (np.linalg.norm(X, axis=1) > 1.2).astype(int) + (X[:, 0] > 1)
    learner = InvariantKFDClassifier(
        20, sigma=1.0, regularization=0.1, penalty=penalty, invariance=0.5, random_state=0
    ).fit(X, y, copies=copies)
    centers = learner.basis_centers_
    kernel = GaussianKernel(1.0)
    A = np.hstack([kernel(X, centers), np.ones((60, 1))])
    R = np.zeros((21, 21))
    R[:20, :20] = 0.1 * (np.eye(20) if penalty == "identity" else kernel(centers, centers))
    R[:20, :20] += 0.5 * 60 * tangent_covariance(kernel, centers, X, copies)
    for c in range(3):
        expected = np.linalg.solve(A.T @ A + R, A.T @ np.where(y == c, 1.0, -1.0))
        weights = np.append(learner.dual_coef_[:, c], learner.intercept_[c])
        np.testing.assert_allclose(A @ weights, A @ expected, atol=1e-5)


@pytest.mark.parametrize("calibrate_on", ["training", "leave_one_out"])
@pytest.mark.parametrize("invariance", [0.0, 0.5])
@pytest.mark.parametrize("virtual", [0.5, 2.0])
def test_virtual_samples_count_as_samples_of_their_class(virtual: float, invariance: float, calibrate_on: str) -> None:
    X, copies = _ring()
    y = (np.linalg.norm(X, axis=1) > 1.2).astype(int) + (X[:, 0] > 1)
    learner = InvariantKFDClassifier(
        20,
        sigma=1.0,
        regularization=0.1,
        invariance=invariance,
        virtual=virtual,
        calibrate_on=calibrate_on,
        random_state=0,
    ).fit(X, y, copies=copies)
    A = np.hstack([GaussianKernel(1.0)(np.concatenate([X, *copies]), learner.basis_centers_), np.ones((180, 1))])
    weights = np.repeat([1.0, virtual / 2], [60, 120])
    R = 0.1 * np.diag([1.0] * 20 + [0.0])
    R[:20, :20] += invariance * 60 * tangent_covariance(GaussianKernel(1.0), learner.basis_centers_, X, copies)
    for c in range(3):
        targets = np.where(np.tile(y, 3) == c, 1.0, -1.0)
        expected = np.linalg.solve(A.T @ (weights[:, None] * A) + R, A.T @ (weights * targets))
        found = np.append(learner.dual_coef_[:, c], learner.intercept_[c])
        np.testing.assert_allclose(A @ found, A @ expected, atol=1e-6)


def test_a_sample_is_left_out_beside_its_virtual_ones() -> None:
    X, copies = _ring()
    y = np.linalg.norm(X, axis=1) > 1.2
    learner = InvariantKFDClassifier(
        20, sigma=1.0, regularization=0.1, invariance=0.0, virtual=2.0, calibrate_on="leave_one_out", random_state=0
    )
    found: list[np.ndarray] = []
    kept = learner._calibration_outputs
    learner._calibration_outputs = lambda *given: found.append(kept(*given)) or found[-1]  # type: ignore[method-assign,func-returns-value]
    learner.fit(X, y, copies=copies)
    A = np.hstack([GaussianKernel(1.0)(np.concatenate([X, *copies]), learner.basis_centers_), np.ones((180, 1))])
    targets = np.where(np.tile(y, 3), 1.0, -1.0)
    R = 0.1 * np.diag([1.0] * 20 + [0.0])
    for left in (0, 7, 59):
        rest = np.delete(np.arange(180), left)
        refitted = np.linalg.solve(A[rest].T @ A[rest] + R, A[rest].T @ targets[rest])
        np.testing.assert_allclose(found[0][left], A[left] @ refitted, atol=1e-6)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_without_copies_and_with_all_samples_it_is_the_dense_discriminant(penalty: str) -> None:
    X, _ = _ring()
    y = np.linalg.norm(X, axis=1) > 1.2
    settings: dict[str, Any] = {"sigma": 1.0, "regularization": 0.1, "penalty": penalty}
    found = InvariantKFDClassifier(**settings, threshold="least_error", calibrate_on="leave_one_out").fit(X, y)
    dense = KFDClassifier(**settings, threshold="least_error", calibrate_on="leave_label_out").fit(X, y)
    if penalty == "identity":  # with "kernel" the dense one always leaves the column of a sample out
        np.testing.assert_allclose(found.decision_function(X), dense.decision_function(X), atol=1e-6)
    outputs = [model.decision_function(X) - model.intercept_ for model in (found, dense)]
    np.testing.assert_allclose(*outputs, atol=1e-6)


def test_held_against_rotation_it_generalises_to_angles_it_has_not_seen() -> None:
    random = np.random.default_rng(0)
    angle = random.uniform(-0.5, 0.5, 60)  # a sector
    radius = random.uniform(0.5, 2.0, 60)
    X = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    y = (radius > 1.25).astype(int)
    turns = np.linspace(-3, 3, 13)
    copies = np.stack([_rotated(X, turn) for turn in turns])
    X_test, _ = _ring(500)
    y_test = (np.linalg.norm(X_test, axis=1) > 1.25).astype(int)
    scores = [
        InvariantKFDClassifier(
            120, centers=centers, sigma=0.7, regularization=1e-3, invariance=invariance, random_state=0
        )
        .fit(X, y, copies=copies)
        .score(X_test, y_test)
        for centers, invariance in (("samples", 0.0), ("copies", 1.0), ("k_means", 1.0))
    ]
    assert scores[0] < 0.8 < 0.9 < min(scores[1:])


def test_small_transformations_move_an_image_as_they_say() -> None:
    image = np.zeros((1, 8, 8))
    image[0, 3:5, 2:6] = 1.0
    X = image.reshape(1, 64)
    copies = transformed_images(X, (8, 8)).reshape(len(TRANSFORMATIONS) * 2, 8, 8)
    np.testing.assert_allclose(copies[0], np.roll(image[0], 1, axis=1), atol=1e-12)
    np.testing.assert_allclose(copies[1], np.roll(image[0], -1, axis=1), atol=1e-12)
    np.testing.assert_allclose(copies[2], np.roll(image[0], 1, axis=0), atol=1e-12)
    np.testing.assert_allclose(copies[4], copies[5][::-1], atol=1e-12)  # rotated in both directions
    assert copies[6].sum() > 1.05 * image.sum() > image.sum() > 1.05 * copies[7].sum()
    assert copies[8].sum() == 4 * 6
    assert copies[9].sum() == 0
    half = transformed_images(X, (8, 8), ["horizontal"], size=0.5).reshape(2, 8, 8)
    np.testing.assert_allclose(half[0], 0.5 * (image[0] + np.roll(image[0], 1, axis=1)), atol=1e-12)
    with pytest.raises(ValueError, match="64 values"):
        transformed_images(X[:, :10], (8, 8))
    with pytest.raises(ValueError, match="'shear'"):
        transformed_images(X, (8, 8), ["shear"])
    digits = load_digits().data[:3]
    assert smoothed_images(digits, (8, 8), 0.75).shape == digits.shape


def test_copies_of_another_shape_are_refused() -> None:
    X, copies = _ring()
    wrong = ((copies[0], "copies has shape"), (copies[:, :10], "copies has shape"), (copies * np.nan, "NaN"))
    for model in (OrientedKernelPCA(), InvariantKFDClassifier()):
        for bad, message in wrong:
            with pytest.raises(ValueError, match=message):
                model.fit(X, np.arange(60) % 2, copies=bad)


def test_they_survive_being_written_as_arrays() -> None:
    X, copies = _ring()
    pca = OrientedKernelPCA().fit(X.astype(np.float32), copies=copies)
    again = estimator_from_arrays(*estimator_to_arrays(pca))
    np.testing.assert_array_equal(again.transform(X), pca.transform(X))
    learner = InvariantKFDClassifier(20, centers="copies", random_state=0).fit(X, X[:, 0] > 0, copies=copies)
    restored = estimator_from_arrays(*estimator_to_arrays(learner))
    np.testing.assert_array_equal(restored.predict_proba(X), learner.predict_proba(X))
