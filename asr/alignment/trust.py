"""Probability that a transcript is right, from three measures of its fit and those of rivals on the same frames.

The measures are the position of the score between those of other transcripts (0) and the usual score (1), and the two
margins of `asr.alignment.word_edits`. For each, logistic regression with smoothed targets (Platt 1999) separates the
transcripts from their rivals, which are wrong. The transcripts are weighted by their probability of being right, and
this probability and the fraction of wrong ones are estimated alternately by expectation maximization, so that many
wrong transcripts do not hide each other. The trust is the product of the three.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from asr.alignment.transcript_scores import TranscriptScore

WRONG = 0.05  # fraction of wrong transcripts before the first iteration, unless rivals fit better than that
MIN_WRONG, MAX_WRONG = 0.002, 0.95
ITERATIONS = 15
MIN_DISTANCE = 0.25  # of an utterance's rivals from the usual score, relative to the usual distance

_NEWTON_STEPS, _RIDGE, _TINY = 30, 1e-6, 1e-9


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
    """Return the trust in every transcript; nothing if there are no rivals."""
    rivals = [one.rivals for one in found.values()]
    n_rivals = sum(map(len, rivals))
    if not n_rivals:
        return {}
    wrong = max(WRONG, 2.0 * (1.0 - sum(one.beaten for one in found.values()) / n_rivals))
    scores = np.array([one.score for one in found.values()])
    overall = float(np.median(np.concatenate(rivals)))
    usual = float(np.median(scores))
    centers = np.array([np.median(own) if len(own) else overall for own in rivals])
    distances = np.maximum(usual - centers, max(_TINY, MIN_DISTANCE * (usual - overall)))
    rival_places = [(own - center) / distance for own, center, distance in zip(rivals, centers, distances, strict=True)]
    fitting = right_probabilities((scores - centers) / distances, np.concatenate(rival_places), wrong=wrong)
    measures = [fitting]
    for own, rival in (("added", "rival_added"), ("missing", "rival_missing")):
        margins, rival_margins = (
            np.array([getattr(one.edits, name) for one in found.values()]) for name in (own, rival)
        )
        measures.append(right_probabilities(margins, rival_margins, fitting))
    return {name: Trust(*values) for name, values in zip(found, np.column_stack(measures).tolist(), strict=True)}


def right_probabilities(
    values: np.ndarray, rivals: np.ndarray, weights: np.ndarray | None = None, *, wrong: float = WRONG
) -> np.ndarray:
    """Return the probabilities that transcripts are right, float64 (n,), which never fall with `values`.

    Parameters
    ----------
    values : float64 (n,)
        Fit of the transcripts. Where it is not finite, the probability is the fraction of right transcripts.
    rivals : float64 (m,)
        The same for wrong transcripts. Without finite ones, all probabilities are 1.
    weights : float64 (n,), optional
        Weights of the transcripts in the estimates.
    wrong : float
        Fraction of wrong transcripts before the first iteration.
    """
    known = np.isfinite(values)
    rivals = rivals[np.isfinite(rivals)]
    if not known.any() or not len(rivals):
        return np.ones(len(values))
    weights = np.maximum(_TINY, np.ones(int(known.sum())) if weights is None else weights[known])
    samples = np.concatenate([values[known], rivals])
    right = np.ones(len(weights))
    wrong = float(np.clip(wrong, MIN_WRONG, MAX_WRONG))
    for _ in range(ITERATIONS):
        counts = weights * right
        total, n_rivals = float(counts.sum()), len(rivals)
        targets = np.repeat([(total + 1.0) / (total + 2.0), 1.0 / (total + 2.0)], [len(right), n_rivals])
        slope, offset = _logistic(samples, targets, np.append(counts, np.full(n_rivals, total / n_rivals)))
        log_odds = slope * values[known] + offset + np.log1p(-wrong) - np.log(wrong)
        right = 1.0 / (1.0 + np.exp(-log_odds.clip(-500.0, 500.0)))
        wrong = float(np.clip(1.0 - (weights * right).sum() / weights.sum(), MIN_WRONG, MAX_WRONG))
    probabilities = np.full(len(values), 1.0 - wrong)
    probabilities[known] = right
    return probabilities


def _logistic(values: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return slope, at least 0, and offset of a weighted logistic regression by Newton's method."""
    mean = np.average(values, weights=weights)
    spread = np.sqrt(np.average(np.square(values - mean), weights=weights)) + _TINY
    inputs = np.column_stack([(values - mean) / spread, np.ones(len(values))])
    solution = np.zeros(2)
    for _ in range(_NEWTON_STEPS):
        odds = 1.0 / (1.0 + np.exp(-(inputs @ solution).clip(-30.0, 30.0)))
        gradient = inputs.T @ (weights * (odds - targets)) + _RIDGE * solution
        curvature = (inputs * (weights * odds * (1.0 - odds))[:, None]).T @ inputs + _RIDGE * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        solution -= step / max(1.0, float(np.abs(step).max()) / 2.0)
    slope = max(0.0, float(solution[0]) / spread)
    return slope, float(solution[1] - slope * mean) if slope > 0.0 else 0.0
