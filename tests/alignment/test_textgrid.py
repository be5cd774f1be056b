import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from praatio import textgrid

from asr.alignment.frame_times import FrameTimes
from asr.alignment.textgrid import write_textgrid
from asr.decode.path_segments import Segment

labels = st.sampled_from(["ONE", "O'CLOCK", 'SAY "HI"', "é", "<NOISE>", "1"])


@st.composite
def tiers(draw: st.DrawFn) -> list[Segment]:
    borders = sorted(draw(st.lists(st.integers(0, 300), max_size=12, unique=True)))
    return [Segment(draw(labels), start, end) for start, end in zip(borders[::2], borders[1::2], strict=False)]


@settings(max_examples=30)
@given(tiers(), tiers(), st.sampled_from([0.01, 0.0125]), st.integers(301, 500), st.floats(0.0, 0.01))
def test_praat_reads_back_segments_and_empty_intervals(tmp_path_factory, words, phones, shift, n_frames, rest):
    path = tmp_path_factory.getbasetemp() / "round.TextGrid"
    duration = (n_frames - 1) * shift + 0.025 + rest
    times = FrameTimes(shift, 0.025, n_frames, duration)
    write_textgrid(path, {"words": words, "phones": phones}, times)
    grid = textgrid.openTextgrid(str(path), includeEmptyIntervals=True, reportingMode="error")
    assert grid.tierNames == ("words", "phones")
    assert grid.maxTimestamp == pytest.approx(duration, abs=6e-5)
    for name, segments in (("words", words), ("phones", phones)):
        entries = grid.getTier(name).entries
        spoken = [entry for entry in entries if entry.label]
        assert [entry.label for entry in spoken] == [segment.label for segment in segments]
        for entry, segment in zip(spoken, segments, strict=True):
            assert entry.start == pytest.approx(times.border(segment.start), abs=1e-9)
            assert entry.end == pytest.approx(times.border(segment.end), abs=1e-9)
        if entries:
            assert entries[0].start == 0.0
            assert entries[-1].end == grid.maxTimestamp
        assert all(one.end == other.start for one, other in itertools.pairwise(entries))


@pytest.mark.parametrize(
    "segments", [[Segment("a", 0, 5), Segment("b", 4, 8)], [Segment("a", 3, 3)], [Segment("a", 9, 8)]]
)
def test_segments_that_overlap_or_last_no_time_are_refused(tmp_path, segments):
    with pytest.raises(ValueError, match="tier 'words'"):
        write_textgrid(tmp_path / "u.TextGrid", {"words": segments}, FrameTimes(0.01, 0.025, 98, 1.0))
    assert list(tmp_path.iterdir()) == []
