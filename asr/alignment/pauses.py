"""Which frames sound like a pause, before any model exists: what a flat start knows of silence.

Nothing is asked of the features but that they are frames of speech. Utterances begin and end more often with a pause
than with a vowel, so that the direction which best tells their ends from the rest leads from pause to speech: the
linear discriminant of Fisher (1936) for frames near the ends against all others. In cepstra with an energy it is
little else than energy where a room is quiet; where it is not, it is what tells its noise from a voice, and energy that
is missing, in another column or normalized away does no harm. Within an utterance, a long run of frames low on that
axis is a pause, be it before, after or between words.
"""

from collections.abc import Iterator

import numpy as np

from asr.errors import FeatureError
from asr.features.frame_table import FrameTable
from asr.features.lda import LdaStatistics

CERTAIN = 4.0  # natural log: evidence for speech of frames that lie in no pause, and the most there is for a pause

_ENDS = 0.08  # seconds of an utterance's beginning and end
_LEAST_DISTANCE = 0.3  # of ends from the rest, in standard deviations; recorded speech has 0.6 to 1.7, by chance 0.2
_SMOOTHED = 0.05  # seconds over which the position is averaged
_SHORTEST = 0.2  # seconds of a pause; closures of stops and weak fricatives are shorter
_LOW, _HIGH = 10.0, 95.0  # percentiles of an utterance's frames between which positions are measured
_BORDER = 0.35  # position between the two below which a frame may be of a pause
_SLOPE = 10.0  # evidence of a whole distance between the two


def speech_axis(table: FrameTable, frame_shift: float = 0.01) -> np.ndarray | None:
    """Direction from pause to speech, float32 (n_features,), or None where ends and middles do not differ.

    Parameters
    ----------
    table : FrameTable
        Frames of any kind, normalized or not.
    frame_shift : float
        Seconds from one frame to the next.
    """
    n_ends = max(1, round(_ENDS / frame_shift))
    statistics = LdaStatistics(table.n_features, 2)
    for batch in table.batches():
        inner = np.zeros(batch.n_frames, np.int32)
        centred = np.empty_like(batch.frames)
        for number in range(len(batch)):
            rows = batch.rows(number)
            inner[rows.start + n_ends : max(rows.start, rows.stop - n_ends)] = 1
            # Positions are compared within an utterance only: how voices and rooms differ is of no interest.
            centred[rows] = batch.frames[rows] - batch.frames[rows].mean(axis=0) if rows.stop > rows.start else 0.0
        statistics.add(centred, inner)
    if not statistics.counts.all():
        return None
    try:
        direction = statistics.solve(1)[0][:, 0]
    except FeatureError:  # no feature varies
        return None
    ends, middles = statistics.sums / statistics.counts[:, None]
    distance = (middles - ends) @ direction  # in standard deviations, for LDA makes that within the classes one
    if abs(distance) < _LEAST_DISTANCE:
        return None
    return direction if distance > 0 else -direction


def pause_evidence(table: FrameTable, frame_shift: float = 0.01) -> np.ndarray:
    """Evidence of every frame for speech against pause, float32 (n_frames,): a natural log of odds.

    `CERTAIN` outside the runs of low frames that are long enough for a pause; inside them down to `-CERTAIN`.
    """
    evidence = np.full(table.n_frames, CERTAIN, np.float32)
    axis = speech_axis(table, frame_shift)
    if axis is None:
        return evidence
    smoothed, shortest = max(1, round(_SMOOTHED / frame_shift)), max(1, round(_SHORTEST / frame_shift))
    for number in range(len(table)):
        rows = table.rows(number)
        if rows.stop == rows.start:
            continue
        position = _moving_average(table.frames[rows] @ axis, smoothed)
        low, high = np.percentile(position, [_LOW, _HIGH])
        if high <= low:
            continue
        position = (position - low) / (high - low) - _BORDER
        own = evidence[rows]
        for start, end in runs(position < 0):
            if end - start >= shortest:
                own[start:end] = np.maximum(_SLOPE * position[start:end], -CERTAIN)
    return evidence


def runs(mask: np.ndarray) -> Iterator[tuple[int, int]]:
    """Start and end of every run of true values of a bool array (n,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _moving_average(values: np.ndarray, width: int) -> np.ndarray:
    """Mean over `width` values around each, over fewer at the ends, float64 (n,)."""
    before = width // 2
    total = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    place = np.arange(len(values))
    first, last = np.maximum(place - before, 0), np.minimum(place - before + width, len(values))
    return (total[last] - total[first]) / (last - first)
