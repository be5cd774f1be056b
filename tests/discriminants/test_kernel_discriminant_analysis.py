"""Several discriminant directions against their definitions."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from discriminants import KernelDiscriminantAnalysis, KFDClassifier
from discriminants.kernels import GaussianKernel

PENALTIES = ["identity", "kernel"]


def _wine() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def _scatters(K: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Between and within the classes, in the coordinates of the kernel columns (Mika 2002, 3.27 to 3.30)."""
    between, within, mean = *np.zeros((2, K.shape[1], K.shape[1])), K.mean(axis=0)
    for label in np.unique(y):
        part = K[y == label]
        between += len(part) * np.outer(part.mean(axis=0) - mean, part.mean(axis=0) - mean)
        within += (part - part.mean(axis=0)).T @ (part - part.mean(axis=0))
    return between, within


@pytest.mark.parametrize("solver", ["least_squares", "eigen"])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_every_direction_solves_the_generalised_eigenproblem(penalty: str, solver: str) -> None:
    X, y = _wine()
    K = GaussianKernel(4.0)(X, X)
    found = KernelDiscriminantAnalysis(sigma=4.0, regularization=0.1, penalty=penalty, solver=solver).fit(X, y)
    between, within = _scatters(K, y)
    within += 0.1 * (np.eye(len(K)) if penalty == "identity" else K)
    assert found.dual_coef_.shape == (len(X), 2)
    assert found.eigenvalues_[0] > found.eigenvalues_[1] > 0
    for alpha, value in zip(found.dual_coef_.T, found.eigenvalues_, strict=True):
        assert alpha @ between @ alpha / (alpha @ within @ alpha) == pytest.approx(value, rel=1e-5)
        left, right = K.T @ np.linalg.solve(K.T, between @ alpha), value * within @ alpha
        np.testing.assert_allclose(left, right, atol=1e-5 * np.abs(right).max())
        assert alpha @ within @ alpha / len(X) == pytest.approx(1.0, rel=1e-6)
    first, second = found.dual_coef_.T
    assert first @ within @ second == pytest.approx(0.0, abs=1e-4 * len(X))


@pytest.mark.parametrize("penalty", PENALTIES)
def test_both_solvers_give_the_same_features(penalty: str) -> None:
    X, y = _wine()
    a, b = (
        KernelDiscriminantAnalysis(sigma=4.0, regularization=0.1, penalty=penalty, solver=solver).fit(X, y).transform(X)
        for solver in ("least_squares", "eigen")
    )
    np.testing.assert_allclose(a, b, atol=1e-5)
    np.testing.assert_allclose(a.mean(axis=0), 0.0, atol=1e-8)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_two_classes_have_the_direction_of_the_classifier(penalty: str) -> None:
    X, y = _wine()
    X, y = X[y > 0], y[y > 0]
    feature = KernelDiscriminantAnalysis(sigma=4.0, penalty=penalty).fit(X, y).transform(X)[:, 0]
    output = KFDClassifier(sigma=4.0, regularization=0.03, penalty=penalty).fit(X, y).decision_function(X)
    assert np.corrcoef(feature, output)[0, 1] == pytest.approx(1.0, abs=1e-9)


def test_a_linear_kernel_with_hardly_any_penalty_gives_linear_discriminant_analysis() -> None:
    X, y = load_iris(return_X_y=True)
    ours = KernelDiscriminantAnalysis(kernel="linear", regularization=1e-6, penalty="kernel").fit(X, y).transform(X)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, y).transform(X)
    for a, b in zip(ours.T, theirs.T, strict=True):
        assert abs(np.corrcoef(a, b)[0, 1]) == pytest.approx(1.0, abs=1e-6)
    within = ours - np.stack([ours[y == c].mean(axis=0) for c in range(3)])[y]
    np.testing.assert_allclose((within**2).mean(axis=0), 1.0, rtol=1e-4)


