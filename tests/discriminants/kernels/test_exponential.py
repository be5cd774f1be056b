"""The exponential in place."""

import numpy as np
import pytest

from discriminants.kernels.exponential import exp_in_place


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
