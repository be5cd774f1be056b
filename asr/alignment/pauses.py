"""Detection of pause-like frames before any model exists, for a flat start.

The features may be of any kind. Utterances begin and end more often with a pause than with a vowel. Therefore the
linear discriminant (Fisher 1936) of frames near the ends against all others points from pause to speech. For cepstra
with energy in a quiet room it is close to the energy; in noise it separates the noise from speech. Within an utterance,
a long run of low values on this axis is a pause. The threshold lies between the two levels of its frames, so it does
not depend on the amount of pauses.
"""

import numpy as np

from asr.alignment.pause_model import CERTAIN, in_long_runs, smoothed
from asr.features.frame_table import FrameTable
from asr.features.lda import LdaStatistics
from asr.util.errors import FeatureError

_BLOCK = 8192  # frames that are converted to float64 at a time
_ENDS = 0.08  # seconds of an utterance's beginning and end
_MIN_DISTANCE = 0.3  # of ends from the rest, in standard deviations; recorded speech has 0.6 to 1.7, by chance 0.2
_BORDER = 0.4  # position between the low and the high frames of an utterance below which one may be of a pause
_SLOPE = 10.0  # evidence per distance between the two
_ENOUGH = 0.2  # minimum fraction of frames in pauses for a second estimate of the axis


def speech_axis(table: FrameTable, frame_shift: float = 0.01) -> np.ndarray | None:
    """Return the direction from pause to speech, float32 (n_features,); None if ends and middles do not differ.

    `table` may have any frames, normalized or not; `frame_shift` is in seconds.
    """
    n_ends = max(1, round(_ENDS / frame_shift))
    inner = np.zeros(table.n_frames, np.int32)
    for number in range(len(table)):
        rows = table.rows(number)
        inner[rows.start + n_ends : max(rows.start, rows.stop - n_ends)] = 1
    return _direction(table, inner)


def pause_evidence(table: FrameTable, frame_shift: float = 0.01) -> np.ndarray:
    """Return evidence for speech against pause, float32 (n_frames,), as natural log odds.

    It is `CERTAIN` outside of long runs of low values on the axis from pause to speech, and at least `-CERTAIN` inside.
    If there are many such runs, the axis is estimated again, between them and the rest.
    """
    axis = speech_axis(table, frame_shift)
    if axis is None:
        return np.full(table.n_frames, CERTAIN, np.float32)
    evidence = _evidence_along(axis, table, frame_shift)
    if np.mean(evidence < 0) >= _ENOUGH:
        axis = _direction(table, (evidence > 0).astype(np.int32))
        if axis is not None:
            evidence = _evidence_along(axis, table, frame_shift)
    return evidence


def _direction(table: FrameTable, speech: np.ndarray) -> np.ndarray | None:
    """Return Fisher's discriminant from class 0 to class 1 of `speech`, int32 (n_frames,).

    The result is float32 (n_features,), or None if the classes hardly differ.
    """
    statistics = LdaStatistics(table.n_features, 2)
    first = 0
    for batch in table.batches():
        centred = np.empty_like(batch.frames)
        for number in range(len(batch)):
            rows = batch.rows(number)
            # Positions are compared within an utterance only, not between speakers and rooms.
            if rows.stop > rows.start:
                np.subtract(batch.frames[rows], batch.frames[rows].mean(axis=0), out=centred[rows])
        own = speech[first : first + batch.n_frames]
        for start in range(0, batch.n_frames, _BLOCK):
            statistics.add(centred[start : start + _BLOCK], own[start : start + _BLOCK])
        first += batch.n_frames
    if not statistics.counts.all():
        return None
    try:
        direction = statistics.solve(1)[0][:, 0]
    except FeatureError:  # no feature varies
        return None
    below, above = statistics.sums / statistics.counts[:, None]
    distance = (above - below) @ direction  # in standard deviations, because LDA makes the within-class variance one
    if abs(distance) < _MIN_DISTANCE:
        return None
    return direction if distance > 0 else -direction


def _evidence_along(axis: np.ndarray, table: FrameTable, frame_shift: float) -> np.ndarray:
    """Return evidence, float32 (n_frames,), from the positions of the frames on one axis (n_features,)."""
    evidence = np.full(table.n_frames, CERTAIN, np.float32)
    for number in range(len(table)):
        rows = table.rows(number)
        if rows.stop - rows.start < 2:
            continue
        position = smoothed(table.frames[rows] @ axis, frame_shift)
        low, high = _two_levels(position)
        if high > low:
            position = (position - low) / (high - low) - _BORDER
            evidence[rows] = in_long_runs(_SLOPE * position, frame_shift)
    return evidence


def _two_levels(values: np.ndarray) -> tuple[float, float]:
    """Return the means of low and high values, separated at the largest between-class variance (Otsu, 1979)."""
    ordered = np.sort(values)
    total = np.cumsum(ordered)
    n_low = np.arange(1, len(values))
    n_high = len(values) - n_low
    low, high = total[:-1] / n_low, (total[-1] - total[:-1]) / n_high
    best = int(np.argmax(n_low * n_high * np.square(high - low)))
    return float(low[best]), float(high[best])
