"""Which frames sound like a pause, before any model exists: what a flat start knows of silence.

Nothing is asked of the features but that they are frames of speech. Utterances begin and end more often with a pause
than with a vowel, so that the direction which best tells their ends from the rest leads from pause to speech: the
linear discriminant of Fisher (1936) for frames near the ends against all others. In cepstra with an energy it is
little else than energy where a room is quiet; where it is not, it is what tells its noise from a voice, and energy that
is missing, in another column or normalized away does no harm. Within an utterance, a long run of frames low on that
axis is a pause, be it before, after or between words; what is low is measured between the two levels that its frames
have, however much of it is a pause.

What the noise of a room sounds like is then learnt: a small mixture of all pauses stands against one of speech, and in
every recording a Gaussian of its own pauses beside it, for what sounds between the words of a recording sounds before
and after them too.
"""

from collections.abc import Iterator

import numpy as np

from asr.errors import FeatureError
from asr.features.frame_table import FrameTable
from asr.features.lda import LdaStatistics
from asr.features.small_mixture import FEWEST_FRAMES, SmallMixture, fit_mixture

CERTAIN = 4.0  # natural log: evidence for speech of frames that lie in no pause, and the most there is for a pause

_ENDS = 0.08  # seconds of an utterance's beginning and end
_LEAST_DISTANCE = 0.3  # of ends from the rest, in standard deviations; recorded speech has 0.6 to 1.7, by chance 0.2
_SMOOTHED = 0.05  # seconds over which the position is averaged
_SHORTEST = 0.2  # seconds of a pause; closures of stops and weak fricatives are shorter
_BORDER = 0.4  # position between the low and the high frames of an utterance below which one may be of a pause
_SLOPE = 10.0  # evidence of a whole distance between the two
_ENOUGH = 0.2  # part of the frames in pauses from which the axis is found anew; less than that has little to tell
_ROUNDS = 3  # of mixtures learnt from what the last ones took for pauses
_COMPONENTS = 8  # of each of the two mixtures
_FLOOR = 0.01  # their least variance, in parts of that of all frames
_FEWEST_OWN = 10  # frames of a recording's pauses from which they have a Gaussian of their own
_OWN_PRIOR = 20.0  # frames, as which the usual variance within a recording's pauses counts beside its own


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
    inner = np.zeros(table.n_frames, np.int32)
    for number in range(len(table)):
        rows = table.rows(number)
        inner[rows.start + n_ends : max(rows.start, rows.stop - n_ends)] = 1
    return _direction(table, inner)


def pause_evidence(table: FrameTable, frame_shift: float = 0.01) -> np.ndarray:
    """Evidence of every frame for speech against pause, float32 (n_frames,): a natural log of odds.

    `CERTAIN` outside the runs of low frames that are long enough for a pause; inside them down to `-CERTAIN`. Where
    there are many such runs, they tell better than the ends of utterances what a pause sounds like, and the axis is
    found once more, between them and the rest.
    """
    axis = speech_axis(table, frame_shift)
    if axis is None:
        return np.full(table.n_frames, CERTAIN, np.float32)
    evidence = _evidence_along(axis, table, frame_shift)
    if np.mean(evidence < 0) >= _ENOUGH:
        axis = _direction(table, (evidence > 0).astype(np.int32))
        if axis is not None:
            evidence = _evidence_along(axis, table, frame_shift)
    for _ in range(_ROUNDS):
        evidence = _told_by_sound(evidence, table, frame_shift)
    return evidence


def _direction(table: FrameTable, speech: np.ndarray) -> np.ndarray | None:
    """Fisher's discriminant, float32 (n_features,), from the frames where `speech`, int32 (n_frames,), is 0 to those
    where it is 1; None where they hardly differ.
    """
    statistics = LdaStatistics(table.n_features, 2)
    first = 0
    for batch in table.batches():
        centred = np.empty_like(batch.frames)
        for number in range(len(batch)):
            rows = batch.rows(number)
            # Positions are compared within an utterance only: how voices and rooms differ is of no interest.
            centred[rows] = batch.frames[rows] - batch.frames[rows].mean(axis=0) if rows.stop > rows.start else 0.0
        statistics.add(centred, speech[first : first + batch.n_frames])
        first += batch.n_frames
    if not statistics.counts.all():
        return None
    try:
        direction = statistics.solve(1)[0][:, 0]
    except FeatureError:  # no feature varies
        return None
    below, above = statistics.sums / statistics.counts[:, None]
    distance = (above - below) @ direction  # in standard deviations, for LDA makes that within the classes one
    if abs(distance) < _LEAST_DISTANCE:
        return None
    return direction if distance > 0 else -direction


