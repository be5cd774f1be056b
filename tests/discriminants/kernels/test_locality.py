"""Kernels of windows in images and sequences."""

from collections.abc import Callable

import numpy as np
import pytest

from discriminants.kernels import Kernel, LocalImageKernel, LocalSequenceKernel, PolynomialKernel


def image_kernel(x: np.ndarray, z: np.ndarray, radius: int, local_degree: int, degree: int) -> float:
    """The steps of Schoelkopf et al. (1998) for two images."""
    products, height, width = x * z, *x.shape
    sums = 0.0
    for i in range(height):
        for j in range(width):
            local = sum(
                max(radius + 1 - max(abs(i - k), abs(j - m)), 0) * products[k, m]
                for k in range(height)
                for m in range(width)
            )
            sums += local**local_degree
    return float(sums**degree)


@pytest.mark.parametrize(("radius", "local_degree", "degree"), [(0, 1, 1), (1, 2, 2), (2, 3, 1), (9, 1, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_image_kernel_equals_the_steps_of_the_source(radius: int, local_degree: int, degree: int, dtype: type) -> None:
    X = np.random.default_rng(0).normal(size=(6, 12)).astype(dtype)
    kernel = LocalImageKernel((3, 4), radius, local_degree, degree)
    images = X.astype(np.float64).reshape(6, 3, 4)
    expected = [[image_kernel(x, z, radius, local_degree, degree) for z in images] for x in images]
    tolerance = (1e-5 if dtype == np.float32 else 1e-13) * np.abs(expected).max()
    np.testing.assert_allclose(kernel(X, X), expected, rtol=0, atol=tolerance)
    np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(expected), rtol=0, atol=tolerance)
    assert np.linalg.eigvalsh(kernel(X, X).astype(np.float64)).min() > -10 * tolerance


def test_image_kernel_of_single_pixels_is_polynomial() -> None:
    X = np.random.default_rng(1).normal(size=(9, 6))
    np.testing.assert_allclose(LocalImageKernel((2, 3), 0, 1, 3)(X, X), PolynomialKernel(3, 0.0, 1.0)(X, X))


@pytest.mark.parametrize("degree", [1, 2])
def test_sequence_kernel_equals_the_formula(degree: int) -> None:
    X = np.random.default_rng(2).integers(0, 4, size=(15, 9)).astype(float)
    K = LocalSequenceKernel(2, 3, degree)(X, X)
    for x, row in zip(X, K, strict=True):
        for z, value in zip(X, row, strict=True):
            windows = (
                sum((3 - abs(j)) * (x[p + j] == z[p + j]) for j in range(-2, 3) if 0 <= p + j < 9) for p in range(9)
            )
            assert value == sum(window**3 for window in windows) ** degree
    assert np.linalg.eigvalsh(K).min() > -1e-12 * K.max()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LocalSequenceKernel(-1), "radius"),
        (lambda: LocalSequenceKernel(1, 0), "local_degree"),
        (lambda: LocalImageKernel((2, 2), degree=1.5), "degree"),  # type: ignore[arg-type]
        (lambda: LocalImageKernel(4), "shape"),  # type: ignore[arg-type]
        (lambda: LocalImageKernel((2, 0)), "shape"),
        (lambda: LocalImageKernel((2, 2)).columns(np.ones((3, 5))), "5 features"),
    ],
)
def test_invalid_parameter_is_refused(make: Callable[[], Kernel], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
