"""What the shell gives as `<(command)`, a pipe that can be read once, serves as a file."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from asr.cli import input_checks
from tests.cli.place import Asr, check_one_sentence

Piped = Callable[[bytes], str]


@pytest.fixture
def piped() -> Iterator[Piped]:
    """The name of a pipe through which these bytes come."""
    ends: list[int] = []

    def write(end: int, content: bytes) -> None:
        with suppress(BrokenPipeError), os.fdopen(end, "wb") as pipe:
            pipe.write(content)

    def through(content: bytes) -> str:
        reading, writing = os.pipe()
        ends.append(reading)
        Thread(target=write, args=(writing, content), daemon=True).start()
        return f"/dev/fd/{reading}"

    yield through
    for end in ends:
        os.close(end)


@pytest.mark.slow
def test_settings_and_lexicon_come_through_pipes(asr: Asr, piped: Piped, tiny_corpus: Path, tmp_path: Path) -> None:
    files = {"--lexicon": tiny_corpus / "lexicon.txt", "--config": tiny_corpus / "settings.toml"}
    train = ["train", "--data", tiny_corpus / "train", "-j", 1, "--work-dir", tmp_path / "run"]
    through = [part for option, path in files.items() for part in (option, piped(path.read_bytes()))]
    status, _, err = asr(*train, *through)
    assert status == 0, err
    status, _, err = asr(*train, *(part for option, path in files.items() for part in (option, path)))
    assert status == 0, err  # the same run, with the same settings and lexicon


def test_a_fault_of_what_is_piped_is_told_with_its_line(asr: Asr, piped: Piped, tiny_corpus: Path, tmp_path) -> None:
    name = piped(b"features = {sample_rate = 8000}\nseed = -1\n")
    train = ["train", "--data", tiny_corpus / "train", "--lexicon", tiny_corpus / "lexicon.txt", "--config", name]
    check_one_sentence(asr(*train, "--work-dir", tmp_path / "run", "-j", 1), f"{name}:2: seed: must be at least 0")


def test_a_grammar_comes_through_a_pipe(asr: Asr, piped: Piped, toy_model: Path, toy_corpus: Path, tmp_path) -> None:
    decode = ["decode", "--model", toy_model, "--out", tmp_path, "--data", toy_corpus / "test", "-j", 1, "--grammar"]
    status, out, err = asr(*decode, piped(b"NO\nONE TWO\n"))
    assert status == 0, err
    assert {line.partition(" ")[2] for line in out.splitlines()} <= {"NO", "ONE TWO"}


def test_empty_pipe_is_refused(asr: Asr, piped: Piped, toy_model: Path, tiny_corpus: Path, tmp_path: Path) -> None:
    data, lexicon = tiny_corpus / "train", tiny_corpus / "lexicon.txt"
    commands: dict[str, list] = {
        "--config": ["validate", "--data", data, "--lexicon", lexicon],
        "--lexicon": ["validate", "--data", data],
        "--grammar": ["decode", "--model", toy_model, "--data", data, "--out", tmp_path / "out"],
    }
    for option, command in commands.items():
        name = piped(b"")
        texts = f"{option}: the pipe '{name}' is empty"
        check_one_sentence(asr(*command, option, name), texts)


def test_too_much_and_named_pipes_are_refused(
    asr: Asr, piped: Piped, tiny_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    validate = ["validate", "--data", tiny_corpus / "train", "--lexicon"]
    os.mkfifo(tmp_path / "named")
    check_one_sentence(asr(*validate, tmp_path / "named"), "--lexicon: ", "is a pipe")
    monkeypatch.setattr(input_checks, "_MAX_PIPED", 1 << 20)
    check_one_sentence(asr(*validate, piped(b"A B\n" * (1 << 19))), "more than 1 MiB")
