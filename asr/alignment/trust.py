"""Probability that a transcript is right, from three measures of its fit and those of rivals on the same frames.

The measures are the position of the score between those of other transcripts (0) and the usual score (1), and the two
margins of `asr.alignment.word_edits`. For each, logistic regression with smoothed targets (Platt 1999) separates the
transcripts from their rivals, which are wrong. Half of the exchanged transcripts score below the median of the rivals,
which gives their number (Storey 2002). Transcripts that are nearer to the rivals than to the usual score are left out
of the regression, so that many wrong transcripts do not hide each other. The trust is the product of the three.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from asr.alignment.transcript_scores import TranscriptScore
from discriminants import PlattOutputModel

EDITED = 0.05  # expected fraction of transcripts with a word added, and with a word missing
MIN_WRONG, MAX_WRONG = 0.02, 0.95  # limits of the fraction of exchanged transcripts
MIN_DISTANCE = 0.25  # of an utterance's rivals from the usual score, relative to the usual distance

_TINY = 1e-9


class Trust(NamedTuple):
    """Probabilities that a transcript is right, by each measure."""

    transcript: float  # that it is not the transcript of another utterance
    no_word_added: float
    no_word_missing: float

    @property
    def value(self) -> float:
        """Their product, from 0 (wrong) to 1 (right)."""
        return self.transcript * self.no_word_added * self.no_word_missing


def trust_of(found: Mapping[str, TranscriptScore]) -> dict[str, Trust]:
    """Return the trust in every transcript; an empty dictionary without rivals."""
    rivals = [one.rivals for one in found.values()]
    if not sum(map(len, rivals)):
        return {}
    scores = np.array([one.score for one in found.values()])
    overall = float(np.median(np.concatenate(rivals)))
    usual = float(np.median(scores))
    centers = np.array([np.median(own) if len(own) else overall for own in rivals])
    distances = np.maximum(usual - centers, max(_TINY, MIN_DISTANCE * (usual - overall)))
    places = (scores - centers) / distances
    rival_places = np.concatenate(
        [(own - center) / distance for own, center, distance in zip(rivals, centers, distances, strict=True)]
    )
    wrong = float(np.clip(2.0 * (places < np.median(rival_places)).mean(), MIN_WRONG, MAX_WRONG))
    lowest = max(float(np.quantile(places, wrong)), 0.5 * float(np.median(places) + np.median(rival_places)))
    fitting = right_probabilities(places, rival_places, (places >= lowest).astype(np.float64), wrong)
    measures = [fitting]
    for own, rival in (("added", "rival_added"), ("missing", "rival_missing")):
        margins, rival_margins = (
            np.array([getattr(one.edits, name) for one in found.values()]) for name in (own, rival)
        )
        measures.append(right_probabilities(margins, rival_margins, fitting, EDITED))
    return {name: Trust(*values) for name, values in zip(found, np.column_stack(measures).tolist(), strict=True)}


def right_probabilities(values: np.ndarray, rivals: np.ndarray, weights: np.ndarray, wrong: float) -> np.ndarray:
    """Return the probabilities that transcripts are right, float64 (n,), which never fall with `values`.

    Parameters
    ----------
    values : float64 (n,)
        Fit of the transcripts. For values that are not finite the probability is 1 - `wrong`.
    rivals : float64 (m,)
        The same for wrong transcripts. Without finite ones, all probabilities are 1.
    weights : float64 (n,)
        Weights of the transcripts in the regression.
    wrong : float
        Fraction of wrong transcripts.
    """
    known = np.isfinite(values)
    rivals = rivals[np.isfinite(rivals)]
    if not known.any() or not len(rivals):
        return np.ones(len(values))
    counts, n_rivals = np.maximum(_TINY, weights[known]), len(rivals)
    sigmoid = PlattOutputModel().fit(
        np.concatenate([values[known], rivals])[:, None],
        np.repeat([1, 0], [len(counts), n_rivals]),
        np.append(counts * (n_rivals / counts.sum()), np.ones(n_rivals)),  # equal totals: the odds of equal classes
    )
    log_odds = sigmoid.slopes_[0] * values[known] + sigmoid.offsets_[0] + np.log1p(-wrong) - np.log(wrong)
    probabilities = np.full(len(values), 1.0 - wrong)
    probabilities[known] = expit(log_odds)
    return probabilities
