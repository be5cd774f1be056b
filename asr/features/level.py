"""Levels of recordings from their features, digital silence, and whether a front end depends on the level."""

import numpy as np

from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.mfcc import LOUDER_FRAMES, NATURAL, mfcc

FULL_SCALE_POWER = 32768.0**2
SILENT_WORDS = "is digital silence (all samples are 0), but its transcript has words"
_SAME = 1e-3  # cepstra are about 1 in size; products of other shapes differ only in rounding


def depends_on_level(config: FeatureConfig) -> bool:
    """Return whether the level of a recording changes its frames, apart from rounding and background noise.

    It does not with a dynamic range below its own louder frames and normalization per utterance or speaker.
    """
    return not (config.dynamic_range_db and config.normalize in ("utterance", "speaker"))


def utterance_levels(static: FrameTable, config: FeatureConfig) -> np.ndarray | None:
    """Return the level of every utterance in dB of full scale, float (n_utterances,).

    It is the 95 % quantile of the frames' power. None for features without the log energy.
    """
    if config.energy != "log" or static.n_features != config.static_dimension:
        return None
    column = static.frames[:, config.energy_column]
    parts = (column[first:last] for first, last in zip(static.offsets[:-1], static.offsets[1:], strict=True))
    log_energy = np.array([np.quantile(part, LOUDER_FRAMES) if len(part) else np.nan for part in parts])
    return (log_energy - np.log(config.window_samples * FULL_SCALE_POWER)) / NATURAL


def silent_utterances(static: FrameTable, config: FeatureConfig) -> set[str]:
    """Return the utterances of static features, computed as in `config`, whose samples are all 0.

    The floor of the features is below the smallest 16-bit sample, so no sound counts as silence.
    """
    floor = mfcc(np.zeros(config.window_samples, np.float32), config)[0]
    if static.n_features != config.static_dimension:
        return set()
    cepstra = static.frames[:, : len(floor)]
    firsts = np.abs(cepstra[static.offsets[:-1]] - floor).max(axis=1) < _SAME
    return {
        name
        for name, first in zip(static.ids, firsts.tolist(), strict=True)
        if first and np.abs(static.utterance(name)[:, : len(floor)] - floor).max() < _SAME
    }
