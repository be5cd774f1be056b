"""Frames made of digital silence: of runs of equal samples, whose differences have no variance at all.

A few training recordings of Resource Management hold such runs. A Gaussian of frames without variance takes whatever
is nearly as still; so these frames are left out of training.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from asr.corpus.audio import read_audio
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.runs.progress import progress
from asr.runs.run import Run
from asr.training.dataset import Dataset
from asr.util.errors import FeatureError

log = logging.getLogger(__name__)

SHORTEST_RUN = 250
"""Samples."""


def frames_in_runs(samples: np.ndarray, config: FeatureConfig, shortest: int = SHORTEST_RUN) -> np.ndarray:
    """Which frames of a recording have their middle in a run of at least `shortest` equal samples: bool (n_frames,).

    A sample belongs to the frame whose middle is nearest, so a run makes about as many frames as it lasts.
    """
    n_frames = max(0, 1 + (len(samples) - config.window_samples) // config.shift_samples)
    bounds = np.concatenate([[0], np.flatnonzero(np.diff(samples)) + 1, [len(samples)]])
    lengths = np.diff(bounds)
    still = np.repeat(lengths >= shortest, lengths)
    middles = np.arange(n_frames) * config.shift_samples + config.window_samples // 2
    return still[middles]


def without_constant_frames(run: Run, dataset: Dataset, config: FeatureConfig) -> Dataset:
    """Stage `constant-frames`: the material without such frames; one line says how many they are."""
    corpus = dataset.corpus
    if corpus is None:
        raise FeatureError("runs of equal samples can be found in audio alone")

    def build(directory: Path) -> None:
        found: dict[str, list[int]] = {}
        for utterance in progress(corpus.subset(dataset.static.ids).utterances, "runs of equal samples"):
            samples = read_audio(utterance.source, rate=config.sample_rate, upsample=config.upsample)
            frames = np.flatnonzero(frames_in_runs(samples, config)).tolist()
            if frames:
                found[utterance.id] = frames
        (directory / "frames.json").write_text(json.dumps(found, sort_keys=True), encoding="utf-8")

    found = json.loads((run.stage("constant-frames", build) / "frames.json").read_text(encoding="utf-8"))
    log.info(
        "%d frames of %d recordings, made by runs of %d or more equal samples, are left out of training",
        sum(map(len, found.values())), len(found), SHORTEST_RUN,
    )  # fmt: skip
    return without_frames(dataset, found)


def without_frames(dataset: Dataset, dropped: Mapping[str, Sequence[int]]) -> Dataset:
    """The material without some frames of some utterances; an utterance that loses all of them is left out.

    Its audio is no longer told: copies of it would have other frames.
    """
    table = dataset.static
    kept = []
    for number, name in enumerate(table.ids):
        frames = np.delete(table.utterance(number), dropped.get(name, ()), axis=0) if name in dropped else None
        kept.append((name, table.speakers[number], table.utterance(number) if frames is None else frames))
    some = [(name, speaker, frames) for name, speaker, frames in kept if len(frames)]
    static = FrameTable.from_utterances(*zip(*some, strict=True)) if some else None
    if static is None:
        raise FeatureError("no frames are left: every recording is digital silence")
    return Dataset(static, dataset.transcripts, dataset.frame_shift)
