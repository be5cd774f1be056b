import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from praatio import textgrid

from asr.align.textgrid import write_textgrid
from asr.decode.path_segments import Segment

labels = st.sampled_from(["ONE", "O'CLOCK", 'SAY "HI"', "é", "<NOISE>", "1"])


@st.composite
def tiers(draw: st.DrawFn) -> list[Segment]:
    borders = sorted(draw(st.lists(st.integers(0, 300), max_size=12, unique=True)))
    return [Segment(draw(labels), start, end) for start, end in zip(borders[::2], borders[1::2], strict=False)]


@settings(max_examples=30)
@given(tiers(), tiers(), st.sampled_from([0.01, 0.0125]), st.floats(0.0, 5.0))
def test_praat_reads_back_every_segment_and_empty_intervals_between(
    tmp_path_factory, words, phones, shift_seconds, duration
):
    path = tmp_path_factory.getbasetemp() / "round.TextGrid"
    write_textgrid(path, {"words": words, "phones": phones}, shift_seconds=shift_seconds, duration=duration)
    grid = textgrid.openTextgrid(str(path), includeEmptyIntervals=True, reportingMode="error")
    assert grid.tierNames == ("words", "phones")
    last = max(round(segments[-1].end * shift_seconds, 3) if segments else 0.0 for segments in (words, phones))
    assert grid.maxTimestamp == pytest.approx(max(duration, last), abs=6e-5)
    for name, segments in (("words", words), ("phones", phones)):
        entries = grid.getTier(name).entries
        spoken = [entry for entry in entries if entry.label]
        assert [entry.label for entry in spoken] == [segment.label for segment in segments]
        for entry, segment in zip(spoken, segments, strict=True):
            assert entry.start == pytest.approx(segment.start * shift_seconds, abs=6e-4)
            assert entry.end == pytest.approx(segment.end * shift_seconds, abs=6e-4)
        if entries:
            assert entries[0].start == 0.0
            assert entries[-1].end == grid.maxTimestamp
        assert all(one.end == other.start for one, other in itertools.pairwise(entries))


@pytest.mark.parametrize(
    "segments", [[Segment("a", 0, 5), Segment("b", 4, 8)], [Segment("a", 3, 3)], [Segment("a", 9, 8)]]
)
def test_segments_that_overlap_or_last_no_time_are_refused(tmp_path, segments):
    with pytest.raises(ValueError, match="tier 'words'"):
        write_textgrid(tmp_path / "u.TextGrid", {"words": segments}, shift_seconds=0.01, duration=1.0)
    assert list(tmp_path.iterdir()) == []
