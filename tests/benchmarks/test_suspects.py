"""The draws of the benchmark of suspected transcripts."""

import numpy as np

from benchmarks.suspects import _exchanged


def test_five_per_cent_of_the_transcripts_are_exchanged() -> None:
    right = {f"u{number:02d}": (str(number % 4),) for number in range(80)}
    exchanged = _exchanged(right, sorted(right), np.random.default_rng(0))
    wrong = [name for name in right if exchanged[name] != right[name]]
    assert len(wrong) == 4
    assert sorted(exchanged[name] for name in wrong) == sorted(right[name] for name in wrong)
