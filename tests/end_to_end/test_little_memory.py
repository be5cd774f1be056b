"""With too little memory a command ends in one sentence and can be resumed; it never gives a shorter result.

`MEMORY_SIZES=10` tries more sizes than the continuous integration does.
"""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.conftest import ROOT, Warm

pytestmark = pytest.mark.slow

N_SIZES = int(os.environ.get("MEMORY_SIZES", "3"))
# MiB of address space beyond what an idle process has mapped.
FEW = [round(4 * 140 ** (number / max(1, N_SIZES - 1))) for number in range(N_SIZES)]
PATIENCE = 60.0  # seconds, of which none is needed beyond the first few
OF_LIBRARIES = ("OpenBLAS error: Memory allocation", "cannot allocate memory for thread-local data")
TRAINED = ("model.safetensors", "gmm.safetensors", "grammar.arpa")
DECODED = ("hyp.txt", "hyp.ctm")


def check_told(status: int, said: str) -> None:
    """One sentence of ours, or of a library that ended the process itself."""
    assert "Traceback" not in said, said
    last = said.splitlines()[-1]
    if status < 0 or any(line.startswith(OF_LIBRARIES) for line in said.splitlines()):
        return
    assert status == 1, said
    assert last.startswith("asr: error: out of memory: "), said
    assert last.endswith("the same command goes on from here"), said


def check_result(warm: Warm, arguments: list[object], folder: Path, memory: int, names: tuple[str, ...]) -> None:
    undisturbed, disturbed = folder / "undisturbed", folder / "disturbed"
    assert warm(*arguments, undisturbed)[0] == 0
    status, said = warm(*arguments, disturbed, seconds=PATIENCE, memory=memory)
    assert status != -signal.SIGKILL, f"hangs: {said}"
    if status != 0:
        check_told(status, said)
        assert warm(*arguments, disturbed)[0] == 0
    for name in names:
        assert (disturbed / name).read_bytes() == (undisturbed / name).read_bytes(), name


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("memory", FEW)
def test_training_with_little_memory_ends_in_a_sentence_and_resumes(
    warm: Warm, tiny_training: list[object], tmp_path: Path, memory: int, jobs: int
) -> None:
    arguments = ["--jobs" if part == "--jobs" else part for part in tiny_training]
    arguments[arguments.index("--jobs") + 1] = jobs
    check_result(warm, arguments, tmp_path, memory, TRAINED)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("memory", FEW)
def test_decoding_with_little_memory_ends_in_a_sentence_or_gives_all_words(
    warm: Warm, toy_corpus: Path, toy_model: Path, tmp_path: Path, memory: int, jobs: int
) -> None:
    arguments = ["decode", "--model", toy_model, "--data", toy_corpus / "test", "--jobs", jobs, "--out"]
    check_result(warm, arguments, tmp_path, memory, DECODED)


@pytest.mark.parametrize("memory", [60, 120, 200, 360, 500, 700, 900][:: max(1, 9 // N_SIZES)])
def test_a_command_that_cannot_even_load_its_libraries_says_so(
    toy_corpus: Path, toy_model: Path, tmp_path: Path, memory: int
) -> None:
    arguments = ["decode", "--model", toy_model, "--data", toy_corpus / "test", "--jobs", 1, "--out", tmp_path / "out"]
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "asr.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (memory << 20, memory << 20)),
    )
    if done.returncode == 1 and "was ended by SIG" in done.stderr:  # by a library; its supervisor tells
        assert "most often for want of memory" in done.stderr
    elif done.returncode:
        check_told(done.returncode, done.stderr)
    assert (tmp_path / "out").exists() == (done.returncode == 0)