def _evidence_along(axis: np.ndarray, table: FrameTable, frame_shift: float) -> np.ndarray:
    """As `pause_evidence`, float32 (n_frames,), by the positions of the frames on one axis (n_features,)."""
    evidence = np.full(table.n_frames, CERTAIN, np.float32)
    for number in range(len(table)):
        rows = table.rows(number)
        if rows.stop - rows.start < 2:
            continue
        position = _smoothed(table.frames[rows] @ axis, frame_shift)
        low, high = _two_levels(position)
        if high > low:
            position = (position - low) / (high - low) - _BORDER
            evidence[rows] = _in_long_runs(_SLOPE * position, frame_shift)
    return evidence


def _told_by_sound(evidence: np.ndarray, table: FrameTable, frame_shift: float) -> np.ndarray:
    """As `pause_evidence`, float32 (n_frames,), by what its pauses and its speech sound like.

    A recording's own pauses count beside all others: what either of the two densities explains may be a pause.
    """
    paused = evidence < 0
    if min(paused.sum(), (~paused).sum()) < _COMPONENTS * FEWEST_FRAMES:
        return evidence
    floor = _FLOOR * np.maximum(table.frames.var(axis=0, dtype=np.float64), np.finfo(np.float32).tiny)
    pause, speech = (fit_mixture(table.frames[chosen], _COMPONENTS, floor) for chosen in (paused, ~paused))
    found = np.full(table.n_frames, CERTAIN, np.float32)
    spread = np.maximum(_spread_within(table, paused), floor)
    for number in range(len(table)):
        rows = table.rows(number)
        frames = table.frames[rows].astype(np.float64)
        of_pause, own = pause.log_density(frames), frames[paused[rows]]
        if len(own) >= _FEWEST_OWN:
            mean = own.mean(axis=0)
            variance = (np.square(own - mean).sum(axis=0) + _OWN_PRIOR * spread) / (len(own) + _OWN_PRIOR)
            of_own = SmallMixture(np.ones(1), mean[None], variance[None]).log_density(frames)
            of_pause = np.logaddexp(of_pause, of_own)
        if len(frames):
            found[rows] = _in_long_runs(_smoothed(speech.log_density(frames) - of_pause, frame_shift), frame_shift)
    return found


def _spread_within(table: FrameTable, chosen: np.ndarray) -> np.ndarray:
    """Variance of the chosen frames about their mean in each utterance, float64 (n_features,)."""
    total, count = np.zeros(table.n_features), 0
    for number in range(len(table)):
        rows = table.rows(number)
        own = table.frames[rows][chosen[rows]].astype(np.float64)
        if len(own) >= _FEWEST_OWN:
            total += np.square(own - own.mean(axis=0)).sum(axis=0)
            count += len(own)
    return total / max(count, 1)


def _in_long_runs(evidence: np.ndarray, frame_shift: float) -> np.ndarray:
    """The evidence of frames in runs below 0 that are long enough for a pause, at least `-CERTAIN`; else `CERTAIN`."""
    found = np.full(len(evidence), CERTAIN, np.float32)
    shortest = max(1, round(_SHORTEST / frame_shift))
    for start, end in runs(evidence < 0):
        if end - start >= shortest:
            found[start:end] = np.maximum(evidence[start:end], -CERTAIN)
    return found


def _two_levels(values: np.ndarray) -> tuple[float, float]:
    """Means of the low and of the high of two or more values, parted where the two differ most (Otsu, 1979)."""
    ordered = np.sort(values)
    total = np.cumsum(ordered)
    n_low = np.arange(1, len(values))
    n_high = len(values) - n_low
    low, high = total[:-1] / n_low, (total[-1] - total[:-1]) / n_high
    best = int(np.argmax(n_low * n_high * np.square(high - low)))
    return float(low[best]), float(high[best])


def runs(mask: np.ndarray) -> Iterator[tuple[int, int]]:
    """Start and end of every run of true values of a bool array (n,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _smoothed(values: np.ndarray, frame_shift: float) -> np.ndarray:
    """Mean over 50 ms around each frame, over fewer at the ends, float64 (n,)."""
    width = max(1, round(_SMOOTHED / frame_shift))
    before = width // 2
    total = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    place = np.arange(len(values))
    first, last = np.maximum(place - before, 0), np.minimum(place - before + width, len(values))
    return (total[last] - total[first]) / (last - first)