def test_components_beyond_the_discriminant_ones_are_principal_components_outside_them() -> None:
    X, y = _wine()
    K = GaussianKernel(4.0)(X, X)
    found = KernelDiscriminantAnalysis(6, sigma=4.0, regularization=0.1, penalty="kernel").fit(X, y)
    plain = KernelDiscriminantAnalysis(sigma=4.0, regularization=0.1, penalty="kernel").fit(X, y)
    np.testing.assert_allclose(found.transform(X)[:, :2], plain.transform(X), atol=1e-8)
    assert found.eigenvalues_[2:].tolist() == [0.0] * 4
    products = found.dual_coef_.T @ K @ found.dual_coef_
    lengths = np.sqrt(products.diagonal())
    np.testing.assert_allclose((products / np.outer(lengths, lengths))[2:, :2], 0.0, atol=1e-6)
    H = np.eye(len(K)) - 1 / len(K)
    F = H @ K @ found.dual_coef_[:, :2]
    deflated = H @ K @ H - F @ np.linalg.solve(products[:2, :2], F.T)
    theirs = KernelPCA(4, kernel="precomputed").fit_transform(deflated)
    for a, b in zip(found.transform(X)[:, 2:].T, theirs.T, strict=True):
        assert abs(np.corrcoef(a, b)[0, 1]) == pytest.approx(1.0, abs=1e-6)


def test_features_serve_a_simple_classifier() -> None:
    X, y = _wine()
    model = make_pipeline(KernelDiscriminantAnalysis(sigma=4.0, regularization=0.01), NearestCentroid())
    assert model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.95
    assert list(model[0].get_feature_names_out()) == [f"kerneldiscriminantanalysis{i}" for i in range(2)]


def test_features_keep_the_float_type() -> None:
    X, y = _wine()
    found = KernelDiscriminantAnalysis(3, sigma=4.0).fit(X.astype(np.float32), y)
    assert found.transform(X.astype(np.float32)).dtype == np.float32


def test_more_components_than_there_are_directions_are_refused() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="n_components = 150"):
        KernelDiscriminantAnalysis(150).fit(X, y)
    with pytest.raises(ValueError, match="n_components = 9"):
        KernelDiscriminantAnalysis(9, kernel="linear", penalty="kernel").fit(X, y)
    with pytest.raises(ValueError, match="constant"):
        KernelDiscriminantAnalysis(solver="eigen").fit(np.ones((20, 3)), np.arange(20) % 3)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_all_samples_as_centres_give_the_dense_form(penalty: str) -> None:
    X, y = _wine()
    settings: dict[str, Any] = {"sigma": 4.0, "regularization": 0.1, "penalty": penalty}
    dense = KernelDiscriminantAnalysis(solver="eigen", **settings).fit(X, y)
    sparse = KernelDiscriminantAnalysis(n_centers=len(X), **settings).fit(X, y)
    np.testing.assert_allclose(sparse.transform(X), dense.transform(X), atol=1e-6)
    np.testing.assert_allclose(sparse.eigenvalues_, dense.eigenvalues_, rtol=1e-6)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_few_centres_solve_the_eigenproblem_of_their_columns(penalty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discriminants.fisher.kernel_discriminant_analysis._BLOCK", 50)
    X, y = _wine()
    found = KernelDiscriminantAnalysis(sigma=4.0, regularization=0.1, penalty=penalty, n_centers=21).fit(X, y)
    centers = found.basis_centers_
    assert centers.shape == (21, X.shape[1])
    assert sorted(np.bincount([y[(center == X).all(axis=1)][0] for center in centers])) == [7, 7, 7]
    between, within = _scatters(GaussianKernel(4.0)(X, centers), y)
    within += 0.1 * (np.eye(21) if penalty == "identity" else GaussianKernel(4.0)(centers, centers))
    for alpha, value in zip(found.dual_coef_.T, found.eigenvalues_, strict=True):
        np.testing.assert_allclose(between @ alpha, value * within @ alpha, atol=1e-6 * np.abs(between @ alpha).max())
        assert alpha @ within @ alpha / len(X) == pytest.approx(1.0, rel=1e-6)
    features = found.transform(X)
    np.testing.assert_allclose(features.mean(axis=0), 0.0, atol=1e-8)
    assert NearestCentroid().fit(features, y).score(features, y) > 0.97


def test_few_centres_of_a_matrix_are_those_of_its_kernel() -> None:
    X, y = _wine()
    K = GaussianKernel(4.0)(X, X)
    own = KernelDiscriminantAnalysis(sigma=4.0, n_centers=15).fit(X, y).transform(X)
    given = KernelDiscriminantAnalysis(kernel="precomputed", n_centers=15).fit(K, y).transform(K)
    np.testing.assert_allclose(given, own, atol=1e-6)


def test_few_centres_refuse_what_they_cannot_give() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="n_components = 3"):
        KernelDiscriminantAnalysis(3, n_centers=50).fit(X, y)
    with pytest.raises(ValueError, match="constant"):
        KernelDiscriminantAnalysis(n_centers=5).fit(np.ones((20, 3)), np.arange(20) % 3)
