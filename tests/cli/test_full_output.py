"""An output that takes no more ends a command in one sentence, or in silence where nobody listens."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run(
    arguments: list[object], output: int | None, error: int = subprocess.PIPE, *, unbuffered: bool = False
) -> tuple[int, str]:
    """Exit status and standard error of a command with this standard output."""
    environment = os.environ | {"PYTHONUNBUFFERED": "1" if unbuffered else ""}  # empty is the same as not set
    command = [sys.executable, "-m", "asr.cli", *map(str, arguments)]
    done = subprocess.run(command, stdout=output, stderr=error, env=environment, text=True, check=False)
    return done.returncode, done.stderr or ""


@pytest.fixture
def full() -> int:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    return os.open("/dev/full", os.O_WRONLY)


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "text"
    path.write_text("".join(f"a-{number} one two\n" for number in range(20)))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize("arguments", ["--version", "--help", "train --help", "score TEXT TEXT"])
def test_a_full_standard_output_is_one_sentence(full: int, transcript: Path, arguments: str, unbuffered: bool) -> None:
    words = [transcript if word == "TEXT" else word for word in arguments.split()]
    status, err = run(words, full, unbuffered=unbuffered)
    assert (status, err) == (1, "asr: error: standard output: No space left on device. Free some space\n")


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", [False, True])
def test_a_full_standard_error_changes_no_exit_status(full: int, transcript: Path, unbuffered: bool) -> None:
    missing = transcript.with_name("none")
    assert run(["score", transcript, missing], subprocess.DEVNULL, full, unbuffered=unbuffered)[0] == 1
    assert run(["score", transcript, transcript], subprocess.DEVNULL, full, unbuffered=unbuffered)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize("arguments", ["--help", "score TEXT TEXT"])
def test_closed_pipe_is_silence_and_status_1(transcript: Path, arguments: str, unbuffered: bool) -> None:
    words = [transcript if word == "TEXT" else word for word in arguments.split()]
    reading, writing = os.pipe()
    os.close(reading)
    status, err = run(words, writing, unbuffered=unbuffered)
    os.close(writing)
    assert (status, err) == (1, "")
