"""Detection of digital silence (samples that are all 0) from features."""

import numpy as np

from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.mfcc import mfcc

SILENT_WORDS = "is digital silence (all samples are 0), but its transcript has words"
_SAME = 1e-3  # cepstra are about 1 in size; products of other shapes differ only in rounding


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
