"""What a watched command says and exits with, by how its child ended."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import os, signal, sys
from asr.supervisor import supervise
number = int(sys.argv[1])
if number != signal.SIGKILL:
    signal.signal(number, signal.SIG_DFL)  # it may be ignored here, as in the background of a shell
supervise("asr")
os.kill(os.getpid(), number)
signal.pause()
"""


def ended_by(number: signal.Signals) -> tuple[int, str]:
    """Exit status and message of a command whose child, and nobody else, got a signal."""
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(int(number))],
        env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, timeout=60, check=False,
        start_new_session=True,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_child_that_is_asked_to_end_was_interrupted_whoever_asked_it(number: signal.Signals) -> None:
    status, told = ended_by(number)
    assert status == 128 + number
    assert told == "asr: interrupted; what is finished is kept, and the same command goes on from there\n"


def test_a_child_that_is_killed_most_often_wanted_memory() -> None:
    status, told = ended_by(signal.SIGKILL)
    assert status == 1
    assert "was ended by SIGKILL, most often for want of memory" in told
