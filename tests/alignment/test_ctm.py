import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.alignment.ctm import CtmRow, ctm_rows, read_ctm, write_ctm
from asr.alignment.frame_times import FrameTimes
from asr.decode.path_segments import Segment
from asr.util.errors import CorpusError
from asr.util.unicode_text import nfc

names = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=6).map(nfc)
milliseconds = st.integers(0, 10**7).map(lambda value: value / 1000)
rows = st.builds(
    CtmRow,
    utterance=names.filter(lambda name: not name.startswith(";;")),
    start=milliseconds,
    duration=milliseconds,
    label=names,
    confidence=st.none() | st.integers(0, 1000).map(lambda value: value / 1000),
    channel=st.sampled_from(["1", "A"]),
)


@given(st.lists(rows, max_size=5))
def test_what_is_written_is_read_back(tmp_path_factory, written):
    path = tmp_path_factory.getbasetemp() / "round.ctm"
    write_ctm(path, written)
    assert read_ctm(path) == written


@given(
    st.lists(st.integers(0, 5000), min_size=2, max_size=6, unique=True).map(sorted),
    st.sampled_from([(0.01, 0.025), (0.0125, 0.025), (0.016, 0.016), (1 / 3, 0.5)]),
)
def test_segments_that_touch_still_touch_in_seconds(borders, shift_and_window):
    segments = [Segment("a", start, end) for start, end in itertools.pairwise(borders)]
    times = FrameTimes(*shift_and_window, n_frames=6000, duration=6000.0)
    found = ctm_rows("u", segments, times)
    for row, segment in zip(found, segments, strict=True):
        assert row.start == pytest.approx(times.border(segment.start), abs=6e-4)
        assert row.start + row.duration == pytest.approx(times.border(segment.end), abs=6e-4)
    for row, following in itertools.pairwise(found):
        assert round(row.start + row.duration, 3) == following.start


def test_a_line_reads_utterance_channel_start_duration_label(tmp_path):
    path = tmp_path / "words.ctm"
    times = FrameTimes(shift=0.01, window=0.026, n_frames=60, duration=0.62)
    write_ctm(path, [*ctm_rows("u1", [Segment("ONE", 12, 50)], times), CtmRow("u2", 0.5, 0.25, "TWO", 0.75, "A")])
    assert path.read_text() == "u1 1 0.128 0.380 ONE\nu2 A 0.500 0.250 TWO 0.750\n"


def test_comments_and_blank_lines_are_skipped(tmp_path):
    path = tmp_path / "words.ctm"
    path.write_text(";; made by hand\n\nu 1 0.5 1 ;;word\n")
    assert read_ctm(path) == [CtmRow("u", 0.5, 1.0, ";;word")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("u 1 0.5 ONE", "words.ctm:2: 'u 1 0.5 ONE' has 4 fields"),
        ("u 1 0.5 0.1 ONE 0.9 x", r"words.ctm:2: .* has 7 fields"),
        ("u 1 begin 0.1 ONE", r"words.ctm:2: 'begin'. Expected a number"),
        ("u 1 -0.5 0.1 ONE", r"words.ctm:2: '-0.5'. Expected a number"),
        ("u 1 0.5 nan ONE", r"words.ctm:2: 'nan'. Expected"),
        ("u 1 0.5 1e999 ONE", r"words.ctm:2: '1e999'. Expected"),
        ("u 1 0.5 1e30 ONE", r"words.ctm:2: '1e30'. Expected .* to 1e\+09"),
        ("u 1 0.5 " + 300_000 * "1" + "x ONE", r"words.ctm:2: .* Expected a number"),
        ("u\x1b[2J 1 0.5 0.1 ONE", r"words.ctm:2: the utterance .* cannot be printed"),
        ("u 1 0.5 0.1 ONE 1_0", r"words.ctm:2: '1_0'. Expected"),
    ],
)
def test_a_malformed_line_is_refused_with_its_number(tmp_path, line, reason):
    path = tmp_path / "words.ctm"
    path.write_text(f"u 1 0.0 0.5 ZERO\n{line}\n")
    with pytest.raises(CorpusError, match=reason):
        read_ctm(path)


def test_a_file_that_is_missing_or_not_utf8_is_refused(tmp_path):
    with pytest.raises(CorpusError, match=r"none\.ctm"):
        read_ctm(tmp_path / "none.ctm")
    (tmp_path / "latin.ctm").write_bytes(b"u 1 0 1 \xe9\n")
    with pytest.raises(CorpusError, match="UTF-8"):
        read_ctm(tmp_path / "latin.ctm")


@pytest.mark.parametrize(
    "row", [CtmRow("u 1", 0, 1, "a"), CtmRow("u", 0, 1, ""), CtmRow(";;u", 0, 1, "a"), CtmRow("u\x1b", 0, 1, "a")]
)
def test_name_that_ctm_cannot_hold_is_not_written(tmp_path, row):
    with pytest.raises(CorpusError, match="CTM file"):
        write_ctm(tmp_path / "words.ctm", [row])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "row", [CtmRow("u", float("nan"), 1, "a"), CtmRow("u", 0, -1, "a"), CtmRow("u", 0, 1, "a", 1e39)]
)
def test_a_time_that_would_not_be_read_back_is_not_written(tmp_path, row):
    with pytest.raises(CorpusError, match=r"CTM file. Expected a number"):
        write_ctm(tmp_path / "words.ctm", [row])
    assert list(tmp_path.iterdir()) == []
