"""Which held-out utterances confidences are fitted to."""

from types import SimpleNamespace

import pytest

from asr.acoustic.model_file import SearchSettings
from asr.training import confidence_fit
from discriminants.parallel.workers import SerialWorkers


@pytest.mark.parametrize(("words", "expected"), [(50, list(range(10))), (51, [0, 2, 4, 6, 8]), (100, [0, 2, 4, 6, 8])])
def test_of_many_words_every_second_utterance_serves(monkeypatch, words, expected):
    taken = []

    def lattices(scores, _shared, _search, _beam):
        taken.extend(scores)
        return [None] * len(scores)

    monkeypatch.setattr(confidence_fit, "lattice_batch", lattices)
    names = [f"u{number}" for number in range(10)]
    scored = SimpleNamespace(
        twin=SimpleNamespace(held_out=SimpleNamespace(references=dict.fromkeys(names, ("a",) * words))),
        batches=[SimpleNamespace(ids=names[:6]), SimpleNamespace(ids=names[6:])],
        scores=[list(range(6)), list(range(6, 10))],
        shared=None,
        workers=SerialWorkers(),
    )
    assert confidence_fit.confidence_on([scored], SearchSettings()) is None
    assert taken == expected
