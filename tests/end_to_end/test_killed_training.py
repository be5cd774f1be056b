"""`asr train` killed at any moment goes on where it was, and ends with the model of an undisturbed run."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).with_name("warm_command.py")
ROOT = Path(__file__).parents[2]
RESULTS = ("model.safetensors", "gmm.safetensors", "grammar.arpa")
Train = Callable[..., int]


@pytest.fixture(scope="module")
def train(tiny_corpus: Path) -> Iterator[Train]:
    """Train in this work directory, killed after so many seconds if it has not ended by then: the exit status."""
    places = {"--data": "train", "--lexicon": "lexicon.txt", "--config": "settings.toml"}
    arguments = [
        "train",
        "--jobs",
        "2",
        *(part for key, name in places.items() for part in (key, str(tiny_corpus / name))),
    ]
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    server = subprocess.Popen(
        [sys.executable, str(PROGRAM)], env=os.environ | {"PYTHONPATH": paths}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert server.stdin is not None
    assert server.stdout is not None

    def run(work_dir: Path, seconds: float | None = None) -> int:
        server.stdin.write(json.dumps([[*arguments, "--work-dir", str(work_dir)], seconds]) + "\n")
        server.stdin.flush()
        return int(server.stdout.readline())

    yield run
    server.stdin.close()
    assert server.wait(timeout=10) == 0


@pytest.fixture(scope="module")
def undisturbed(train: Train, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], float]:
    """What a run that nothing disturbs makes, and how many seconds it takes when compiled code is loaded."""
    work_dirs = [tmp_path_factory.mktemp("undisturbed") / name for name in ("first", "second")]
    for work_dir in work_dirs:
        started = time.monotonic()
        assert train(work_dir) == 0
        seconds = time.monotonic() - started
    results = {name: (work_dirs[0] / name).read_bytes() for name in RESULTS}
    assert results == {name: (work_dirs[1] / name).read_bytes() for name in RESULTS}
    return results, seconds


@pytest.mark.parametrize("seed", range(20))
def test_training_killed_at_a_random_moment_resumes_to_the_same_model(
    train: Train, undisturbed: tuple[dict[str, bytes], float], tmp_path: Path, seed: int
) -> None:
    results, seconds = undisturbed
    moment = random.Random(seed).uniform(0.0, seconds)
    work_dir, attempt = tmp_path / "0", 0
    while train(work_dir, moment) != -signal.SIGKILL:
        attempt += 1
        work_dir, moment = tmp_path / str(attempt), 0.8 * moment  # it was finished before the kill
    done = {path.name for path in (work_dir / "stages").glob("*") if path.is_dir() and path.name[0] != "."}
    times = {path: path.stat().st_mtime_ns for name in done for path in (work_dir / "stages" / name).iterdir()}
    assert train(work_dir) == 0
    assert {name: (work_dir / name).read_bytes() for name in RESULTS} == results
    assert {path: path.stat().st_mtime_ns for path in times} == times, "a whole stage was made again"
    assert not list(work_dir.rglob(".*.partial-*"))
