"""Alignment and recognition of recordings joined from many utterances."""

from itertools import pairwise

import numpy as np
import pytest
import soundfile

import asr
from asr.alignment.ctm import read_ctm
from asr.commands import long_utterances
from asr.corpus.data_directory import Utterance, read_data_directory
from asr.corpus.writing import write_data_directory


@pytest.fixture(scope="module")
def recording(toy_corpus, tmp_path_factory):
    """Return samples, their rate, and the words of all test utterances, with the start of each in seconds."""
    parts, starts, words, rate = [], [], [], 8000
    for one in read_data_directory(toy_corpus / "test").utterances:
        samples, rate = soundfile.read(one.audio, dtype="float32")
        starts.append((one.id, sum(map(len, parts)) / rate))
        parts.append(samples)
        words += one.words
    return np.concatenate(parts), rate, tuple(words), starts


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gmm.safetensors", "model.safetensors"])
def test_align_long_recording_agrees_with_its_utterances(toy_corpus, toy_run, recording, tmp_path, monkeypatch, name):
    samples, rate, words, starts = recording
    soundfile.write(tmp_path / "all.wav", samples, rate)
    write_data_directory(tmp_path / "data", [Utterance("all", "all", words, tmp_path / "all.wav")])
    monkeypatch.setattr(long_utterances, "MAX_ALIGNED_SECONDS", 5.0)
    model = toy_run / name
    for jobs, out in (1, "long"), (2, "two"):
        asr.align(model, tmp_path / "data", tmp_path / out, jobs=jobs)
    for file in "words.ctm", "phones.ctm", "passages.tsv", "scores.tsv", "states.npz":
        assert (tmp_path / "two" / file).read_bytes() == (tmp_path / "long" / file).read_bytes()
    asr.align(model, toy_corpus / "test", tmp_path / "short", jobs=1)
    begin = dict(starts)
    short = {round(row.start + begin[row.utterance], 1) for row in read_ctm(tmp_path / "short" / "words.ctm")}
    rows = read_ctm(tmp_path / "long" / "words.ctm")
    table = (tmp_path / "long" / "passages.tsv").read_text().splitlines()[1:]
    assert sum(int(line.split("\t")[4]) for line in table) == len(words)
    assert all(one.start + one.duration <= other.start + 1e-6 for one, other in pairwise(rows))
    near = [min(abs(row.start - start) for start in short) < 0.16 for row in rows]
    assert len(rows) >= 0.8 * len(words) and np.mean(near) > 0.8


@pytest.mark.slow
def test_recognize_long_recording_has_times_of_the_recording(toy_model, recording):
    samples, rate, words, _ = recording
    times = int(70 * rate / len(samples)) + 1
    recognizer = asr.Recognizer.load(toy_model, confidence=True)
    result = recognizer.recognize(np.tile(samples, times), rate)
    assert result.words[-1].end > 60.0
    assert all(one.end <= other.start + 1e-6 for one, other in pairwise(result.words))
    found = asr.score({"a": words * times}, {"a": result.text.split()})
    assert found.wer < 40.0
    assert all(word.confidence is not None for word in result.words)
