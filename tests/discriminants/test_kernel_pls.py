"""Kernel partial least squares against scikit-learn's linear form and the source's iteration."""

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression

from discriminants import GaussianKernel, KernelPLS


def _data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X, new = random.normal(size=(80, 6)) + 1, random.normal(size=(20, 6))
    Y = np.column_stack([X @ random.normal(size=6), np.sin(X[:, 0]) + X[:, 1] ** 2])
    return X, Y + 0.1 * random.normal(size=(80, 2)), new


@pytest.mark.parametrize("n_components", [1, 3, 6])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_linear_kernel_is_partial_least_squares(n_components: int, n_outputs: int) -> None:
    X, Y, new = _data()
    y = Y if n_outputs == 2 else Y[:, 0]
    machine = KernelPLS(n_components, kernel="linear").fit(X, y)
    twin = PLSRegression(n_components, scale=False, max_iter=10_000, tol=1e-14).fit(X, y)
    np.testing.assert_allclose(machine.predict(new), twin.predict(new).reshape(y[:20].shape), atol=1e-6)
    found, expected = machine.transform(new), twin.transform(new)
    agreement = np.abs(np.corrcoef(found.T, expected.T)[:n_components, n_components:].diagonal())
    np.testing.assert_allclose(agreement, 1.0, atol=1e-6)


def test_scores_are_those_of_the_iteration_with_deflation() -> None:
    X, Y, new = _data()
    center = np.eye(80) - 1 / 80
    kernel = GaussianKernel(3.0)
    K, rest = center @ kernel(X, X) @ center, center @ Y
    T, U = np.empty((80, 0)), np.empty((80, 0))
    deflated = K
    for _ in range(4):
        u = rest[:, 0]
        for _ in range(5000):
            t = deflated @ u
            t /= np.linalg.norm(t)
            u = rest @ (rest.T @ t)
        T, U = np.column_stack([T, t]), np.column_stack([U, u])
        without = np.eye(80) - np.outer(t, t)
        deflated, rest = without @ deflated @ without, without @ rest
    weights = U @ np.linalg.inv(T.T @ K @ U)
    centered = (kernel(new, X) - kernel(X, X).mean(axis=0)) @ center
    machine = KernelPLS(4, sigma=3.0).fit(X, Y)
    np.testing.assert_allclose(machine.predict(new), centered @ weights @ T.T @ Y + Y.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(np.abs(machine.transform(X)), np.sqrt(80) * np.abs(T), atol=1e-5)


def test_components_end_when_nothing_is_left() -> None:
    X, Y, new = _data()
    assert KernelPLS(50, kernel="linear").fit(X, Y[:, 1]).transform(new).shape == (20, 6)
    np.testing.assert_allclose(KernelPLS(3).fit(X, np.full(80, 7.0)).predict(new), 7.0)


def test_precomputed_kernel_gives_the_same() -> None:
    X, Y, new = _data()
    kernel = GaussianKernel(3.0)
    given = KernelPLS(3, kernel="precomputed").fit(kernel(X, X), Y).predict(kernel(new, X))
    np.testing.assert_allclose(given, KernelPLS(3, sigma=3.0).fit(X, Y).predict(new))
