"""Distances between aligned and hand-labeled word boundaries."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr.alignment.boundary_comparison import compare, read_hand_labels
from asr.alignment.ctm import CtmRow, write_ctm
from asr.alignment.frame_times import FrameTimes
from asr.alignment.label_files import write_label_files
from asr.alignment.recording_labels import AlignedUtterance
from asr.alignment.textgrid import write_textgrid
from asr.corpus.data_directory import Utterance
from asr.decode.path_segments import Segment
from asr.util.errors import CorpusError

TIMES = FrameTimes(0.01, 0.01, 300, 3.0)


def aligned(name: str, speaker: str, audio: Path | None, start: float = 0.0) -> AlignedUtterance:
    """An utterance of 3 s whose words are from 0.5 to 1 s and from 1.5 to 2 s."""
    words = [Segment("one", 50, 100), Segment("two", 150, 200)]
    return AlignedUtterance(Utterance(name, speaker, ("one", "two"), audio, start, start + 3), words, words, TIMES)


@pytest.fixture
def audio(tmp_path: Path) -> Path:
    soundfile.write(tmp_path / "talk.wav", np.zeros(80_000), 8000)
    return tmp_path / "talk.wav"


def test_compare_with_a_ctm_file_counts_by_limit(tmp_path):
    rows = [CtmRow("a", 0.51, 0.49, "ONE"), CtmRow("a", 1.515, 0.525, "TWO"), CtmRow("b", 0.1, 0.2, "ONE")]
    write_ctm(tmp_path / "hand.ctm", rows)
    found = compare(read_hand_labels(tmp_path / "hand.ctm"), [aligned("a", "A", None)])
    assert found.n_labeled == 2
    assert sorted(np.abs(found.differences).ravel().tolist()) == pytest.approx([0.0, 0.01, 0.015, 0.04])
    assert "2 of 2" in str(found)
    found.write(tmp_path / "compare.tsv")
    rows = [line.split("\t") for line in (tmp_path / "compare.tsv").read_text().splitlines()]
    assert rows[0] == [
        "boundary", "matched", "labeled", "mean_ms", "median_ms", "within_10_ms", "within_20_ms", "within_50_ms"
    ]  # fmt: skip
    assert rows[3] == ["both", "2", "2", "16.2", "12.5", "50.0", "75.0", "100.0"]


def test_compare_with_its_own_textgrids_finds_no_difference(tmp_path, audio):
    ones = [aligned("a", "A", audio), aligned("b", "B", audio, 4.0)]
    write_label_files(tmp_path / "grids", ["textgrid"], ones)
    found = compare(read_hand_labels(tmp_path / "grids"), ones)
    assert found.n_labeled == 4
    assert np.abs(found.differences).max() < 1e-3
    assert np.array_equal(
        found.differences, compare(read_hand_labels(tmp_path / "grids/textgrid/talk.TextGrid"), ones).differences
    )


def test_compare_matches_the_nearest_word_of_the_same_label(tmp_path, audio):
    hand = [(0.0, 0.2, "two"), (0.5, 1.0, "One"), (1.2, 1.4, "six"), (1.6, 2.1, "two"), (9.0, 9.5, "one")]
    write_textgrid(tmp_path / "talk.TextGrid", {"words": hand, "phones": hand}, 10.0)
    found = compare(read_hand_labels(tmp_path / "talk.TextGrid"), [aligned("a", "A", audio)])
    assert found.n_labeled == 5
    assert found.differences == pytest.approx(np.array([[0.0, 0.0], [-0.1, -0.1]]))


def test_compare_without_matches_has_no_figures(tmp_path, audio):
    write_textgrid(tmp_path / "talk.TextGrid", {"words": [(0.5, 1.0, "six")]}, 10.0)
    found = compare(read_hand_labels(tmp_path / "talk.TextGrid"), [aligned("a", "A", audio)])
    assert str(found).startswith("0 of 1")
    found.write(tmp_path / "compare.tsv")
    assert (tmp_path / "compare.tsv").read_text().splitlines()[1] == "start\t0\t1"


def test_read_hand_labels_without_words_raises(tmp_path):
    write_textgrid(tmp_path / "talk.TextGrid", {"phones": [(0.0, 1.0, "a")]}, 10.0)
    (tmp_path / "bad.TextGrid").write_text("no grid")
    for name in ("talk.TextGrid", "bad.TextGrid", "missing"):
        with pytest.raises(CorpusError, match=name):
            read_hand_labels(tmp_path / name)
