"""Limits of likelihood ratios against all pairs of limits tried one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from asr.training.tuning.rejection import best_limits

pairs = st.tuples(st.integers(-5, 5), st.integers(-5, 5))


def counts(commands: np.ndarray, others: np.ndarray, limits: tuple[float | None, float | None]) -> tuple[int, int]:
    """Others accepted and commands lost."""
    lowest = np.array([-np.inf if limit is None else limit for limit in limits])
    return int((others >= lowest).all(axis=1).sum()), int((commands < lowest).any(axis=1).sum())


@given(st.lists(pairs, min_size=1, max_size=12), st.lists(pairs, max_size=12), st.integers(0, 4))
def test_best_limits_accept_fewest(commands_: list[tuple[int, int]], others_: list[tuple[int, int]], most: int) -> None:
    commands, others = (np.array(each, float).reshape(-1, 2) for each in (commands_, others_))
    grid = [value - 0.25 for value in range(-6, 7)]
    tried = [counts(commands, others, (first, second)) for first in grid for second in grid]
    accepted, lost = counts(commands, others, best_limits(commands, others, most))
    assert lost <= most
    assert accepted == min(accepted for accepted, lost in tried if lost <= min(most, len(commands) - 1))


def test_best_limits_lie_in_the_middle_and_are_none_if_not_needed() -> None:
    commands, others = np.array([[0.0, 5.0], [1.0, 6.0]]), np.array([[-4.0, 9.0], [-6.0, 8.0]])
    assert best_limits(commands, others, 0) == (-2.0, None)
    assert best_limits(commands, others[:0], 0) == (None, None)
