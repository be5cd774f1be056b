"""Run directories: their record, times and stages; frame tables."""

import json
from pathlib import Path

import numpy as np

from asr.corpus.data_directory import DataDirectory, Problem, Utterance
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.recipe.material import left_out, load_material
from asr.recipe.run import Run
from asr.recipe.sealed import write_sealed
from tests.fuzz.mutators.byte_mutators import spoil_bytes
from tests.fuzz.mutators.json_mutators import spoil_json
from tests.fuzz.mutators.npz_mutators import spoil_npy
from tests.fuzz.mutators.text_mutators import spoil_text
from tests.fuzz.outcome import Unsound
from tests.fuzz.reader import Seeds, reader

RECORDS = (spoil_json, spoil_json, spoil_text, spoil_bytes)


def _table() -> FrameTable:
    frames = np.random.default_rng(7).normal(size=(20, 5)).astype(np.float32)
    return FrameTable.from_utterances(["u", "v"], ["s", "t"], [frames[:8], frames[8:]])


def _build(directory: Path) -> None:
    _table().save(directory)
    problems = [Problem("w", "no-features", "it is silent")]
    (directory / "left-out.json").write_text(json.dumps(problems), encoding="utf-8")


def _open(folder: Path, *, allow_changes: bool = False) -> Run:
    settings = {"features": {"n_filters": 26, "warps": [0.9, 1.1]}, "name": "x"}
    inputs = {"data": "abc", "lexicon": "def"}
    return Run.open(
        folder, command=["asr", "train"], configuration=settings, inputs=inputs, seed=3, allow_changes=allow_changes
    )


def _run_directory(folder: Path) -> Seeds:
    """A run with one stage; its times are made the same in every run of the fuzzer."""
    work = folder / "run"
    with _open(work) as run:
        run.stage("features", _build)
    write_sealed(work / "stages" / "features.seconds", {"cpu": 0.25, "wall": 0.5, "parts": {}})
    files = sorted(path for path in work.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(work)): path.read_bytes() for path in files}


def _resume(folder: Path, *, allow_changes: bool = False) -> None:
    with _open(folder, allow_changes=allow_changes) as run:
        directory = run.stage("features", _build)
        time = run.stage_time("features")
        wall: object = time.wall
        if not (isinstance(wall, int | float) and 0 <= wall < float("inf")):
            raise Unsound(f"a stage that took {time.wall!r} seconds")
        left_out(directory)
        utterances = tuple(Utterance(name, "s", ("ONE",), audio=Path(f"{name}.wav")) for name in "uv")
        material = load_material(directory, DataDirectory(folder, utterances), FeatureConfig())
        _use(material.static)


@reader(
    "run-directory", _run_directory, RECORDS, tree=True, writes=True, targets=("run.json", "*.seconds", "*.digests")
)
def _run(folder: Path) -> None:
    _resume(folder)


@reader("run-with-changes", _run_directory, RECORDS, tree=True, writes=True, targets=("run.json",))
def _run_with_changes(folder: Path) -> None:
    _resume(folder, allow_changes=True)


@reader(
    "run-stage",
    _run_directory,
    (spoil_json, spoil_bytes),
    tree=True,
    writes=True,
    targets=("stages/features/*",),
)
def _run_stage(folder: Path) -> None:
    _resume(folder)


def _frame_table(folder: Path) -> Seeds:
    _table().save(folder)
    return {name: (folder / name).read_bytes() for name in ("frames.npy", "index.json")}


@reader("frame-table", _frame_table, (spoil_json, spoil_npy, spoil_bytes), tree=True)
def _frames(folder: Path) -> None:
    for mmap in (True, False):
        _use(FrameTable.load(folder, mmap=mmap))


def _use(table: FrameTable) -> None:
    for name in table.ids:
        table.utterance(name)
    if not all(isinstance(name, str) for name in (*table.ids, *table.speakers)):
        raise Unsound("names that are no text")
    if len(table) and table.n_frames:
        with np.errstate(all="ignore"):
            FrontEnd(FeatureConfig(normalise="speaker")).fit(table).transform(table)
