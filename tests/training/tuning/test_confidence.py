"""Which held-out utterances confidences are fitted to."""

from collections.abc import Collection
from types import SimpleNamespace

import pytest

from asr.acoustic.model_file import SearchSettings
from asr.training.tuning import confidence
from discriminants.parallel.workers import SerialWorkers


def taken_of_ten(monkeypatch: pytest.MonkeyPatch, words: int, leave_out: Collection[str] = ()) -> list[int]:
    """Numbers of the utterances, of so many words each, that are searched."""
    taken: list[int] = []

    def lattices(scores, _shared, _search, _beam):
        taken.extend(scores)
        return [None] * len(scores)

    monkeypatch.setattr(confidence, "lattice_batch", lattices)
    names = [f"u{number}" for number in range(10)]
    scored = SimpleNamespace(
        held_out=SimpleNamespace(references=dict.fromkeys(names, ("a",) * words)),
        batches=[SimpleNamespace(ids=names[:6]), SimpleNamespace(ids=names[6:])],
        scores=[list(range(6)), list(range(6, 10))],
        shared=None,
        workers=SerialWorkers(),
    )
    assert confidence.confidence_on([scored], SearchSettings(), leave_out=leave_out) is None
    return taken


@pytest.mark.parametrize(("words", "expected"), [(50, list(range(10))), (51, [0, 2, 4, 6, 8]), (100, [0, 2, 4, 6, 8])])
def test_of_many_words_every_second_utterance_serves(monkeypatch, words, expected):
    assert taken_of_ten(monkeypatch, words) == expected


def test_utterances_left_out_are_neither_searched_nor_counted(monkeypatch):
    assert taken_of_ten(monkeypatch, 50, {"u0", "u7"}) == [1, 2, 3, 4, 5, 6, 8, 9]
    assert taken_of_ten(monkeypatch, 70, {"u0", "u7"}) == [1, 3, 5, 6, 9]
    assert taken_of_ten(monkeypatch, 51, {"u0"}) == list(range(1, 10))
