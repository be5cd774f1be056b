"""What a watched command says and exits with, by how its child ended."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, signal, sys
from asr.util.supervisor import supervise
number = int(sys.argv[1])
if number != signal.SIGKILL:
    signal.signal(number, signal.SIG_DFL)  # it may be ignored here, as in the background of a shell
supervise("asr")
os.kill(os.getpid(), number)
signal.pause()
"""


def ended_by(number: signal.Signals) -> tuple[int, str]:
    """Exit status and message of a command whose child, and nobody else, got a signal."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(int(number))],
        capture_output=True, text=True, timeout=60, check=False, start_new_session=True,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_child_that_is_asked_to_end_was_interrupted_whoever_asked_it(number: signal.Signals) -> None:
    status, texts = ended_by(number)
    assert status == 128 + number
    assert texts == "asr: interrupted\n"


def test_a_child_that_is_killed_most_often_wanted_memory() -> None:
    status, texts = ended_by(signal.SIGKILL)
    assert status == 1
    assert "SIGKILL" in texts and "memory" in texts and "resume" not in texts


def run(program: str, *arguments: str, shell: str = "") -> "subprocess.CompletedProcess[str]":
    """Run Python code from the project's root; `shell` is put before the command or behind it."""
    return subprocess.run(
        ["sh", "-c", shell or '"$@"', "sh", sys.executable, "-c", program, *arguments],
        capture_output=True, text=True, timeout=60, check=False, start_new_session=True,
    )  # fmt: skip


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_supervise_closed_standard_streams_do_not_matter(closed: str, tmp_path: Path) -> None:
    program = (
        "import sys; from asr.util.supervisor import supervise; supervise('asr'); "
        "opened = open(sys.argv[1], 'w'); print('out'); print('err', file=sys.stderr); opened.write('kept')"
    )
    done = run(program, str(tmp_path / "file"), shell=f'"$@" {closed}')
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "file").read_text() == "kept"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("status", [0, 1, 2])
def test_supervise_ignored_sigchld_keeps_the_exit_status(status: int) -> None:
    program = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "os.execv(sys.executable, [sys.executable, '-c', 'import sys; from asr.util.supervisor import supervise; "
        f'supervise("asr"); sys.exit({status})\'])\n'
    )
    assert run(program).returncode == status


def test_supervise_limit_of_processor_time_is_named() -> None:
    program = "from asr.util.supervisor import supervise\nsupervise('asr', resumable=True)\nwhile True: pass"
    done = run(program, shell='ulimit -t 1; "$@"')
    assert done.returncode == 1
    assert "ulimit -t" in done.stderr and "memory" not in done.stderr and "resume" in done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_command_closed_standard_streams_do_not_matter(closed: str) -> None:
    done = run("from asr.cli import main; main()", "--version", shell=f'"$@" {closed}')
    assert done.returncode == 0 and "Traceback" not in done.stderr
