"""Run directories: their record, times and stages; frame tables."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np

from asr.corpus.data_directory import DataDirectory, Utterance
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.runs.checked_file import read_sealed, write_sealed
from asr.runs.run import Run
from asr.runs.stage_checksums import write_digests
from asr.training.dataset import left_out, load_dataset
from tests.fuzz.mutators.byte_mutators import spoil_bytes
from tests.fuzz.mutators.json_mutators import any_number_of_digits, spoil_json, spoilt_value
from tests.fuzz.mutators.npz_mutators import spoil_npy
from tests.fuzz.mutators.text_mutators import spoil_text
from tests.fuzz.outcome import Unsound
from tests.fuzz.reader import Seeds, reader


def _table() -> FrameTable:
    frames = np.random.default_rng(7).normal(size=(20, 5)).astype(np.float32)
    return FrameTable.from_utterances(["u", "v"], ["s", "t"], [frames[:8], frames[8:]])


def _build(directory: Path) -> None:
    _table().save(directory)
    (directory / "left-out.json").write_text(json.dumps([["w", "no-features", "it is silent"]]), encoding="utf-8")


def _open(folder: Path, *, rebuild_changed: bool = False) -> Run:
    settings = {"features": {"n_filters": 26, "vtlp_warps": [0.9, 1.1]}, "name": "x"}
    inputs = {"data": "abc", "lexicon": "def"}
    return Run.open(
        folder, command=["asr", "train"], configuration=settings, inputs=inputs, seed=3, rebuild_changed=rebuild_changed
    )


def _run_directory(folder: Path) -> Seeds:
    """A run with one stage; its times are made the same in every run of the fuzzer."""
    work = folder / "run"
    with _open(work) as run:
        run.stage("features", _build)
    seconds = work / "stages" / "features.seconds"
    write_sealed(seconds, {**read_sealed(seconds, "the time of a stage", ""), "cpu": 0.25, "wall": 0.5})
    files = sorted(path for path in work.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(work)): path.read_bytes() for path in files}


def _spoil_sealed(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """A record with one value spoilt and the seal right again."""
    try:
        record = json.loads(content)
        record.pop("digest", None)
        spoilt = spoilt_value(random, record)
        with TemporaryDirectory() as folder, any_number_of_digits():
            write_sealed(Path(folder) / "record", spoilt)
            return (Path(folder) / "record").read_bytes()
    except (ValueError, TypeError, AttributeError, RecursionError):
        return spoil_json(random, content, others)


def _resume(folder: Path, *, rebuild_changed: bool = False) -> None:
    with _open(folder, rebuild_changed=rebuild_changed) as run:
        directory = run.stage("features", _build)
        time = run.stage_time("features")
        wall: object = time.wall
        if not (isinstance(wall, int | float) and 0 <= wall < float("inf")):
            raise Unsound(f"a stage whose time is no number of seconds: {str(wall)[:100]}")
        left_out(directory)
        utterances = tuple(Utterance(name, "s", ("ONE",), audio=Path(f"{name}.wav")) for name in "uv")
        dataset = load_dataset(directory, DataDirectory(folder, utterances), FeatureConfig())
        _use(dataset.static)


RECORDS = (_spoil_sealed, _spoil_sealed, spoil_json, spoil_text, spoil_bytes)


def _forged(folder: Path) -> None:
    write_digests(folder / "stages" / "features", folder / "stages" / "features.digests")
    _resume(folder)


for _name, _use_run, _mutators, _targets in (
    ("run-directory", _resume, RECORDS, ("run.json", "*.seconds", "*.digests")),
    ("run-with-changes", partial(_resume, rebuild_changed=True), RECORDS, ("run.json",)),
    ("run-stage", _resume, (spoil_json, spoil_bytes), ("stages/features/*",)),
    ("run-stage-with-right-digests", _forged, (spoil_json, spoil_npy, spoil_bytes), ("stages/features/*",)),
):
    reader(_name, _run_directory, _mutators, tree=True, writes=True, targets=_targets)(_use_run)


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
            FrontEnd(FeatureConfig(normalize="speaker")).fit(table).transform(table)
