"""The commands of the benchmark of false commands."""

import pytest

from benchmarks.false_commands import drawn_commands


@pytest.mark.parametrize("seed", [0, 5])
def test_drawn_commands_are_sixty_of_two_to_four_words(seed: int) -> None:
    found = drawn_commands(seed)
    assert found == drawn_commands(seed)
    assert len(found) == 60
    assert {len(command.split()) for command in found} <= {2, 3, 4}
