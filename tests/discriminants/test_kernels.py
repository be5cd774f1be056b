"""The Gaussian kernel in blocks against its formula."""

import tracemalloc

import numpy as np
import pytest

from discriminants.exponential import exp_in_place
from discriminants.kernels import GaussianKernel, KernelColumns, resolve_sigma


def naive_kernel(X: np.ndarray, centers: np.ndarray, sigma: float) -> np.ndarray:
    difference = X[:, None, :].astype(np.float64) - centers[None, :, :].astype(np.float64)
    return np.exp(-(difference**2).sum(axis=2) / (2 * sigma**2))


def test_float32_exponential_is_within_one_millionth_where_it_is_normal() -> None:
    arguments = np.concatenate([-np.geomspace(1e-8, 87, 200_001), np.linspace(-2, 0, 50_001)]).astype(np.float32)
    exact = np.exp(arguments.astype(np.float64))
    assert np.abs(exp_in_place(arguments.copy()) / exact - 1).max() < 1e-6


def test_float32_exponential_of_very_negative_arguments_is_zero_and_nan_stays_nan() -> None:
    values = exp_in_place(np.array([-np.inf, -1e30, -88.0, 0.0, np.nan], dtype=np.float32))
    np.testing.assert_array_equal(values, np.array([0, 0, 0, 1, np.nan], dtype=np.float32))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exponential_works_in_place_in_either_memory_order(dtype: type, order: str) -> None:
    values = np.array(-np.arange(12.0).reshape(3, 4), dtype=dtype, order=order)
    expected = np.exp(values.astype(np.float64))
    assert exp_in_place(values) is values
    np.testing.assert_allclose(values, expected, rtol=1e-6)


def test_exponential_refuses_an_array_it_would_have_to_copy() -> None:
    with pytest.raises(ValueError, match="contiguous"):
        exp_in_place(np.zeros((4, 4), dtype=np.float32)[:, :3])


@pytest.mark.parametrize("offset", [0.0, 1000.0])
@pytest.mark.parametrize("sigma", [0.02, 1.0, 8.0])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 3e-5), (np.float64, 1e-11)])
def test_kernel_matrix_equals_the_formula_also_far_from_the_origin(
    dtype: type, tolerance: float, sigma: float, offset: float
) -> None:
    X = (np.random.default_rng(0).normal(size=(50, 7)) + offset).astype(dtype)
    centers = np.vstack([X[:20], X[:3] + dtype(0.01)])
    K = GaussianKernel(sigma)(X, centers)
    assert K.dtype == dtype
    np.testing.assert_allclose(K, naive_kernel(X, centers, sigma), atol=tolerance)


@pytest.mark.parametrize("n_samples", [1, 255, 256, 600])
def test_evaluation_equals_kernel_times_weights_for_any_number_of_rows(n_samples: int) -> None:
    random = np.random.default_rng(1)
    X, centers = random.normal(size=(n_samples, 5)), random.normal(size=(30, 5))
    weights, bias = random.normal(size=(30, 4)), random.normal(size=4)
    expected = naive_kernel(X, centers, 2.0) @ weights + bias
    kernel = GaussianKernel(2.0)
    np.testing.assert_allclose(kernel.evaluate(X, centers, weights, bias), expected, atol=1e-12)
    single = kernel.evaluate(X.astype(np.float32), centers, weights, bias)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, atol=2e-4)


def test_evaluation_never_holds_the_whole_kernel_matrix() -> None:
    random = np.random.default_rng(2)
    X = random.normal(size=(20_000, 4)).astype(np.float32)
    centers = random.normal(size=(500, 4)).astype(np.float32)
    tracemalloc.start()
    GaussianKernel(2.0).evaluate(X, centers, np.ones((500, 2), dtype=np.float32))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.shape[0] * centers.shape[0] * 4 / 10


def test_blocks_cover_all_rows_once() -> None:
    X = np.random.default_rng(3).normal(size=(23, 3))
    columns = KernelColumns(GaussianKernel(1.0), X[:4], np.float64)
    pieces = [(rows, K.copy()) for rows, K in columns.blocks(X, 10)]
    assert [rows.stop - rows.start for rows, _ in pieces] == [10, 10, 3]
    np.testing.assert_allclose(np.vstack([K for _, K in pieces]), naive_kernel(X, X[:4], 1.0), atol=1e-12)


@pytest.mark.parametrize("sigma", [0.0, -1.0, np.nan, np.inf])
def test_a_width_that_is_not_positive_and_finite_is_refused(sigma: float) -> None:
    with pytest.raises(ValueError, match="sigma"):
        GaussianKernel(sigma)


def test_scale_is_the_root_of_the_summed_variances_with_weights_as_repetitions() -> None:
    X = np.random.default_rng(4).normal(size=(10, 3)) + 50
    weight = np.arange(10.0)
    assert resolve_sigma("scale", X) == pytest.approx(np.sqrt(X.var(axis=0).sum()))
    repeated = X.repeat(np.arange(10), axis=0)
    assert resolve_sigma("scale", X, weight) == pytest.approx(resolve_sigma("scale", repeated))
    assert resolve_sigma("scale", np.ones((4, 2))) == 1.0
