"""Faults that nearly all files of a list, or nearly all words, have alike: one finding, with what mends them all."""

import shlex
import subprocess
import sys
from contextlib import nullcontext

import pytest

from asr.corpus.audio_kinds import READABLE
from asr.corpus.data_directory import read_data_directory
from asr.lexicon import read_lexicon
from asr.training.dataset import trainable
from asr.training.input_checks import log_findings
from asr.util.errors import AsrError, CorpusError
from tests.validation.corpora import Corpus


def _deeper(corpus: Corpus) -> None:
    """Let the list name its files from the folder above that of the corpus."""
    lines = [line.replace(" ", f" {corpus.folder.name}/", 1) for line in corpus.lines("train/wav.scp")]
    corpus.write("train/wav.scp", lines)


def test_files_listed_from_another_folder_are_one_finding(clean: Corpus) -> None:
    _deeper(clean)
    (only,) = clean.validate().findings
    assert (only.code, only.line, only.stops, len(only.utterances)) == ("missing-file", 1, True, 9)
    assert only.message.startswith("9 of 9 lines have the same problem: ")
    first, second = (line.split()[1] for line in clean.lines("train/wav.scp")[:2])
    assert f"{clean.folder}/{first} does not exist" in only.message
    assert f"and in line 2 {clean.folder}/{second} does not exist" in only.message
    above = clean.folder.parent
    assert only.remedy == f"all missing files exist under {above}: use --root {above} (root=)"
    assert not clean.validate(root=above).findings


def test_one_file_that_is_nowhere_does_not_hide_where_the_others_are(clean: Corpus) -> None:
    _deeper(clean)
    clean.set_line("train/wav.scp", 4, f"{clean.lines('train/wav.scp')[3].split()[0]} gone/too.wav")
    (only,) = clean.validate().findings
    above = clean.folder.parent
    assert only.message.startswith("9 of 9 lines have the same problem: ")
    assert only.remedy == f"8 of the 9 missing files exist under {above}: use --root {above} (root=)"


def test_a_training_ends_with_that_one_sentence(clean: Corpus, caplog: pytest.LogCaptureFixture) -> None:
    _deeper(clean)
    with pytest.raises(AsrError, match=r"wav\.scp:1: 9 of 9 lines have the same problem: .* use --root") as raised:
        log_findings(clean.validate())
    assert str(raised.value).count("--root") == 1
    assert not [message for message in caplog.messages if "wav.scp" in message]


def test_fault_of_nearly_all_files_is_one_finding(clean: Corpus) -> None:
    for line in range(1, 9):
        clean.audio(line).write_bytes(b"rubbish" * 99)
    assert [finding.code for finding in clean.validate().errors] == ["unreadable"] * 8
    clean.audio(9).write_bytes(b"rubbish" * 99)
    (only,) = clean.validate().errors
    assert only.message.startswith("9 of 9 lines have the same problem: ")
    assert only.remedy == f"convert it to one of {READABLE}"


def test_a_list_of_files_is_mended_by_the_command_that_is_told(clean: Corpus) -> None:
    lines = clean.lines("train/wav.scp")
    clean.write("train/wav.scp", [line.split()[1] for line in reversed(lines)])
    (only,) = clean.validate().findings
    assert f"'{lines[-1]}'" in only.message
    texts = only.message.partition("this command to wav.scp: ")[2]
    subprocess.run(texts, shell=True, check=True)
    (clean.folder / "train/wav.scp.new").rename(clean.folder / "train/wav.scp")
    assert clean.lines("train/wav.scp") == lines
    assert not clean.validate().findings


@pytest.mark.parametrize(
    "spoil", [lambda n: f"{n}/a.wav", lambda n: f"u{n}.wav=audio/{n}.wav[0,9]", lambda n: f"a/{n}"]
)
def test_no_command_is_told_that_would_not_name_all_files_of_a_list(clean: Corpus, spoil) -> None:
    clean.write("train/wav.scp", [spoil(number) for number in range(9)])
    (only,) = clean.validate().findings
    assert "list of files" in only.message and "sed" not in only.message


