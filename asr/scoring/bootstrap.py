"""Bootstrap confidence of error rates (Bisani and Ney, ICASSP 2004), redrawing utterances or speakers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from asr.scoring.wer import ScoreReport
from asr.util.errors import CorpusError

Unit = Literal["utterance", "speaker"]

MIN_SPEAKERS = MIN_UTTERANCES = 5
"""That are redrawn for an interval: fewer say nothing of others."""

_BLOCK = 1 << 20  # draws held in memory at a time


@dataclass(frozen=True, slots=True)
class Interval:
    """A word error rate (or difference of two) in % with its bootstrap confidence interval [low, high]."""

    value: float
    low: float
    high: float
    level: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """System A beside system B on the same utterances.

    Attributes
    ----------
    difference : WER of A minus WER of B, in percentage points, with its interval
    probability_a_better : share of redrawn test sets on which A makes fewer errors than B; ties count half
    """

    difference: Interval
    probability_a_better: float


def wer_interval(
    report: ScoreReport,
    *,
    level: float = 0.95,
    replicates: int = 10_000,
    seed: int = 0,
    unit: Unit = "utterance",
) -> Interval:
    """Percentile bootstrap interval of the word error rate.

    Parameters
    ----------
    level : share of the redrawn word error rates inside the interval, 0 < level < 1
    replicates : number of test sets drawn, with replacement, each of as many units as the real one
    unit : what is drawn; "speaker" allows for the errors of one speaker going together

    Raises
    ------
    CorpusError
        When there are no reference words.
    """
    counts = _counts_per_unit([report], unit)
    rates = np.concatenate([errors[:, 0] / words for errors, words in _redraw(counts, replicates, seed)])
    return _interval(report.wer, 100.0 * rates, level)


def over_utterances(report: ScoreReport, level: float = 0.95) -> str:
    """Return the interval that other utterances would give, in brackets, or why there is none."""
    spoken = sum(utterance.counts.words > 0 for utterance in report.utterances)
    if spoken < MIN_UTTERANCES:
        return f"[no interval: utterances with words are {spoken}, and {MIN_UTTERANCES} or more are needed]"
    interval = wer_interval(report, level=level)
    return f"[{interval.low:.2f}, {interval.high:.2f}] at {100 * level:g} %"


def over_speakers(report: ScoreReport, level: float = 0.95) -> str:
    """Return a sentence with the interval that other speakers would give, or why there is none."""
    if not report.words:
        return "Speakers: no interval, because the references have no words"
    speakers = len(report.speakers())
    if speakers < MIN_SPEAKERS:
        return f"Speakers: {speakers}; how others would fare can be told from {MIN_SPEAKERS} or more"
    interval = wer_interval(report, level=level, unit="speaker")
    return f"Redrawing the {speakers} speakers: [{interval.low:.2f}, {interval.high:.2f}] at {100 * level:g} %"


def wer_standard_error(
    report: ScoreReport, *, replicates: int = 10_000, seed: int = 0, unit: Unit = "utterance"
) -> float:
    """Standard deviation of the redrawn word error rates, in percentage points; parameters and errors as above."""
    counts = _counts_per_unit([report], unit)
    rates = np.concatenate([errors[:, 0] / words for errors, words in _redraw(counts, replicates, seed)])
    return float(100.0 * rates.std())


def compare_systems(
    a: ScoreReport,
    b: ScoreReport,
    *,
    level: float = 0.95,
    replicates: int = 10_000,
    seed: int = 0,
    unit: Unit = "utterance",
) -> Comparison:
    """Paired bootstrap of two systems, scored on the same redrawn test sets (Bisani and Ney, section 3).

    Parameters are those of `wer_interval`.

    Raises
    ------
    CorpusError
        When the two reports do not cover the same references, or there are no reference words.
    """
    references = [[(u.id, u.speaker, u.counts.words) for u in report.utterances] for report in (a, b)]
    if references[0] != references[1]:
        odd = sorted(set(references[0]) ^ set(references[1]))[0]
        raise CorpusError(f"the systems were scored on different references, such as {odd[0]}; score both on one set")
    counts = _counts_per_unit([a, b], unit)
    differences, better = [], 0.0
    for errors, words in _redraw(counts, replicates, seed):
        gap = errors[:, 0] - errors[:, 1]
        differences.append(100.0 * gap / words)
        better += np.count_nonzero(gap < 0) + 0.5 * np.count_nonzero(gap == 0)
    difference = np.concatenate(differences)
    return Comparison(_interval(a.wer - b.wer, difference, level), float(better / len(difference)))


def _counts_per_unit(reports: list[ScoreReport], unit: Unit) -> NDArray[np.int64]:
    """(n_units, n_systems + 1): errors of each system, then reference words."""
    columns = [[u.counts.errors for u in report.utterances] for report in reports]
    columns.append([u.counts.words for u in reports[0].utterances])
    counts = np.array(columns, dtype=np.int64).T
    if not counts[:, -1].any():
        raise CorpusError("a confidence interval needs reference words, and no reference has any")
    if unit == "utterance":
        return counts
    _, speaker = np.unique([u.speaker for u in reports[0].utterances], return_inverse=True)
    pooled = np.zeros((speaker.max() + 1, counts.shape[1]), dtype=np.int64)
    np.add.at(pooled, speaker, counts)
    return pooled


def _redraw(
    counts: NDArray[np.int64], replicates: int, seed: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield blocks of (errors (n, n_systems), words (n,)) of redrawn test sets that have a word."""
    generator = np.random.default_rng(seed)
    n_units = len(counts)
    block = max(1, _BLOCK // n_units)
    for start in range(0, replicates, block):
        drawn = generator.integers(n_units, size=(min(block, replicates - start), n_units), dtype=np.int32)
        sums = np.stack([column[drawn].sum(axis=1) for column in counts.T], axis=1)
        sums = sums[sums[:, -1] > 0]
        yield sums[:, :-1], sums[:, -1]


def _interval(value: float, rates: NDArray[np.float64], level: float) -> Interval:
    low, high = np.quantile(rates, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(value, float(low), float(high), level)
