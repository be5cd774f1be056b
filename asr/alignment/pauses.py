"""Which frames sound like a pause, before any model exists: what a flat start knows of silence.

Nothing is asked of the features but that they are frames of speech. Utterances begin and end more often with a pause
than with a vowel, so that the direction which best tells their ends from the rest leads from pause to speech: the
linear discriminant of Fisher (1936) for frames near the ends against all others. In cepstra with an energy it is
little else than energy where a room is quiet; where it is not, it is what tells its noise from a voice, and energy that
is missing, in another column or normalized away does no harm. Within an utterance, a long run of frames low on that
axis is a pause, be it before, after or between words; what is low is measured between the two levels that its frames
have, however much of it is a pause.

What the noise of a room sounds like is then learnt, and each recording's own noise beside it (`pause_sounds`); what
comes with certain phones of the transcripts is no noise (`spoken_sounds`).
"""

from collections.abc import Iterable, Iterator

import numpy as np

from asr.alignment.pause_model import CERTAIN, ROUNDS, PauseSounds, in_long_runs, smoothed
from asr.alignment.speech_evidence import MAX_UTTERANCES, comes_with_phones
from asr.features.frame_table import FrameTable
from asr.features.lda import LdaStatistics
from asr.util.errors import FeatureError

QUIET = 0.75 * CERTAIN
"""Evidence for speech of frames that sound like a pause, but come with certain phones."""

_ENDS = 0.08  # seconds of an utterance's beginning and end
_MIN_DISTANCE = 0.3  # of ends from the rest, in standard deviations; recorded speech has 0.6 to 1.7, by chance 0.2
_BORDER = 0.4  # position between the low and the high frames of an utterance below which one may be of a pause
_SLOPE = 10.0  # evidence of a whole distance between the two
_ENOUGH = 0.2  # part of the frames in pauses from which the axis is found anew; less than that has little to tell


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


def pause_evidence(table: FrameTable, frame_shift: float = 0.01, said: np.ndarray | None = None) -> np.ndarray:
    """Evidence of every frame for speech against pause, float32 (n_frames,): a natural log of odds.

    `CERTAIN` outside the runs that sound like a pause and are long enough for one; inside them down to `-CERTAIN`. What
    pauses sound like is told by those that `low_evidence` finds. With `said`, float64 (n_utterances, n_phones), how
    often each phone stands in each transcript, sounds that come with certain phones are speech: `QUIET`.
    """
    evidence = low_evidence(table, frame_shift)
    quiet = np.zeros(table.n_frames, bool)
    for _ in range(ROUNDS):
        paused = evidence < 0
        sounds = PauseSounds.learnt(table, paused, evidence > 0, frame_shift)
        if sounds is None:
            break
        if said is not None:
            spoken = _spoken(table, sounds, paused, said)
            quiet |= _mostly(table, sounds, paused, spoken)
            if spoken.all():
                evidence = np.full(table.n_frames, CERTAIN, np.float32)
                break
            if spoken.any():
                paused &= ~quiet
                sounds = sounds.without(spoken, float((evidence < 0).sum() / (evidence > 0).sum()))
        evidence = sounds.of_table(table, paused)
    evidence[quiet & (evidence > 0)] = QUIET
    return evidence


def _spoken(table: FrameTable, sounds: PauseSounds, paused: np.ndarray, said: np.ndarray) -> np.ndarray:
    """Which components of the pauses come with certain phones, bool (n_components,)."""
    some = range(0, len(table), -(-len(table) // MAX_UTTERANCES))
    durations = [shares.sum(axis=0) for _, shares in _shares(table, sounds, paused, some)]
    return comes_with_phones(np.array(durations), said[some], [table.speakers[number] for number in some])


def _mostly(table: FrameTable, sounds: PauseSounds, paused: np.ndarray, which: np.ndarray) -> np.ndarray:
    """The frames, bool (n_frames,), that come from these components of the pauses more likely than from the others."""
    found = np.zeros(table.n_frames, bool)
    if which.any():
        for rows, shares in _shares(table, sounds, paused, range(len(table))):
            found[rows] = shares[:, which].sum(axis=1) > 0.5
    return found


def _shares(
    table: FrameTable, sounds: PauseSounds, paused: np.ndarray, numbers: Iterable[int]
) -> Iterator[tuple[slice, np.ndarray]]:
    """Rows of the utterances, and the shares of the pauses' components in their frames; 0 where none is a pause."""
    for number in numbers:
        rows = table.rows(number)
        shares = np.zeros((rows.stop - rows.start, len(sounds.pause.weights)))
        if paused[rows].any():
            shares[paused[rows]] = sounds.pause.posteriors(table.frames[rows][paused[rows]].astype(np.float64))
        yield rows, shares


def low_evidence(table: FrameTable, frame_shift: float = 0.01) -> np.ndarray:
    """As `pause_evidence`, by the axis from pause to speech alone, on which pauses are runs of low frames.

    Where there are many such runs, they tell better than the ends of utterances what a pause sounds like, and the axis
    is found once more, between them and the rest.
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
    if abs(distance) < _MIN_DISTANCE:
        return None
    return direction if distance > 0 else -direction


def _evidence_along(axis: np.ndarray, table: FrameTable, frame_shift: float) -> np.ndarray:
    """As `pause_evidence`, float32 (n_frames,), by the positions of the frames on one axis (n_features,)."""
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
    """Means of the low and of the high of two or more values, parted where the two differ most (Otsu, 1979)."""
    ordered = np.sort(values)
    total = np.cumsum(ordered)
    n_low = np.arange(1, len(values))
    n_high = len(values) - n_low
    low, high = total[:-1] / n_low, (total[-1] - total[:-1]) / n_high
    best = int(np.argmax(n_low * n_high * np.square(high - low)))
    return float(low[best]), float(high[best])