def test_a_test_directory_without_its_files_does_not_stop_the_training(clean: Corpus) -> None:
    for line in clean.lines("test/wav.scp"):
        (clean.folder / line.split()[1]).unlink()
    lines = len(clean.lines("test/wav.scp"))
    findings = clean.validate(tests=[clean.folder / "test"]).findings
    assert not any(finding.stops for finding in findings)
    assert len([finding for finding in findings if finding.code == "missing-file"]) == (1 if lines >= 3 else lines)


@pytest.mark.parametrize("turn", [str.lower, str.upper, str.title])
def test_other_letter_case_is_fixed_by_the_command_told(clean: Corpus, turn) -> None:
    lexicon = [(word, phones) for word, phones in (line.split(maxsplit=1) for line in clean.lines("lexicon.txt"))]
    clean.write("lexicon.txt", [f"{turn(word)} {phones}" for word, phones in lexicon])
    other = str.upper if turn is str.lower else str.lower
    names_and_words = [line.split(maxsplit=1) for line in clean.lines("train/text")]
    clean.write("train/text", [f"{name} {other(words)}" for name, words in names_and_words])
    unknown = [finding for finding in clean.validate().findings if finding.code == "unknown-word"]
    assert [finding.utterances for finding in unknown] == [tuple(sorted(clean.names))]
    if turn is str.title:
        assert unknown[0].message.endswith("; write them as in the lexicon")
        return
    texts = unknown[0].message.partition("python3 ")[2]
    done = subprocess.run([sys.executable, *shlex.split(texts)], capture_output=True, text=True, check=True)
    (clean.folder / "train/text").write_text(done.stdout)
    assert not clean.validate().errors


@pytest.mark.parametrize("turn", [str, str.lower, str.upper])
def test_punctuation_is_fixed_by_the_command_told(clean: Corpus, turn) -> None:
    names_and_words = [line.split() for line in clean.lines("train/text")]
    lines = [[name, f'"{words[0]},', *words[1:-1], f"{words[-1]}\u2026"] for name, *words in names_and_words]
    clean.write("train/text", [" ".join([name, *map(turn, words)]) for name, *words in lines])
    unknown = [finding for finding in clean.validate().findings if finding.code == "unknown-word"]
    assert len(unknown) == 1 and "without punctuation" in unknown[0].message
    texts = unknown[0].message.partition("python3 ")[2]
    done = subprocess.run([sys.executable, *shlex.split(texts)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [" ".join(parts) for parts in names_and_words]
    (clean.folder / "train/text").write_text(done.stdout)
    assert not clean.validate().findings


@pytest.mark.parametrize(("times", "costs_all"), [(1, False), (5, True)])
def test_few_known_words_cost_all_utterances_with_others(clean: Corpus, times: int, costs_all: bool) -> None:
    names_and_words = [line.split(maxsplit=1) for line in clean.lines("train/text")]
    clean.write("train/text", [f"{name} {words} {f'{words} '.lower() * times}" for name, words in names_and_words])
    report = clean.validate()
    (unknown,) = [finding for finding in report.findings if finding.code == "unknown-word"]
    assert "letter case" in unknown.message
    assert (len(unknown.utterances) == 9) == (len(report.stopping) == 1) == costs_all
    corpus, lexicon = read_data_directory(clean.folder / "train"), read_lexicon(clean.folder / "lexicon.txt")
    with pytest.raises(CorpusError, match="letter case") if costs_all else nullcontext():
        assert trainable(corpus, lexicon)[1] == []


def test_no_command_takes_marks_from_words_of_the_lexicon(clean: Corpus) -> None:
    clean.append("lexicon.txt", "MR. W AH N")
    clean.write("train/text", [f"{line}." for line in clean.lines("train/text")])
    clean.append_word(6, "MR.")
    (unknown,) = [finding for finding in clean.validate().findings if finding.code == "unknown-word"]
    assert unknown.message.endswith("; write them as in the lexicon")
