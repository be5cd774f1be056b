import itertools
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from praatio import textgrid

from asr.alignment.frame_times import FrameTimes
from asr.alignment.label_files import write_label_files
from asr.alignment.recording_labels import AlignedUtterance, recording_names
from asr.alignment.textgrid import write_textgrid
from asr.corpus.data_directory import Utterance
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
    one = AlignedUtterance(Utterance("a", "s", None), words, phones, times)
    write_textgrid(path, {"words": one.intervals(words), "phones": one.intervals(phones)}, times.border(n_frames))
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


@pytest.mark.parametrize("intervals", [[(0.0, 5.0, "a"), (4.0, 8.0, "b")], [(3.0, 3.0, "a")], [(9.0, 8.0, "a")]])
def test_intervals_that_overlap_or_last_no_time_are_refused(tmp_path, intervals):
    with pytest.raises(ValueError, match="tier 'words'"):
        write_textgrid(tmp_path / "u.TextGrid", {"words": intervals}, 10.0)
    assert list(tmp_path.iterdir()) == []


def aligned(name, speaker, audio, start, label) -> AlignedUtterance:
    """An utterance of a second with one word of two phones."""
    words, phones = [Segment(label, 10, 50)], [Segment("x", 10, 30), Segment("y", 30, 50)]
    utterance = Utterance(name, speaker, (label,), audio, start, start + 1.0)
    return AlignedUtterance(utterance, words, phones, FrameTimes(0.01, 0.025, 98, 1.0))


def record(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, np.zeros(40_000), 8000)
    return path


def test_write_textgrids_of_two_speakers_has_times_of_the_recording(tmp_path):
    audio = record(tmp_path / "audio" / "talk.wav")
    ones = [
        aligned("b", "B", audio, 2.0, "two"),
        aligned("a", "A", audio, 0.5, "one"),
        aligned("c", "B", audio, 3.2, "x"),
    ]
    write_label_files(tmp_path / "out", ["textgrid"], ones)
    grid = textgrid.openTextgrid(str(tmp_path / "out" / "textgrid" / "talk.TextGrid"), includeEmptyIntervals=False)
    assert grid.tierNames == ("A - words", "A - phones", "B - words", "B - phones")
    assert grid.maxTimestamp == 5.0
    found = [(pytest.approx(one.start, abs=1e-3), one.label) for one in grid.getTier("B - words").entries]
    assert found == [(2.108, "two"), (3.308, "x")]
    assert len(grid.getTier("B - phones").entries) == 4


def test_write_textgrids_of_one_speaker_shortens_overlapping_segments(tmp_path):
    audio = record(tmp_path / "talk.wav")
    ones = [aligned("a", "A", audio, 0.0, "one"), aligned("b", "A", audio, 0.3, "two")]
    write_label_files(tmp_path / "out", ["textgrid"], ones)
    grid = textgrid.openTextgrid(str(tmp_path / "out" / "textgrid" / "talk.TextGrid"), includeEmptyIntervals=False)
    assert grid.tierNames == ("words", "phones")
    first, second = grid.getTier("words").entries
    assert first.end == second.start


def test_recording_names_keep_folders_and_are_unique():
    paths = [Path("/d/a/1.wav"), Path("/d/b/1.wav"), Path("/d/b/1.flac")]
    assert list(recording_names(paths).values()) == ["a/1", "b/1.wav", "b/1.flac"]
    assert list(recording_names([Path("/d/a/1.wav")]).values()) == ["1"]


def test_prepare_reads_the_written_textgrids(tmp_path, asr):
    first, second = record(tmp_path / "audio" / "A" / "1.wav"), record(tmp_path / "audio" / "B" / "1.wav")
    ones = [
        aligned("a", "A", first, 0.0, "one"),
        aligned("b", "B", second, 1.0, "two"),
        aligned("c", "C", second, 3, "x"),
    ]
    write_label_files(tmp_path / "out", ["textgrid"], ones)
    status, _, err = asr(
        "prepare", "textgrid", tmp_path / "out" / "textgrid", tmp_path / "data", "--audio", tmp_path / "audio"
    )
    assert (status, err) == (0, "")
    lines = (tmp_path / "data" / "text").read_text().splitlines()
    assert [line.split(maxsplit=1)[1] for line in lines] == ["one", "two", "x"]
    speakers = (tmp_path / "data" / "utt2spk").read_text().split()[1::2]
    assert speakers == ["A", "B", "C"]
