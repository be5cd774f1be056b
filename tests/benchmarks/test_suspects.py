"""The draws of the benchmark of suspected transcripts."""

import numpy as np
import pytest

from benchmarks.suspects import spoiled

RIGHT = {f"u{number:03d}": (str(number % 4), str(number // 4 % 5), "x") for number in range(100)}


@pytest.mark.parametrize(("condition", "n_exchanged"), [("right", 0), ("few", 3), ("many", 30)])
def test_spoiled_exchanges_the_given_fraction(condition, n_exchanged):
    given, wrong = spoiled(RIGHT, condition, np.random.default_rng(0))
    exchanged = set(wrong.get("exchanged", ()))
    assert len(exchanged) == n_exchanged
    assert sorted(given[name] for name in exchanged) == sorted(RIGHT[name] for name in exchanged)
    assert {name for name in RIGHT if given[name] != RIGHT[name]} == exchanged | set(wrong.get("changed", ()))


def test_spoiled_adds_and_removes_a_word():
    given, wrong = spoiled(RIGHT, "few", np.random.default_rng(0))
    assert sorted(len(given[name]) for name in wrong["changed"]) == [2, 4]
