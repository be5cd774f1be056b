"""Names of utterances and speakers: one rule, kept where they are read."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr.corpus.data_directory import read_data_directory
from asr.corpus.identifiers import fault_in_name

BAD = ["../x", "/abs", "a/b", "a\\b", ".", "..", ";;x", "x" * 300, "\x1b[2J", "a\x00b", "é" * 101, "", "a b"]
GOOD = ["a", "file", "allow_pickle", "self", "1272-128104-0000", "ångström_7", "x" * 200, "-", "#1", "a.b.", "~"]


@pytest.mark.parametrize("name", BAD)
def test_a_name_that_breaks_a_format_or_leads_elsewhere_is_none(name: str) -> None:
    assert fault_in_name(name)


@pytest.mark.parametrize("name", GOOD)
def test_any_other_word_is_a_name(name: str) -> None:
    assert fault_in_name(name) is None


def test_utterances_and_speakers_of_bad_names_are_left_out_with_the_reason(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.zeros(800), 8000)
    data = tmp_path / "data"
    data.mkdir()
    names = ["../x", "..", ";;x", "good", "\x1b[2J", "spoken"]
    (data / "wav.scp").write_text("".join(f"{name} a.wav\n" for name in names))
    (data / "utt2spk").write_text("".join(f"{name} {'/etc' if name == 'spoken' else 's'}\n" for name in names))
    corpus = read_data_directory(data)
    assert [utterance.id for utterance in corpus.utterances] == ["good"]
    assert {problem.utterance: problem.code for problem in corpus.problems} == dict.fromkeys(
        set(names) - {"good"}, "bad-name"
    )
    assert corpus.listed == sorted(names)


def test_a_path_too_long_for_a_file_costs_its_utterance_alone(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.zeros(800), 8000)
    data = tmp_path / "data"
    data.mkdir()
    (data / "wav.scp").write_text(f"long {'x' * 300}.wav\nok a.wav\nlonger {'y/' * 5000}z.wav\n")
    (data / "utt2spk").write_text("long s\nok s\nlonger s\n")
    corpus = read_data_directory(data)
    assert [utterance.id for utterance in corpus.utterances] == ["ok"]
    assert {problem.code for problem in corpus.problems} == {"unreadable"}
