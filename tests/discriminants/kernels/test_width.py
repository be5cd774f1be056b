"""The width that "scale" stands for."""

import numpy as np
import pytest

from discriminants.kernels import LaplacianKernel, resolve_sigma


def test_scale_is_the_root_of_the_summed_variances_with_weights_as_repetitions() -> None:
    X = np.random.default_rng(4).normal(size=(10, 3)) + 50
    weight = np.arange(10.0)
    assert resolve_sigma("scale", X) == pytest.approx(np.sqrt(X.var(axis=0).sum()))
    repeated = X.repeat(np.arange(10), axis=0)
    assert resolve_sigma("scale", X, weight) == pytest.approx(resolve_sigma("scale", repeated))
    assert resolve_sigma("scale", np.ones((4, 2))) == 1.0


def test_scale_of_the_laplacian_kernel_is_the_sum_of_the_deviations() -> None:
    X = np.random.default_rng(4).normal(size=(10, 3)) * [1, 10, 100]
    assert LaplacianKernel().resolved(X).sigma == pytest.approx(X.std(axis=0).sum())


def test_more_rows_than_a_block_give_the_same_width() -> None:
    X = np.random.default_rng(5).normal(size=(70_000, 2)).astype(np.float32) * 3 + 7
    assert resolve_sigma("scale", X) == pytest.approx(np.sqrt(X.astype(np.float64).var(axis=0).sum()), rel=1e-12)


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e200, 1e307])
def test_the_squares_of_tiny_and_huge_values_neither_vanish_nor_overflow(size: float) -> None:
    X = np.array([[0.0], [size], [0.0], [size]])
    assert resolve_sigma("scale", X) == pytest.approx(size / 2, rel=1e-12, abs=0)


def test_a_large_constant_feature_hides_no_small_varying_one() -> None:
    X = np.full((100, 2), 1e6, dtype=np.float32)
    X[:, 1] = np.random.default_rng(6).normal(size=100)
    assert resolve_sigma("scale", X) == pytest.approx(X[:, 1].std(), rel=1e-5)


def test_a_feature_that_is_constant_but_for_rounding_has_no_width() -> None:
    X = np.full((100, 1), 0.1, dtype=np.float32)
    X[::2] = np.nextafter(X[::2], np.float32(1))
    assert resolve_sigma("scale", X) == 1.0


@pytest.mark.parametrize("sigma", [0.0, -1.0, np.nan, np.inf, "auto", None])
def test_a_width_that_is_not_positive_and_finite_is_refused(sigma: object) -> None:
    with pytest.raises(ValueError, match="sigma"):
        resolve_sigma(sigma, np.zeros((2, 2)))  # type: ignore[arg-type]


def test_weights_that_are_all_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="positive weight"):
        resolve_sigma("scale", np.zeros((2, 2)), np.zeros(2))
