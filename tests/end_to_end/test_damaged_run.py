"""A work directory damaged anywhere is refused with the file's name, or the training ends with the undisturbed bytes.

`DAMAGED_PLACES=200` tries more places than the continuous integration does.
"""

import os
import random
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Warm

pytestmark = pytest.mark.slow

N_PLACES = int(os.environ.get("DAMAGED_PLACES", "20"))
RESULTS = ("model.safetensors", "gmm.safetensors", "grammar.arpa")


def flip_a_byte(path: Path, place: random.Random) -> None:
    content = bytearray(path.read_bytes())
    if content:
        content[place.randrange(len(content))] ^= place.randrange(1, 256)
    path.write_bytes(content)


def cut(path: Path, place: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: place.randrange(max(1, path.stat().st_size))])


def remove(path: Path, place: random.Random) -> None:
    path.unlink()


def append(path: Path, place: random.Random) -> None:
    with path.open("ab") as file:
        file.write(place.randbytes(place.randrange(1, 100)))


DAMAGE: tuple[Callable[[Path, random.Random], None], ...] = (flip_a_byte, cut, remove, append)


def files(work_dir: Path) -> list[Path]:
    return sorted(path.relative_to(work_dir) for path in work_dir.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def runs(warm: Warm, tiny_training: list[object], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Work directories: finished, killed at some moments, and killed while a fit keeps a checkpoint."""
    folder = tmp_path_factory.mktemp("runs")
    finished = folder / "finished"
    assert warm(*tiny_training, finished)[0] == 0
    killed = []
    for number, seconds in enumerate((0.3, 0.6, 0.9)):
        work_dir = folder / f"killed-{number}"
        if warm(*tiny_training, work_dir, seconds=seconds)[0] == -signal.SIGKILL and (work_dir / "run.json").exists():
            killed.append(work_dir)
    return [finished, *killed, of_a_killed_fit(finished, folder / "killed-fit", warm, tiny_training)]


def of_a_killed_fit(finished: Path, work_dir: Path, warm: Warm, arguments: list[object]) -> Path:
    """Killed after the fit of the hybrid wrote its first checkpoint and before it ended."""
    low, high = 0.0, 5.0
    for _ in range(40):
        shutil.rmtree(work_dir, ignore_errors=True)
        shutil.copytree(finished, work_dir)
        for name in ("hybrid", "tuning-hybrid"):
            shutil.rmtree(work_dir / "stages" / name, ignore_errors=True)
        seconds = (low + high) / 2
        warm(*arguments, work_dir, seconds=seconds)
        if list((work_dir / "stages").glob(".*.checkpoint/*")):
            return work_dir
        done = (work_dir / "stages" / "hybrid").exists()
        low, high = (low, seconds) if done else (seconds, high)
        if high - low < 0.01:
            low, high = 0.0, 5.0
    pytest.skip("no kill met the fit while it had a checkpoint")


@pytest.mark.parametrize("number", range(N_PLACES))
def test_damage_anywhere_is_refused_by_name_or_changes_nothing(
    warm: Warm, tiny_training: list[object], runs: list[Path], tmp_path: Path, number: int
) -> None:
    place = random.Random(number)
    whole, work_dir = runs[number % len(runs)], tmp_path / "run"
    damage = DAMAGE[number // len(runs) % len(DAMAGE)]
    shutil.copytree(whole, work_dir)
    checkpoints = [path for path in files(work_dir) if ".checkpoint" in str(path)]
    file = place.choice(checkpoints if checkpoints and place.random() < 0.5 else files(work_dir))
    damage(work_dir / file, place)
    status, said = warm(*tiny_training, work_dir)
    texts = f"{damage.__name__} of {file} in {whole.name}: {said}"
    assert "Traceback" not in said, texts
    if status == 0:
        for name in RESULTS:
            assert (work_dir / name).read_bytes() == (runs[0] / name).read_bytes(), f"{name} differs: {texts}"
        return
    assert status == 1, texts
    last = said.splitlines()[-1]
    assert last.startswith("asr: error: "), texts
    assert file.name in last, texts
