"""Levels of recordings from their features, and whether a front end depends on the level."""

import numpy as np

from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.mfcc import LOUDER_FRAMES, NATURAL

FULL_SCALE_POWER = 32768.0**2


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
