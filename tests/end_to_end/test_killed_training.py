"""`asr train` killed at any moment goes on where it was, and ends with the model of an undisturbed run."""

import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Warm

pytestmark = pytest.mark.slow

N_KILLS = 8
"""Training runs that are killed, at moments spread over the whole of one."""

RESULTS = ("model.safetensors", "gmm.safetensors", "grammar.arpa")
Train = Callable[..., int]


@pytest.fixture(scope="module")
def train(warm: Warm, tiny_training: list[object]) -> Train:
    """Train in this work directory, killed after so many seconds if it has not ended by then: the exit status."""
    return lambda work_dir, seconds=None: warm(*tiny_training, work_dir, "--jobs", 2, seconds=seconds)[0]


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


@pytest.mark.parametrize("seed", range(N_KILLS))
def test_training_killed_at_a_random_moment_resumes_to_the_same_model(
    train: Train, undisturbed: tuple[dict[str, bytes], float], tmp_path: Path, seed: int
) -> None:
    results, seconds = undisturbed
    moment = (seed + random.Random(seed).random()) / N_KILLS * seconds
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
