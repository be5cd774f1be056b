"""With too little memory a command ends in one sentence and can be resumed; it never gives a shorter result.

`MEMORY_SIZES=10` tries more sizes than the continuous integration does.
"""

import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from tests.end_to_end.conftest import ROOT

pytestmark = pytest.mark.slow

N_SIZES = int(os.environ.get("MEMORY_SIZES", "2"))
ALL = [60, 360, 660, 720, 800, 860, 920, 1000, 1100, 1300]  # MiB of address space, from too little to enough
SIZES = sorted({ALL[(2 * number + 1) * len(ALL) // (2 * N_SIZES)] for number in range(N_SIZES)})
PATIENCE = 120.0  # seconds, on a busy machine
RESULTS = {
    "train": ("model.safetensors", "gmm.safetensors", "grammar.arpa", "failed.tsv"),
    "decode": ("hyp.txt", "hyp.ctm", "failed.tsv"),
}


def run(arguments: list[object], memory: int | None = None) -> "subprocess.CompletedProcess[str]":
    """The command, in so many MiB of address space."""
    return subprocess.run(
        [sys.executable, "-m", "asr.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        preexec_fn=None
        if memory is None
        else lambda: resource.setrlimit(resource.RLIMIT_AS, (memory << 20, memory << 20)),
    )


@pytest.fixture(scope="module")
def commands(tiny_corpus: Path, toy_corpus: Path, toy_model: Path) -> dict[str, list[object]]:
    """Arguments; the directory is still to come."""
    tiny = ["--data", tiny_corpus / "train", "--lexicon", tiny_corpus / "lexicon.txt"]
    return {
        "train": ["train", *tiny, "--config", tiny_corpus / "settings.toml", "--work-dir"],
        "decode": ["decode", "--model", toy_model, "--data", toy_corpus / "test", "--out"],
    }


@pytest.fixture(scope="module")
def undisturbed(commands: dict[str, list[object]], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folders = {name: tmp_path_factory.mktemp("undisturbed") / name for name in commands}
    for name, folder in folders.items():
        done = run([*commands[name], folder, "--jobs", 1])
        assert done.returncode == 0, done.stderr
    return folders


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("name", RESULTS)
def test_a_command_with_little_memory_ends_in_a_sentence_and_resumes(
    commands: dict[str, list[object]], undisturbed: dict[str, Path], tmp_path: Path, name: str, jobs: int
) -> None:
    arguments = [*commands[name], tmp_path / "out", "--jobs", jobs]
    for memory in SIZES:  # each time the command resumes
        done = run(arguments, memory)
        if done.returncode == 0:
            break
        assert done.returncode == 1, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        last = done.stderr.splitlines()[-1]
        assert last.startswith(("asr: error: ", "OpenBLAS error: Memory allocation")), done.stderr
        assert "memory" in last.lower(), done.stderr
    else:
        assert run(arguments).returncode == 0
    for result in RESULTS[name]:
        assert (tmp_path / "out" / result).read_bytes() == (undisturbed[name] / result).read_bytes(), result


@pytest.mark.parametrize("kind", ["speech", "zeros"])
def test_decode_memory_grows_by_at_most_ten_megabytes_a_minute(
    kind: str, toy_corpus: Path, toy_model: Path, tmp_path: Path
) -> None:
    """Beside 100 MB. The peak of the process, a short recording's beside a long one's."""
    samples, rate = soundfile.read(sorted((toy_corpus / "audio" / "test").glob("*.wav"))[0], dtype="int16")
    minutes, peaks = 15, {}
    for name, copies in (("short", 1), ("long", minutes * 60 * rate // len(samples))):
        file = tmp_path / f"{name}.flac"
        soundfile.write(file, np.tile(samples if kind == "speech" else 0 * samples, copies), rate)
        command = [sys.executable, "-m", "asr.cli", "decode", file, "--model", toy_model, "--out", tmp_path / name]
        measured = (
            "import resource, subprocess, sys\n"
            "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        )
        done = subprocess.run(
            [sys.executable, "-c", measured, *command, "-j", "1"], capture_output=True, text=True, check=True, cwd=ROOT
        )
        peaks[name] = int(done.stdout) / 1024
        print(name, peaks[name])
    assert peaks["long"] - peaks["short"] <= 100 + 10 * minutes
