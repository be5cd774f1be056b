"""Reading of `scores.tsv` and `suspects.tsv`."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.alignment.score_files import read_reasons, read_scores, write_scores, write_suspects
from asr.alignment.suspects import Suspect, TranscriptCheck
from asr.util.errors import CorpusError
from asr.util.unicode_text import nfc

NAMES = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=5).map(nfc)
SCORES = st.dictionaries(NAMES, st.floats(-1e4, 0.0), max_size=4)


@settings(max_examples=20)
@given(scores=SCORES, known=st.booleans())
def test_scores_are_read_as_written(tmp_path_factory, scores, known):
    path = tmp_path_factory.mktemp("scores") / "scores.tsv"
    trust = dict.fromkeys(scores, 0.25) if known else {}
    write_scores(path, TranscriptCheck(scores, 99.0, (), trust))
    found, found_trust = read_scores(path)
    assert found == pytest.approx(scores, abs=1e-4)
    assert found_trust == trust


def test_reasons_are_those_of_utterances(tmp_path):
    path = tmp_path / "suspects.tsv"
    suspects = [
        Suspect("speaker", "s", -1.0, "all"),
        Suspect("utterance", "a", -1.0, "fits\tbadly"),
        Suspect("listed", "b", float("nan"), "among 5"),
    ]
    write_suspects(path, suspects, {"a": ("ONE",), "b": ()})
    assert read_reasons(path) == {"a": "fits\\tbadly", "b": "among 5"}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", ":1"),
        ("utterance\tscore\n", ":1"),
        ("utterance\tscore\ttrust\na\t-1\n", ":2"),
        ("utterance\tscore\ttrust\na\t-1\t2\n", ":2"),
        ("utterance\tscore\ttrust\na\tlow\t-\n", ":2"),
    ],
)
def test_invalid_scores_raise_with_the_line(tmp_path, text, place):
    (tmp_path / "scores.tsv").write_text(text)
    with pytest.raises(CorpusError, match=rf"scores\.tsv{place}"):
        read_scores(tmp_path / "scores.tsv")
