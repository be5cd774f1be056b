"""The filler penalty against every penalty tried one by one, for commands and others with known limits."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from asr.training.tuning.rejection import NO_FILLER, best_penalty

limits = st.lists(st.floats(-3000.0, 0.5), min_size=1, max_size=30)


@given(limits, limits)
def test_best_penalty_accepts_fewest_of_those_that_lose_few(commands: list[float], others: list[float]) -> None:
    """A command is lost above its limit, another recording accepted below its own."""
    most = 0.05 * len(commands)

    def lost(penalty: float) -> int:
        return sum(penalty > limit for limit in commands)

    def accepted(penalty: float) -> int:
        return sum(penalty < limit for limit in others)

    found = best_penalty(lost, accepted, most)
    assert lost(found) <= most
    bearable = [penalty for penalty in (0.0, *(-np.logspace(-1, 3.5, 500)).tolist()) if lost(penalty) <= most]
    for penalty in bearable:  # the steps of the search miss at most a tenth of the largest tolerable penalty
        assert accepted(found) <= accepted(1.1 * penalty - 0.1)


def test_best_penalty_lies_between_commands_and_others() -> None:
    assert -100.0 < best_penalty(lambda p: 10 * (p > -10), lambda p: 10 * (p < -100), 0.5) < -10.0


def test_best_penalty_without_bearable_one_switches_filler_off() -> None:
    assert best_penalty(lambda p: 10 * (p > NO_FILLER), lambda p: 0, 0.5) == NO_FILLER
