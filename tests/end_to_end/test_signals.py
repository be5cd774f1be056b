"""SIGINT and SIGTERM at any moment: never a shorter result called done, no process left, and the same end in the end.

`ASR_SIGNALS=100` sends 100 signals instead of one for each command, number of jobs and signal.
"""

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")]

RESULTS = {
    "train": ("model.safetensors", "gmm.safetensors", "grammar.arpa", "failed.tsv"),
    "align": ("words.ctm", "phones.ctm", "states.npz", "failed.tsv"),
    "decode": ("hyp.txt", "hyp.ctm", "failed.tsv"),
}
KINDS = list(itertools.product(RESULTS, (1, 2), (signal.SIGINT, signal.SIGTERM)))
"""Command, number of jobs and signal."""

N_SIGNALS = int(os.environ.get("ASR_SIGNALS", len(KINDS)))


@dataclass(frozen=True)
class Command:
    """A command that writes to a directory, what it writes undisturbed, and how long that takes."""

    arguments: Callable[[Path], list[str]]
    results: dict[str, bytes]
    seconds: float


def start(arguments: list[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "asr.cli", *arguments], text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def processes_of_session(session: int) -> list[str]:
    """Names of the processes, zombies left out, whose session leader was that process."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().rpartition(")")
        except OSError:
            continue
        state, _, _, its_session, *_ = rest.split()
        if int(its_session) == session and state != "Z":
            found.append(name.partition("(")[2])
    return found


def read_results(command: str, directory: Path) -> dict[str, bytes]:
    return {name: (directory / name).read_bytes() for name in RESULTS[command]}


@pytest.fixture(scope="module")
def commands(toy_corpus: Path, toy_model: Path, tiny_corpus: Path, tmp_path_factory) -> dict[tuple[str, int], Command]:
    tiny = ["--data", str(tiny_corpus / "train"), "--lexicon", str(tiny_corpus / "lexicon.txt")]
    toy = ["--model", str(toy_model), "--data", str(toy_corpus / "train")]
    begun: dict[str, Callable[[Path, int], list[str]]] = {
        "train": lambda out, jobs: [
            "train", *tiny, "--config", str(tiny_corpus / "settings.toml"), "--work-dir", str(out), "--jobs", str(jobs),
        ],
        "align": lambda out, jobs: ["align", *toy, "--out", str(out), "--jobs", str(jobs)],
        "decode": lambda out, jobs: ["decode", *toy, "--out", str(out), "--jobs", str(jobs)],
    }  # fmt: skip
    found = {}
    for name, arguments in begun.items():
        for jobs in (1, 2):
            out = tmp_path_factory.mktemp("undisturbed") / name
            started = time.monotonic()
            process = start(arguments(out, jobs))
            _, err = process.communicate()
            assert process.returncode == 0, err
            seconds = time.monotonic() - started
            found[name, jobs] = Command(lambda o, a=arguments, j=jobs: a(o, j), read_results(name, out), seconds)
        assert found[name, 1].results == found[name, 2].results
    return found


@pytest.mark.parametrize("seed", range(N_SIGNALS))
def test_a_signal_ends_all_of_a_command_and_loses_nothing(
    commands: dict[tuple[str, int], Command], tmp_path: Path, seed: int
) -> None:
    name, jobs, number = KINDS[seed % len(KINDS)]
    command, out = commands[name, jobs], tmp_path / "out"
    process = start(command.arguments(out))
    time.sleep(random.Random(seed).uniform(0.0, 1.1) * command.seconds)
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    left = processes_of_session(process.pid)
    assert not left, f"still there after {name} -j {jobs} and {number.name}: {left}"
    if process.returncode == 0:
        assert read_results(name, out) == command.results
        return
    assert process.returncode in (128 + number, -number), (
        err
    )  # by the signal itself, if it came before Python had started
    if process.returncode == 128 + number:
        last = err.splitlines()[-1]
        assert "interrupted" in last and ("resume" in last) == (name == "train")
    again = start(command.arguments(out))
    _, err = again.communicate()
    assert again.returncode == 0, err
    assert read_results(name, out) == command.results
    assert not list(out.rglob(".*.partial-*"))
