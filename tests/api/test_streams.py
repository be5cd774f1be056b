"""Audio that comes from an iterator, as from a microphone."""

import numpy as np
import pytest

from asr import Recognizer
from tests.fuzz import valid_models

RATE = 8000


def pieces(n: int):
    yield from np.random.default_rng(0).normal(scale=0.1, size=(n, RATE)).astype(np.float32)
    raise OSError("the microphone is gone")


@pytest.mark.parametrize("jobs", [1, 3])
def test_recognize_all_generator_raises_gives_results_first(jobs):
    found = []
    with pytest.raises(OSError, match="microphone"):
        for result in Recognizer(valid_models.mixtures()).recognize_all(pieces(5), rate=RATE, jobs=jobs):
            found.append(result)
    assert len(found) == 5
