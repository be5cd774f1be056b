"""The Gaussian kernel with a width per centre, and with several widths to choose from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discriminants.kernels import GaussianKernel, MultiscaleGaussianKernel


def naive_kernel(X: np.ndarray, centers: np.ndarray, widths: np.ndarray) -> np.ndarray:
    difference = X[:, None, :].astype(np.float64) - centers[None, :, :].astype(np.float64)
    return np.exp(-((difference / np.asarray(widths)[:, None]) ** 2).sum(axis=2) / 2)


@pytest.mark.parametrize("offset", [0.0, 1000.0])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 3e-5), (np.float64, 1e-11)])
def test_every_centre_has_its_own_width(dtype: type, tolerance: float, offset: float) -> None:
    random = np.random.default_rng(0)
    X = (random.normal(size=(50, 7)) + offset).astype(dtype)
    widths = np.geomspace(0.05, 20, 20)
    K = GaussianKernel(widths)(X, X[:20])
    assert K.dtype == dtype
    np.testing.assert_allclose(K, naive_kernel(X, X[:20], widths), atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_widths_many_orders_of_magnitude_apart_keep_the_formula(dtype: type) -> None:
    X = np.random.default_rng(1).normal(size=(12, 3)).astype(dtype)
    X[:4] *= dtype(1e6)
    widths = np.logspace(-12, 12, 12)
    np.testing.assert_allclose(GaussianKernel(widths)(X, X), naive_kernel(X, X, widths), atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    scale=st.floats(-8, 8),
    shift=st.floats(-8, 8),
    width=st.floats(-8, 8),
    seed=st.integers(0, 1000),
    d=st.integers(1, 5),
)
def test_the_formula_holds_at_any_scale_shift_and_width(
    scale: float, shift: float, width: float, seed: int, d: int
) -> None:
    X = np.random.default_rng(seed).normal(size=(9, d)) * 10**scale + 10**shift
    K = GaussianKernel(10**width)(X, X[:5])
    np.testing.assert_allclose(K, naive_kernel(X, X[:5], np.full(5, 10**width)), atol=1e-7)


def test_the_kernel_of_chosen_centres_keeps_their_widths() -> None:
    X = np.random.default_rng(2).normal(size=(10, 3))
    kernel = GaussianKernel(np.linspace(1, 2, 10)).resolved(X)
    rows = np.array([7, 2])
    np.testing.assert_allclose(kernel.at(rows)(X, X[rows]), kernel(X, X)[:, rows], atol=1e-14)
    assert not kernel.centers_are_points
    assert GaussianKernel(1.0).centers_are_points


def test_widths_in_a_list_are_one_a_centre_too() -> None:
    X = np.random.default_rng(2).normal(size=(3, 3))
    kernel = GaussianKernel([1.0, 2.0, 3.0])
    assert not kernel.centers_are_points
    np.testing.assert_allclose(kernel.at(np.array([1]))(X, X[1:2]), GaussianKernel(2.0)(X, X[1:2]))


def test_a_wrong_number_of_widths_is_refused() -> None:
    X = np.zeros((4, 2))
    with pytest.raises(ValueError, match="3 widths for 4 samples"):
        GaussianKernel(np.ones(3)).resolved(X)
    with pytest.raises(ValueError, match="3 widths for 4 centers"):
        GaussianKernel(np.ones(3))(X, X)


def test_several_scales_make_every_point_a_candidate_at_every_width() -> None:
    X = np.random.default_rng(3).normal(size=(6, 2))
    kernel = MultiscaleGaussianKernel([0.5, 2.0, 1.0]).resolved(X)
    candidates, numbers = kernel.over(X)
    assert numbers.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5]
    K = candidates(X, X[numbers])
    for position, (number, sigma) in enumerate(zip(numbers, [0.5, 2.0, 1.0] * 6, strict=True)):
        expected = GaussianKernel(sigma)(X, X[[number]])
        np.testing.assert_allclose(K[:, [position]], expected, atol=1e-14)
    np.testing.assert_array_equal(kernel(X, X), K)
    np.testing.assert_array_equal(kernel.diagonal(X), np.ones(6))
    chosen = np.array([13, 4])
    np.testing.assert_allclose(candidates.at(chosen)(X, X[numbers[chosen]]), K[:, chosen], atol=1e-14)


def test_scale_means_half_once_and_twice_the_width_of_the_data() -> None:
    X = np.random.default_rng(4).normal(size=(30, 3))
    sigma = GaussianKernel().resolved(X).sigma
    np.testing.assert_allclose(MultiscaleGaussianKernel().resolved(X).sigmas, [sigma / 2, sigma, 2 * sigma])


@pytest.mark.parametrize("sigmas", [[], [1.0, -1.0], [0.0], [np.nan], [1.0, 1.0], [[1.0], [2.0]], None])
def test_scales_that_are_not_positive_or_occur_twice_are_refused(sigmas: object) -> None:
    with pytest.raises(ValueError, match="sigmas must"):
        MultiscaleGaussianKernel(sigmas)  # type: ignore[arg-type]


def test_scales_unresolved_or_misnamed_are_refused() -> None:
    with pytest.raises(ValueError, match="resolved"):
        MultiscaleGaussianKernel().over(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="scale"):
        MultiscaleGaussianKernel("auto").resolved(np.zeros((2, 2)))
