"""Which sounds that are taken for pauses come with certain phones of the transcripts, and so are none.

Weak fricatives and the closures of stops are as quiet as a pause, and where recordings are cut close there may be
little else that is. But how long an "s" is heard in an utterance depends on how often its transcript has one; how long
its speaker pauses does not. So the frames that each kind of pause has in an utterance are predicted, by ridge
regression (Hoerl and Kennard, 1970), from how often each phone stands in the transcript, and held against what the
number of phones and the speaker tell alone; the utterance that is predicted is left out (Allen, 1974). Square roots of
the frames are predicted, whose scatter is alike for short and long. The length of the recording has no say: of two
kinds of sound, given the length, one lasts shorter where the other lasts long.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

MIN_UTTERANCES = 25
"""Fewer tell nothing."""
MAX_UTTERANCES = 2000
"""As many tell enough, evenly chosen from all."""
_EXPLAINED = 0.07  # part of the variance from which a sound is one of phones; pauses have 0.06 at most, fricatives 0.3
_OWN = 5  # utterances from which a speaker's usual duration is known
_BY_CHANCE = 7.0  # over the utterances: what one kind of pause in a hundred has by chance
_RIDGES = (1.0, 10.0, 100.0, 1000.0)
_MIN_LEFT = 0.05  # of an utterance's own say in its prediction, so that none is divided by nearly 0


def comes_with_phones(durations: np.ndarray, said: np.ndarray, speakers: Sequence[str]) -> np.ndarray:
    """Whether each kind of sound comes with certain phones, bool (n_kinds,).

    Parameters
    ----------
    durations : float64 (n_utterances, n_kinds)
        Frames of each kind.
    said : float64 (n_utterances, n_phones)
        How often each phone stands in the transcript.
    speakers : sequence of str
        Of the utterances.
    """
    if len(durations) < MIN_UTTERANCES:
        return np.zeros(durations.shape[1], bool)
    return explained(np.sqrt(durations), said, known(said, speakers)) > max(_EXPLAINED, _BY_CHANCE / len(durations))


def known(said: np.ndarray, speakers: Sequence[str]) -> np.ndarray:
    """What durations are held against, float64 (n_utterances, n): one, the number of phones, who speaks."""
    often = [speaker for speaker, count in sorted(Counter(speakers).items()) if count >= _OWN]
    who = [np.array([speaker == own for own in speakers], np.float64) for speaker in often]
    return np.column_stack([np.ones(len(said)), said.sum(axis=1), *who])


def explained(durations: np.ndarray, said: np.ndarray, besides: np.ndarray) -> np.ndarray:
    """Part of the variance of utterances left out that the phones explain, float64 (n_kinds,), with the best ridge.

    It is that beyond what the columns of `besides`, (n_utterances, n), explain without a ridge; at most 1.
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
    """An orthonormal basis of the columns, some of which may depend on each other."""
    left, values, _ = np.linalg.svd(columns / np.linalg.norm(columns, axis=0).clip(min=1e-12), full_matrices=False)
    basis: np.ndarray = left[:, values > 1e-9 * values.max()]
    return basis
