"""Detection of pause-like sounds that occur with certain phones and therefore are speech.

Weak fricatives and closures of stops are as quiet as a pause. But the duration of an "s" in an utterance depends on how
often its transcript has one; the duration of pauses does not. So the frames of each kind of pause are predicted from
the phone counts of the transcript by ridge regression (Hoerl and Kennard, 1970). The error is compared with a
prediction from the number of phones and the speaker alone, with leave-one-out (Allen, 1974). Square roots of the frames
are predicted, because their variance is similar for short and long durations. The length of the recording is not used:
for a given length, one kind of sound gets shorter as the other gets longer.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

MIN_UTTERANCES = 25
"""Minimum number of utterances."""
MAX_UTTERANCES = 2000
"""Maximum number of utterances, evenly chosen from all."""
_EXPLAINED = 0.07  # fraction of the variance for a sound of phones; pauses have at most 0.06, fricatives 0.3
_OWN = 5  # utterances from which a speaker's usual duration is known
_BY_CHANCE = 7.0  # divided by the number of utterances: exceeded by chance by 1 % of pauses
_RIDGES = (1.0, 10.0, 100.0, 1000.0)
_MIN_LEFT = 0.05  # minimum of 1 - leverage, to avoid division by nearly 0


def comes_with_phones(durations: np.ndarray, said: np.ndarray, speakers: Sequence[str]) -> np.ndarray:
    """Return whether each kind of sound occurs with certain phones, bool (n_kinds,).

    `durations`, float64 (n_utterances, n_kinds), are in frames. `said`, float64 (n_utterances, n_phones), counts the
    phones of each transcript.
    """
    if len(durations) < MIN_UTTERANCES:
        return np.zeros(durations.shape[1], bool)
    return explained(np.sqrt(durations), said, known(said, speakers)) > max(_EXPLAINED, _BY_CHANCE / len(durations))


def known(said: np.ndarray, speakers: Sequence[str]) -> np.ndarray:
    """Return the baseline predictors, float64 (n_utterances, n): a constant, the number of phones, and the speakers."""
    often = [speaker for speaker, count in sorted(Counter(speakers).items()) if count >= _OWN]
    who = [np.array([speaker == own for own in speakers], np.float64) for speaker in often]
    return np.column_stack([np.ones(len(said)), said.sum(axis=1), *who])


def explained(durations: np.ndarray, said: np.ndarray, besides: np.ndarray) -> np.ndarray:
    """Return the leave-one-out fraction of variance that the phones explain, float64 (n_kinds,), with the best ridge.

    It is relative to the variance left by the columns of `besides`, (n_utterances, n), without a ridge; at most 1.
    """
    basis = _span(besides)
    rest = durations - basis @ (basis.T @ durations)
    phones = said - basis @ (basis.T @ said)
    left, values, _ = np.linalg.svd(phones, full_matrices=False)
    kept = values > 1e-6 * max(1e-6, values.max(initial=0.0))
    left, squares = left[:, kept], np.square(values[kept])
    own = np.square(basis).sum(axis=1)
    unexplained = np.square(rest / np.maximum(1.0 - own, _MIN_LEFT)[:, None]).sum(axis=0)
    best = np.full(durations.shape[1], np.inf)
    for ridge in _RIDGES:
        shrunk = squares / (squares + ridge)
        missed = rest - left @ (shrunk[:, None] * (left.T @ rest))
        leverage = own + np.square(left) @ shrunk
        best = np.minimum(best, np.square(missed / np.maximum(1.0 - leverage, _MIN_LEFT)[:, None]).sum(axis=0))
    found: np.ndarray = 1.0 - best / np.maximum(unexplained, 1e-12)
    found[unexplained <= 1e-9 * np.square(durations).sum(axis=0)] = 0.0
    return found


def _span(columns: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the columns, which may be linearly dependent."""
    left, values, _ = np.linalg.svd(columns / np.linalg.norm(columns, axis=0).clip(min=1e-12), full_matrices=False)
    basis: np.ndarray = left[:, values > 1e-9 * values.max()]
    return basis
