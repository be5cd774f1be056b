"""Samples given as an array, converted to mono like those of a file."""

from collections.abc import Callable
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from asr.corpus.audio import LOWEST_RATE, MAX_RATE, MAX_SAMPLES, check_peak
from asr.util.errors import CorpusError

Observer: TypeAlias = Callable[[np.ndarray], None]

_FULL_SCALE = {"int16": 2.0**15, "int32": 2.0**31}
_MAX_CHANNELS = 64


def samples_from_array(
    array: Any, native: Any, *, rate: int, source: str = "the array", observe: Observer | None = None
) -> np.ndarray:
    """Return samples as float32 (n,): mono, full scale 1, at their own rate of `native` Hz, like `read_native`.

    Parameters
    ----------
    array : (n,) or (n, n_channels)
        Floating-point numbers of full scale 1, or integers of 16 or 32 bits; channels are averaged.
    native : int
        Rate in Hz; other types are refused.
    rate : int
        Rate in Hz after conversion, which gives at most `MAX_SAMPLES` samples.
    source : str
        Name in errors.
    observe : callable, optional
        Called with the samples before channels are averaged, float32 (n, n_channels).

    Raises
    ------
    CorpusError
        For an array of another shape or type, without samples or with too many, with values that are not finite or far
        beyond full scale, and for a rate below 1 or above 768 kHz.
    """
    if not _is_rate(native):
        shown = str(native) if isinstance(native, Real) else f"{native!r} ({type(native).__name__})"
        raise CorpusError(
            f"{source}: the rate is {shown}. Expected an integer from {LOWEST_RATE} to {MAX_RATE} Hz", code="bad-rate"
        )
    try:
        given = np.asarray(array)
    except (TypeError, ValueError) as error:
        raise CorpusError(f"{source}: cannot be converted to an array of numbers ({error})") from error
    if given.ndim and len(given) * max(1.0, rate / native) > MAX_SAMPLES:  # before copies
        raise CorpusError(
            f"{source}: {len(given) / native:.0f} s are too long for one utterance. Expected at most {MAX_SAMPLES} "
            "samples.",
            code="too-long",
        )
    channels = _channels(given, source)
    if channels.size:
        check_peak(channels, source, int(native))
    with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite are refused later
        samples = channels[:, 0] if channels.shape[1] == 1 else channels.mean(axis=1, dtype=np.float32)
    if not samples.size:
        raise CorpusError(f"{source}: holds no samples.", code="empty-file")
    if observe is not None:
        observe(channels)
    return samples


def _is_rate(native: Any) -> bool:
    rate = native.item() if getattr(native, "shape", None) == () else native  # NumPy scalars
    if not isinstance(rate, int | float) or isinstance(rate, bool):
        return False
    return LOWEST_RATE <= rate <= MAX_RATE and int(rate) == rate


def _channels(array: np.ndarray, source: str) -> np.ndarray:
    """Return float32 (n, n_channels) of full scale 1."""
    if array.ndim not in (1, 2) or (array.ndim == 2 and not 1 <= array.shape[1] <= _MAX_CHANNELS):
        raise CorpusError(f"{source}: has the shape {array.shape}. Expected (n,) or (n, n_channels).")
    if array.dtype.kind == "f":
        scale = 1.0
    elif array.dtype.name in _FULL_SCALE:
        scale = _FULL_SCALE[array.dtype.name]
    else:
        raise CorpusError(
            f"{source}: has values of the type {array.dtype}. Expected floating-point numbers of full scale 1, or "
            "integers of 16 or 32 bits."
        )
    with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite are refused later
        samples = array.astype(np.float32)  # the only copy
        samples *= np.float32(1.0 / scale)  # exact: a power of two
    return samples[:, None] if array.ndim == 1 else samples
