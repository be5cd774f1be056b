"""The string subsequence kernel against an enumeration of all subsequences."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discriminants.kernels import string_subsequence_kernel


def features(string: Sequence[Hashable], length: int, decay: float) -> dict[tuple[Hashable, ...], float]:
    found: dict[tuple[Hashable, ...], float] = defaultdict(float)
    for places in combinations(range(len(string)), length):
        found[tuple(string[place] for place in places)] += decay ** (places[-1] - places[0] + 1)
    return found


def similarity(one: str, other: str, length: int, decay: float) -> float:
    left, right = features(one, length, decay), features(other, length, decay)
    return sum(value * right.get(key, 0.0) for key, value in left.items())


def test_kernel_of_the_sources_example() -> None:
    decay = 0.7
    K = string_subsequence_kernel(["cat", "car"], length=2, decay=decay)
    assert K[0, 1] == pytest.approx(1 / (2 + decay**2))
    plain = string_subsequence_kernel(["cat", "car"], length=2, decay=decay, normalize=False)
    np.testing.assert_allclose(plain, [[2 * decay**4 + decay**6, decay**4], [decay**4, 2 * decay**4 + decay**6]])


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.text("abc", max_size=8), min_size=1, max_size=4),
    st.lists(st.text("abcd", max_size=8), max_size=3),
    st.integers(1, 4),
    st.sampled_from([0.3, 0.9, 1.0]),
)
def test_kernel_equals_the_enumeration(strings: list[str], others: list[str], length: int, decay: float) -> None:
    for right in (None, others):
        K = string_subsequence_kernel(strings, right, length=length, decay=decay, normalize=False)
        columns = strings if right is None else right
        expected = [[similarity(s, t, length, decay) for t in columns] for s in strings]
        np.testing.assert_allclose(K, np.reshape(expected, K.shape), rtol=1e-12, atol=1e-15)
    normalized = string_subsequence_kernel(strings, length=length, decay=decay)
    np.testing.assert_allclose(normalized.diagonal(), [float(len(s) >= length) for s in strings])
    assert np.linalg.eigvalsh(normalized).min() > -1e-12


def test_symbols_may_be_any_hashable_values() -> None:
    phones = [["k", "ae", "t"], ["k", "aa", "r"]]
    np.testing.assert_allclose(
        string_subsequence_kernel(phones, length=1), string_subsequence_kernel(["kat", "kor"], length=1)
    )


@pytest.mark.parametrize("parameters", [{"length": 0}, {"length": 1.5}, {"decay": 0.0}, {"decay": 1.1}])
def test_invalid_parameter_is_refused(parameters: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(parameters))):
        string_subsequence_kernel(["a"], **parameters)  # type: ignore[arg-type]
