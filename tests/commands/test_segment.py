"""Long recordings cut at pauses, with and without an alignment."""

from itertools import pairwise

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from asr.alignment.ctm import CtmRow, write_ctm
from asr.commands.segment import cuts_between, frame_loudness, quiet_cuts, segment
from asr.corpus.data_directory import Utterance, read_data_directory
from asr.corpus.writing import write_data_directory
from asr.util.errors import ConfigError, CorpusError

RATE = 8000


@pytest.fixture
def data(tmp_path):
    """Two recordings of 12 s: a second of noise and half a second of silence, in turn. A third file is damaged."""
    noise = np.random.default_rng(0).normal(0.0, 0.1, 12 * RATE)
    noise[np.arange(len(noise)) % (3 * RATE // 2) >= RATE] = 0.0
    utterances = []
    for name in ("a", "b", "damaged"):
        soundfile.write(tmp_path / f"{name}.wav", noise, RATE)
        utterances.append(Utterance(name, "speaker", ("ONE",) * 8, tmp_path / f"{name}.wav"))
    (tmp_path / "damaged.wav").write_bytes(b"RIFF")
    write_data_directory(tmp_path / "data", utterances)
    return tmp_path / "data"


def test_cuts_lie_in_pauses_and_parts_cover_the_recording(data, tmp_path):
    outcome = segment(data, tmp_path / "out", min_seconds=1.0, max_seconds=4.0)
    assert outcome.n_done == 2
    assert (tmp_path / "out" / "failed.tsv").read_text().splitlines()[1].startswith("damaged\t")
    parts = [one for one in read_data_directory(tmp_path / "out").utterances if one.id.startswith("a-")]
    assert [parts[0].start, parts[-1].end] == [0.0, 12.0]
    assert {one.words for one in parts} == {None}
    for one, after in pairwise(parts):
        assert one.end == after.start
        assert one.end % 1.5 > 1.0
        assert 1.0 <= one.end - one.start <= 4.0 + 1e-6


def test_parts_of_an_alignment_have_their_words(data, tmp_path, asr):
    (tmp_path / "aligned").mkdir()
    rows = [CtmRow("a", 1.5 * number, 1.0, f"W{number}") for number in range(8)]
    write_ctm(tmp_path / "aligned" / "words.ctm", rows)
    arguments = ["--alignment", tmp_path / "aligned", "--min-seconds", 1, "--max-seconds", 4]
    status, out, err = asr("segment", "--data", data, "--out", tmp_path / "out", *arguments)
    assert (status, out.strip()) == (0, str(tmp_path / "out" / "segments"))
    assert "2 of 3" in err or "2 utterances" in err
    parts = read_data_directory(tmp_path / "out").utterances
    assert [word for one in parts for word in one.words or ()] == [f"W{number}" for number in range(8)]
    assert all(one.end % 1.5 == pytest.approx(1.25) for one in parts[:-1])


@given(
    st.lists(st.tuples(st.floats(0.0, 2.0), st.floats(0.1, 1.0)), min_size=1, max_size=40),
    st.floats(0.5, 3.0),
    st.floats(3.5, 10.0),
)
def test_no_word_is_cut(gaps, shortest, longest):
    words, time = [], 0.0
    for pause, duration in gaps:
        words.append(CtmRow("a", time + pause, duration, "W"))
        time += pause + duration
    cuts = list(cuts_between(words, 0.0, time + 1.0, shortest, longest))
    assert all(not one.start + 1e-6 < cut < one.start + one.duration - 1e-6 for cut in cuts for one in words)
    assert not cuts or all(after - one >= shortest - 1e-9 for one, after in pairwise([0.0, *cuts, time + 1.0]))


def test_quiet_cuts_of_short_samples_are_none():
    assert quiet_cuts(frame_loudness(np.zeros(3, np.float32), RATE), 0.01, 1.0, 2.0) == []


def test_bad_values_are_refused(data, tmp_path):
    with pytest.raises(ConfigError, match="min_seconds"):
        segment(data, tmp_path / "out", min_seconds=5.0, max_seconds=4.0)
    with pytest.raises(CorpusError, match=r"words\.ctm"):
        segment(data, tmp_path / "out", alignment=tmp_path)
    with pytest.raises(CorpusError, match="another folder"):
        segment(data, data)


def test_parts_leave_out_wrong_and_untranscribed_passages(data, tmp_path):
    (tmp_path / "aligned").mkdir()
    rows = [CtmRow("a", 1.5 * number, 1.0, f"W{number}") for number in range(8) if number not in (2, 3)]
    write_ctm(tmp_path / "aligned" / "words.ctm", rows)
    passages = ["utterance\tstart\tend\tstatus\twords\ttranscript", "a\t0.0\t2.75\taligned\t2\tW0 W1"]
    passages += ["a\t2.75\t5.75\twrong\t2\tX Y", "a\t5.75\t12.0\taligned\t4\t"]
    (tmp_path / "aligned" / "passages.tsv").write_text("\n".join(passages) + "\n")
    segment(data, tmp_path / "out", alignment=tmp_path / "aligned", min_seconds=1.0, max_seconds=4.0)
    parts = read_data_directory(tmp_path / "out").utterances
    assert [word for one in parts for word in one.words or ()] == ["W0", "W1", "W4", "W5", "W6", "W7"]
    assert all(one.end <= 2.75 or one.start >= 5.75 for one in parts)
    (tmp_path / "aligned" / "passages.tsv").write_text("\n".join([passages[0], "a\tx\t1\twrong"]) + "\n")
    with pytest.raises(CorpusError, match=r"passages\.tsv:2"):
        segment(data, tmp_path / "out", alignment=tmp_path / "aligned")


def test_recordings_longer_than_an_utterance_are_cut(data, tmp_path, monkeypatch):
    segment(data, tmp_path / "whole", min_seconds=1.0, max_seconds=4.0)
    monkeypatch.setattr("asr.corpus.audio.MAX_SAMPLES", 2 * RATE)
    monkeypatch.setattr("asr.commands.segment._BLOCK", 130)
    segment(data, tmp_path / "out", min_seconds=1.0, max_seconds=4.0)
    assert (tmp_path / "out" / "segments").read_text() == (tmp_path / "whole" / "segments").read_text()


def test_digital_silence_is_left_out(tmp_path):
    sound = np.random.default_rng(0).normal(0.0, 0.1, 12 * RATE)
    sound[4 * RATE :] = 0.0
    soundfile.write(tmp_path / "a.wav", sound, RATE)
    soundfile.write(tmp_path / "b.wav", 0.0 * sound, RATE)
    write_data_directory(tmp_path / "data", [Utterance(name, name, None, tmp_path / f"{name}.wav") for name in "ab"])
    outcome = segment(tmp_path / "data", tmp_path / "out", min_seconds=1.0, max_seconds=3.0)
    assert [(one.utterance, one.code) for one in outcome.failures] == [("b", "silent")]
    assert read_data_directory(tmp_path / "out").utterances[-1].end <= 7.1
