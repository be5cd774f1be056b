"""What the shell sees: exit status and standard error of the `asr` command."""

import errno
import os
from pathlib import Path

import pytest

from asr import __version__
from asr.cli import main, score
from asr.util.errors import MODEL_NEEDED, LexiconError
from tests.cli.place import Asr

NO_FILE, NOT_A_FILE = "does not exist. Expected a file", "is a directory. Expected a file"
NO_DIRECTORY, NOT_A_DIRECTORY = "does not exist. Expected a directory", "is a file. Expected a directory"
NO_GRAMMAR = "'trigram' does not exist. Expected loop, one, a number of words, or a grammar file"
NO_SPACE = "out/x: No space left on device. Free some space"
BAD_LEXICON = "lexicon.txt:3: word 'two' has no phones"


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "text"
    path.write_text("a-1 one two\n")
    return path


def test_the_version_is_printed(asr: Asr) -> None:
    assert asr("--version") == (0, f"asr {__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["bogus"], "bogus"),
        (["train"], "--data"),
        (["train", "--data", "d", "--lexicon", "l", "--work-dir", "w", "--jobs", "0"], "--jobs"),
        (["decode", "--model", "m", "--out", "o"], "either audio files or --data"),
        (["decode", "--model", "m", "--out", "o", "--data", "d", "a.wav"], "either audio files or --data"),
        (["decode", "--model", "m", "--out", "o", "--beam", "wide", "a.wav"], "--beam"),
        (["decode", "--model", "m", "--out", "o", "--lm-scale", "-2", "a.wav"], "'-2'"),
        (["decode", "--model", "m", "--out", "o", "--n-best", "many", "a.wav"], "'many'"),
        (["decode", "--model", "m", "--out", "", "a.wav"], "--out: the value is empty"),
        (["decode", "--model", "m", "--out=", "a.wav"], "--out: the value is empty"),
        (["score", "", "hyp.txt"], "the value is empty"),
    ],
)
def test_wrong_command_line_has_status_2(asr: Asr, arguments: list[str], complaint: str) -> None:
    status, out, err = asr(*arguments)
    assert (status, out) == (2, "")
    assert complaint in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("features --data none --out out", f"--data: 'none' {NO_DIRECTORY}"),
        ("features --data {file} --out out", f"--data: '{{file}}' {NOT_A_DIRECTORY}"),
        ("features --data {dir} --out out --config no.toml", f"--config: 'no.toml' {NO_FILE}"),
        ("train --data none --lexicon {file} --work-dir w", f"--data: 'none' {NO_DIRECTORY}"),
        ("train --data {dir} --lexicon {dir} --work-dir w", f"--lexicon: '{{dir}}' {NOT_A_FILE}"),
        ("align --model none --data {dir} --out out", f"--model: 'none' does not exist. {MODEL_NEEDED}"),
        ("align --model {file} --data none --out out", f"--data: 'none' {NO_DIRECTORY}"),
        ("decode --model {file} --out out no.wav", f"AUDIO: 'no.wav' {NO_FILE}"),
        ("decode --model {file} --out out --data none", f"--data: 'none' {NO_DIRECTORY}"),
        ("decode --model {file} --out out --data {dir} --grammar trigram", f"--grammar: {NO_GRAMMAR}"),
        ("decode --model {file} --out {file} {file}", f"--out: '{{file}}' {NOT_A_DIRECTORY}"),
        ("score {file} none", f"HYP: 'none' {NO_FILE}"),
        ("validate --data none --lexicon {file}", f"--data: 'none' {NO_DIRECTORY}"),
        ("validate --data {dir} --lexicon none", f"--lexicon: 'none' {NO_FILE}"),
        ("validate --data {dir} --lexicon {file} --test none", f"--test: 'none' {NO_DIRECTORY}"),
        ("info none", f"MODEL: 'none' does not exist. {MODEL_NEEDED}"),
    ],
)  # fmt: skip
def test_missing_input_has_status_1(asr: Asr, transcript: Path, arguments: str, sentence: str) -> None:
    names = {"file": transcript, "dir": transcript.parent}
    status, out, err = asr(*arguments.format(**names).split())
    assert (status, out) == (1, "")
    assert err == f"asr: error: {sentence.format(**names)}\n"


@pytest.mark.parametrize("given", ["-4", "--beam", "+4", "2.5", "99999"])
@pytest.mark.parametrize("option", ["--grammar", "--rescore"])
def test_bad_grammar_number_names_what_fits(asr: Asr, transcript: Path, option: str, given: str) -> None:
    files = ["--model", transcript, "--out", "out", "--data", transcript.parent]
    status, out, err = asr("decode", *files, f"{option}={given}")
    assert (status, out) == (1, "")
    assert err.startswith(f"asr: error: {option}: '{given}' is not a number of words")
    assert "there is no file" not in err


@pytest.mark.parametrize(
    ("raised", "status", "message"),
    [
        (LexiconError(BAD_LEXICON), 1, BAD_LEXICON),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "out/x"), 1, NO_SPACE),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)  # fmt: skip
def test_raised_error_decides_the_exit_status(
    asr: Asr, transcript: Path, monkeypatch: pytest.MonkeyPatch, raised: BaseException, status: int, message: str
) -> None:
    def fail(*_: object) -> None:
        raise raised

    monkeypatch.setattr(score, "require_file", fail)
    code, out, err = asr("score", transcript, transcript)
    assert (code, out) == (status, "")
    assert err in (f"asr: error: {message}\n", "")  # Typer itself ends an interrupted command, without a message


def test_a_fault_of_the_program_keeps_its_traceback(transcript: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(score, "require_file", fail)
    with pytest.raises(ZeroDivisionError):
        main(["score", str(transcript), str(transcript)])
