"""Finished trainings: their report, and their recognition of held-out speech, from the files of the work directory."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from asr.corpus.data_directory import read_data_directory
from asr.lexicon.named import name_of
from asr.runs.checked_file import are_described, read_sealed
from asr.runs.run import RECORD, STAGES
from asr.runs.stage_checksums import check_digests
from asr.training.config import TrainingConfig
from asr.training.given_settings import GivenSettings
from asr.training.pipeline import train
from asr.training.report import PAGE
from asr.util.errors import RunError
from discriminants.parallel.workers import SerialWorkers
from discriminants.util.paths import is_dir

_TUNING = "tuning-search"


def rewrite_report(work_dir: Path, *, data: Path | None = None, root: Path | None = None) -> Path:
    """Write the report of a finished training again; return its path.

    `data` is the data directory of the training, by default the one in its record. `root` is that of `train`. Raises
    RunError if a stage is missing, or the data, lexicon or record have changed.
    """
    known_data, lexicon, config = _inputs(work_dir)
    until: Literal["gmm", "hybrid"] = "hybrid" if is_dir(work_dir / STAGES / "hybrid") else "gmm"
    workers = SerialWorkers()
    train(
        data or known_data,
        lexicon,
        work_dir,
        GivenSettings(config),
        root=root,
        workers=workers,
        until=until,
        only_report=True,
    )
    return work_dir / PAGE


def training_data(work_dir: Path) -> Path:
    """Return the data directory of a training, as its record names it."""
    return _inputs(work_dir)[0]


def held_out_words(work_dir: Path) -> dict[str, Sequence[str]]:
    """Return the words that the hybrids of the cross-validation recognized, by utterance of the training data.

    Raises RunError if no speech was held out, or the stage is damaged.
    """
    stage = work_dir / STAGES / _TUNING
    if not is_dir(stage):
        raise RunError(
            f"{work_dir}: the training has no held-out speech. Expected a finished training with [tuning] held_out "
            "above 0, to the end of the hybrid"
        )
    check_digests(stage, stage.with_name(f"{_TUNING}.digests"))
    found = json.loads((stage / "hypotheses.json").read_text(encoding="utf-8"))
    return {name: tuple(words) for name, words in found["model"].items()}


def _inputs(work_dir: Path) -> tuple[Path, Path, TrainingConfig]:
    """Return data, lexicon and settings of a training, from its record."""
    path = work_dir / RECORD
    record = read_sealed(path, "the record of a training", "train again in another directory")
    files = record.get("files")
    try:
        config = TrainingConfig.model_validate(record.get("configuration"))
    except ValidationError:
        files = None
    if not are_described(files) or "text" not in files:
        raise RunError(f"{path}: not the record of a training. Expected a work directory of asr train.")
    data = Path(files["text"]["path"]).parent
    paths = {kind: entry["path"] for kind, entry in files.items()}
    transcripts = [utterance.words or () for utterance in read_data_directory(data).utterances]
    return data, name_of(paths, record["inputs"]["lexicon"], transcripts), config
