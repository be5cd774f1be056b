"""References with times: words belong to the segment that contains their middle, as in sclite."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.alignment.ctm import CtmRow, write_ctm
from asr.scoring.references import StmSegment, assign_words, read_hypotheses, read_references, read_stm
from asr.scoring.wer import score_utterances
from asr.util.errors import CorpusError

STM = """;; LABEL "F" "Female" ""
rec1 A anna 0.10 2.00 <o,f> uh { i / we } (really) like ships
rec1 A bob 2.10 3.00 <o,m> show ships

rec1 A nobody 3.00 4.00 <o,,> ignore_time_segment_in_scoring
rec1 A anna 4.00 5.00 yes
rec2 A bob 0.00 1.00 no
"""


@pytest.fixture
def write(tmp_path):
    def write_file(name, content):
        (tmp_path / name).write_text(content)
        return tmp_path / name

    return write_file


@pytest.fixture
def stm(write):
    return write("ref.stm", STM)


def test_segments_have_the_names_of_sclite(stm):
    segments = read_stm(stm)
    assert [one.id for one in segments] == ["anna-000", "bob-000", "", "anna-001", "bob-001"]
    assert (segments[1].start, segments[1].end, segments[1].reference) == (2.1, 3.0, ("show", "ships"))
    references = read_references(stm)
    assert references.speakers == {"anna-000": "anna", "bob-000": "bob", "anna-001": "anna", "bob-001": "bob"}
    assert "rec1 at 3 s" in references.notes[0]


def test_words_belong_to_the_segment_of_their_middle(write, stm):
    ctm = write(
        "hyp.ctm",
        "rec1 A 0.20 0.10 uh\nrec1 A 0.40 0.10 we\nrec1 A 0.60 0.10 like\n"
        "rec1 A 1.95 0.20 show\n"  # begins in the first segment; its middle is in the gap after it
        "rec1 A 2.30 0.10 ships\nrec1 A 3.30 0.10 noise\n"
        "rec1 A 5.30 0.10 yes\nrec3 A 0.00 0.10 what\n",  # after the last segment; of a recording without segments
    )
    references = read_references(stm)
    hypotheses = read_hypotheses(ctm, references)
    assert hypotheses == {
        "anna-000": ("uh", "we", "like"),
        "bob-000": ("show", "ships"),
        "anna-001": ("yes",),
        "rec3 A": ("what",),
    }
    report = score_utterances(references.words, hypotheses, speakers=references.speakers)
    assert (report.words, report.deletions, report.errors) == (8, 2, 2)
    assert (report.missing, report.extra) == (("bob-001",), ("rec3 A",))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.floats(0.01, 3), min_size=1, max_size=6),
    st.lists(st.floats(0, 20), max_size=8),
)
def test_every_word_is_assigned_once(lengths, middles):
    """The naive twin looks for the first segment that ends after the middle of each word."""
    borders = [0.0]
    for length in lengths:
        borders.append(borders[-1] + length)
    segments = [
        StmSegment(f"s-{n:03d}", "r", "A", "s", start, end, ("x",)) for n, (start, end) in enumerate(pairwise(borders))
    ]
    rows = [CtmRow("r", middle, 0.0, f"w{n}", channel="A") for n, middle in enumerate(middles)]
    found = assign_words("hyp.ctm", segments, rows)
    for row in rows:
        owner = next((one.id for one in segments if row.start < one.end), segments[-1].id)
        assert row.label in found[owner]
    assert sum(map(len, found.values())) == len(rows)


def test_a_ctm_file_gives_words_by_utterance_in_the_order_of_times(write):
    ctm = write("hyp", "u1 1 0.500 0.1 b 0.9\nu1 1 0.100 0.1 a 1\nu2 1 0.0 0.3 c 0.2\n")
    references = read_references(write("text", "u1 a b\nu2 c\n"))
    assert read_hypotheses(ctm, references) == {"u1": ("a", "b"), "u2": ("c",)} == references.words
    assert read_references(ctm).words == references.words


def test_an_stm_file_is_recognized_by_its_lines(write):
    assert read_references(write("segments", STM)).segments


def test_a_trn_reference_has_alternatives_and_a_hypothesis_has_not(write):
    references = read_references(write("ref.trn", "a { b / @ } (c) (u1)\nd (u2)\n"))
    assert references.words["u2"] == ("d",)
    hypotheses = read_hypotheses(write("hyp.trn", "a (c) (u1)\nd (u2)\n"), references)
    assert hypotheses["u1"] == ("a", "c")
    assert score_utterances(references.words, hypotheses).errors == 0
    with pytest.raises(CorpusError, match=r"hyp2\.trn:1: alternatives"):
        read_hypotheses(write("hyp2.trn", "a { b / c } (u1)\n"), references)


@pytest.mark.parametrize(
    ("content", "token"),
    [
        ("rec1 A anna 0.1\n", "ref.stm:1: .*4 fields"),
        ("rec1 A anna 0.1 x a\n", "ref.stm:1: 'x'"),
        ("rec1 A anna 2 1 a\n", "ref.stm:1: .* before its start"),
        (";; none\n\nrec1 A anna 0 1 { a\n", "ref.stm:3: .*brace"),
        ("rec1 A anna 0 1 a\u200bb\n", "ref.stm:1: .*U\\+200B"),
        ("rec1 A anna 0 1 IGNORE_TIME_SEGMENT_IN_SCORING\n", "ref.stm has no segments"),
        ("", "ref.stm has no segments"),
    ],
)
def test_malformed_segments_are_refused_with_their_line(write, content, token):
    with pytest.raises(CorpusError, match=token):
        read_references(write("ref.stm", content))


def test_hypotheses_that_do_not_fit_an_stm_file_are_refused(write, stm, tmp_path):
    references = read_references(stm)
    with pytest.raises(CorpusError, match="Expected a CTM file"):
        read_hypotheses(write("hyp.txt", "anna-000 a\n"), references)
    with pytest.raises(CorpusError, match=r"hyp\.ctm: recording rec1 has channel 1, .* A"):
        write_ctm(tmp_path / "hyp.ctm", [CtmRow("rec1", 0.0, 0.1, "a")])
        read_hypotheses(tmp_path / "hyp.ctm", references)
    with pytest.raises(CorpusError, match="is an STM file"):
        read_hypotheses(stm, references)
    with pytest.raises(CorpusError, match="u has several channels"):
        read_references(write("two.ctm", "u 1 0 1 a\nu 2 0 1 b\n"))
