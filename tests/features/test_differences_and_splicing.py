"""Differences and splicing beside their definitions, frame by frame."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.features.deltas import add_deltas, splice


def slope(frames: np.ndarray, window: int) -> np.ndarray:
    """The HTK Book, eq. 5.16, with the end frames repeated."""
    last = len(frames) - 1
    result = np.zeros_like(frames)
    for t in range(len(frames)):
        for k in range(1, window + 1):
            result[t] += (
                k * (frames[min(t + k, last)] - frames[max(t - k, 0)]) / (2 * sum(j * j for j in range(1, window + 1)))
            )
    return result


@settings(max_examples=60, deadline=None)
@given(length=st.integers(1, 12), window=st.integers(1, 4), order=st.integers(0, 3), seed=st.integers(0, 99))
def test_differences_are_regression_slopes_of_the_order_before(length, window, order, seed):
    static = np.random.default_rng(seed).normal(size=(length, 3)).astype(np.float32)
    expected = [static.astype(np.float64)]
    for _ in range(order):
        expected.append(slope(expected[-1], window))
    result = add_deltas(static, window, order)
    assert result.dtype == np.float32 and result.flags.c_contiguous
    np.testing.assert_allclose(result, np.concatenate(expected, axis=1), atol=1e-5)


def test_the_difference_of_a_ramp_is_its_slope():
    ramp = np.arange(20, dtype=np.float32)[:, None] * 3
    result = add_deltas(ramp, 2, 2)
    assert np.all(result[2:-2, 1] == 3) and np.all(result[4:-4, 2] == 0)


@settings(max_examples=60, deadline=None)
@given(length=st.integers(1, 8), context=st.integers(0, 5))
def test_a_spliced_frame_holds_its_neighbours_in_order(length, context):
    frames = np.random.default_rng(length).normal(size=(length, 2)).astype(np.float32)
    result = splice(frames, context)
    for t in range(length):
        around = [frames[min(max(t + k, 0), length - 1)] for k in range(-context, context + 1)]
        np.testing.assert_array_equal(result[t], np.concatenate(around))


@pytest.mark.parametrize("context", [0, 2])
def test_no_frames_stay_no_frames(context):
    empty = np.empty((0, 3), np.float32)
    assert add_deltas(empty, 2, 2).shape == (0, 9)
    assert splice(empty, context).shape == (0, 3 * (2 * context + 1))
