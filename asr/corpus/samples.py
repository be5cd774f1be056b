"""Samples that a program hands over as an array, as the same mono samples that a file would give."""

from typing import Any

import numpy as np

from asr.corpus.audio import HIGHEST_RATE, LOWEST_RATE, MOST_SAMPLES, at_rate
from asr.errors import CorpusError

_FULL_SCALE = {"int16": 2.0**15, "int32": 2.0**31}
_LOUDEST = 16.0
"""Times full scale. Floating-point samples beyond are integers of 16 bits that were converted but not divided."""
_MOST_CHANNELS = 64


def samples_from_array(
    array: Any, native: int, *, rate: int, source: str = "the array", upsample: bool = False
) -> np.ndarray:
    """Samples at `native` Hz as float32 (m,): mono, at `rate` Hz, on the 16-bit scale, as `read_audio` gives them.

    Parameters
    ----------
    array : (n,) or (n, n_channels)
        Floating-point numbers of full scale 1, or integers of 16 or 32 bits; channels are averaged.
    source : str
        What errors call it.
    upsample : bool
        Whether a rate below `rate` is converted and not refused.

    Raises
    ------
    CorpusError
        For an array of another shape or type, without samples or with too many, with values that are not finite or
        far beyond full scale, and for a rate below 1 or above 768 kHz.
    """
    if isinstance(native, bool) or int(native) != native or not LOWEST_RATE <= native <= HIGHEST_RATE:
        raise CorpusError(f"{source}: its rate is {native}; whole numbers from {LOWEST_RATE} to {HIGHEST_RATE} are.")
    samples = _mono(np.asarray(array), source)
    if not samples.size:
        raise CorpusError(f"{source}: holds no samples.", code="empty-file")
    if len(samples) * max(1.0, rate / native) > MOST_SAMPLES:
        raise CorpusError(
            f"{source}: {len(samples) / native:.0f} s are too long for one utterance; {MOST_SAMPLES} samples are the "
            "most. Divide it.",
            code="too-long",
        )
    loudest = float(np.abs(samples).max())
    if not np.isfinite(loudest):
        raise CorpusError(f"{source}: holds samples that are not finite numbers.", code="not-finite")
    if loudest > _LOUDEST:
        raise CorpusError(
            f"{source}: holds floating-point samples up to {loudest:g}, and full scale is 1; divide them by it, or "
            "give integers of 16 bits.",
            code="not-finite",
        )
    return at_rate(samples, int(native), rate, source=source, upsample=upsample)


def _mono(array: np.ndarray, source: str) -> np.ndarray:
    """Float32 (n,) of full scale 1."""
    if array.ndim not in (1, 2) or (array.ndim == 2 and not 1 <= array.shape[1] <= _MOST_CHANNELS):
        raise CorpusError(f"{source}: has the shape {array.shape}; (n,) or (n, n_channels) is right.")
    if array.dtype.kind == "f":
        scale = 1.0
    elif array.dtype.name in _FULL_SCALE:
        scale = _FULL_SCALE[array.dtype.name]
    else:
        raise CorpusError(
            f"{source}: holds values of the type {array.dtype}; floating-point numbers of full scale 1 and integers of "
            "16 or 32 bits can be read."
        )
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused later
        samples = (array / scale).astype(np.float32)
        return samples if array.ndim == 1 else samples.mean(axis=1, dtype=np.float32)
