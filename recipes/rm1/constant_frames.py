"""Frames of digital silence: runs of equal samples, whose differences have zero variance.

A few training recordings of Resource Management contain such runs. A Gaussian trained on frames without variance also
attracts nearly silent frames, so training leaves these frames out.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from asr.corpus.audio import read_audio
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.runs.progress import Progress
from asr.runs.run import Run
from asr.training.dataset import Dataset
from asr.util.errors import FeatureError

log = logging.getLogger(__name__)

SHORTEST_RUN = 250
"""Length in samples."""


def frames_in_runs(samples: np.ndarray, config: FeatureConfig, shortest: int = SHORTEST_RUN) -> np.ndarray:
    """Mark frames whose middle is in a run of at least `shortest` equal samples: bool (n_frames,).

    A sample belongs to the frame with the nearest middle, so the number of marked frames is about the duration of the
    run.
    """
    n_frames = max(0, 1 + (len(samples) - config.window_samples) // config.shift_samples)
    bounds = np.concatenate([[0], np.flatnonzero(np.diff(samples)) + 1, [len(samples)]])
    lengths = np.diff(bounds)
    still = np.repeat(lengths >= shortest, lengths)
    middles = np.arange(n_frames) * config.shift_samples + config.window_samples // 2
    return still[middles]


def without_constant_frames(run: Run, dataset: Dataset, config: FeatureConfig) -> Dataset:
    """Run stage `constant-frames`: remove such frames from the data and log their number."""
    corpus = dataset.corpus
    if corpus is None:
        raise FeatureError("runs of equal samples can only be found in audio")

    def build(directory: Path) -> None:
        found: dict[str, list[int]] = {}
        utterances = corpus.subset(dataset.static.ids).utterances
        with Progress(len(utterances), "runs of equal samples") as bar:
            for utterance in utterances:
                samples = read_audio(utterance.source, rate=config.sample_rate, upsample=config.upsample)
                frames = np.flatnonzero(frames_in_runs(samples, config)).tolist()
                if frames:
                    found[utterance.id] = frames
                bar.advance()
        (directory / "frames.json").write_text(json.dumps(found, sort_keys=True), encoding="utf-8")

    found = json.loads((run.stage("constant-frames", build) / "frames.json").read_text(encoding="utf-8"))
    log.info(
        "%d frames of %d recordings (from runs of %d or more equal samples) are left out of training",
        sum(map(len, found.values())), len(found), SHORTEST_RUN,
    )  # fmt: skip
    return without_frames(dataset, found)


def without_frames(dataset: Dataset, dropped: Mapping[str, Sequence[int]]) -> Dataset:
    """Remove some frames of some utterances; an utterance without remaining frames is dropped.

    The result has no audio, because copies of the audio would have other frames.
    """
    table = dataset.static
    kept = []
    for number, name in enumerate(table.ids):
        frames = np.delete(table.utterance(number), dropped.get(name, ()), axis=0) if name in dropped else None
        kept.append((name, table.speakers[number], table.utterance(number) if frames is None else frames))
    some = [(name, speaker, frames) for name, speaker, frames in kept if len(frames)]
    static = FrameTable.from_utterances(*zip(*some, strict=True)) if some else None
    if static is None:
        raise FeatureError("no frames remain, because all recordings are digital silence")
    return Dataset(static, dataset.transcripts, dataset.frame_shift)
