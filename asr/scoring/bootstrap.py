"""Bootstrap confidence intervals of error rates (Bisani and Ney, ICASSP 2004), over utterances or speakers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from asr.scoring.wer import ScoreReport
from asr.util.errors import CorpusError

Unit = Literal["utterance", "speaker"]

MIN_SPEAKERS = MIN_UTTERANCES = 5
"""Minimum number of units for an interval."""

_BLOCK = 1 << 20  # draws in memory at a time


@dataclass(frozen=True, slots=True)
class Interval:
    """Word error rate (or difference of two) in % with its bootstrap confidence interval [low, high]."""

    value: float
    low: float
    high: float
    level: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of systems A and B on the same utterances.

    Attributes
    ----------
    difference : Interval
        WER of A minus WER of B, in percentage points.
    probability_a_better : float
        Fraction of bootstrap samples in which A makes fewer errors than B; ties count half.
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
    """Return the percentile bootstrap interval of the word error rate.

    Without errors in n words, its upper end is 1 - (1 - level)^(1 / n), that of independent words (Clopper and Pearson
    1934), because the bootstrap has no errors to draw.

    Raises CorpusError without reference words, and by speaker if there are fewer than two speakers.

    Parameters
    ----------
    level : float
        Coverage of the interval, 0 < level < 1.
    replicates : int
        Number of bootstrap samples, each with as many units as the test set.
    unit : "utterance" or "speaker"
        Resampling unit; "speaker" accounts for the correlation of a speaker's errors.
    """
    counts = _counts_per_unit([report], unit)
    if not report.errors:
        return Interval(0.0, 0.0, 100.0 * (1.0 - (1.0 - level) ** (1.0 / report.words)), level)
    rates = np.concatenate([errors[:, 0] / words[:, 0] for errors, words in _redraw(counts, replicates, seed)])
    return _interval(report.wer, 100.0 * rates, level)


def over_utterances(report: ScoreReport, level: float = 0.95) -> str:
    """Return the bootstrap interval over utterances in brackets, or why it is missing."""
    spoken = sum(utterance.counts.words > 0 for utterance in report.utterances)
    if spoken < MIN_UTTERANCES:
        return f"[no interval: {spoken} utterances with words, at least {MIN_UTTERANCES} needed]"
    interval = wer_interval(report, level=level)
    return f"[{interval.low:.2f}, {interval.high:.2f}] at {100 * level:g} %"


def over_speakers(report: ScoreReport, level: float = 0.95) -> str:
    """Return a sentence with the bootstrap interval over speakers, or why it is missing."""
    if not report.words:
        return "Speakers: no interval, because the references have no words"
    speakers = len(report.speakers())
    if speakers < MIN_SPEAKERS:
        return f"Speakers: no interval, because there are {speakers} and at least {MIN_SPEAKERS} are needed"
    interval = wer_interval(report, level=level, unit="speaker")
    return f"Redrawing the {speakers} speakers: [{interval.low:.2f}, {interval.high:.2f}] at {100 * level:g} %"


def wer_standard_error(
    report: ScoreReport, *, replicates: int = 10_000, seed: int = 0, unit: Unit = "utterance"
) -> float:
    """Return the bootstrap standard error of the word error rate in percentage points; see `wer_interval`."""
    counts = _counts_per_unit([report], unit)
    rates = np.concatenate([errors[:, 0] / words[:, 0] for errors, words in _redraw(counts, replicates, seed)])
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
    """Compare two systems by a paired bootstrap (Bisani and Ney, section 3); parameters as in `wer_interval`.

    Raises CorpusError if the reports have different references, no reference words, or one speaker (by speaker).
    """
    references = [
        [(u.id, u.speaker, None if u.has_alternatives else u.counts.words) for u in report.utterances]
        for report in (a, b)
    ]
    if references[0] != references[1]:
        odd = sorted(set(references[0]) ^ set(references[1]))[0]
        raise CorpusError(f"the systems have different references, such as {odd[0]}. Score both on the same references")
    counts = _counts_per_unit([a, b], unit)
    differences, better = [], 0.0
    for errors, words in _redraw(counts, replicates, seed):
        gap = errors[:, 0] - errors[:, 1]
        rates = errors / words
        same = words[:, 0] == words[:, 1]
        differences.append(np.where(same, 100.0 * gap / words[:, 0], 100.0 * (rates[:, 0] - rates[:, 1])))
        better += np.count_nonzero(gap < 0) + 0.5 * np.count_nonzero(gap == 0)
    difference = np.concatenate(differences)
    return Comparison(_interval(a.wer - b.wer, difference, level), float(better / len(difference)))


def _counts_per_unit(reports: list[ScoreReport], unit: Unit) -> NDArray[np.int64]:
    """Return (n_units, 2 n_systems): errors of each system, then the words of each, which vary with alternatives."""
    columns = [[u.counts.errors for u in report.utterances] for report in reports]
    columns += [[u.counts.words for u in report.utterances] for report in reports]
    counts = np.array(columns, dtype=np.int64).T
    if not all(report.words for report in reports):
        raise CorpusError("a confidence interval needs reference words, but the references have none")
    if unit == "utterance":
        return counts
    names, speaker = np.unique([u.speaker for u in reports[0].utterances], return_inverse=True)
    if len(names) < 2:
        raise CorpusError(f"an interval over speakers needs at least two, but all utterances are of {names[0]}")
    pooled = np.zeros((speaker.max() + 1, counts.shape[1]), dtype=np.int64)
    np.add.at(pooled, speaker, counts)
    return pooled


def _redraw(
    counts: NDArray[np.int64], replicates: int, seed: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield blocks of errors and words, both (n, n_systems), of bootstrap samples with at least one word."""
    generator = np.random.default_rng(seed)
    n_units = len(counts)
    block = max(1, _BLOCK // n_units)
    for start in range(0, replicates, block):
        drawn = generator.integers(n_units, size=(min(block, replicates - start), n_units), dtype=np.int32)
        sums = np.stack([column[drawn].sum(axis=1) for column in counts.T], axis=1)
        errors, words = np.hsplit(sums, 2)
        spoken = words.all(axis=1)
        yield errors[spoken], words[spoken]


def _interval(value: float, rates: NDArray[np.float64], level: float) -> Interval:
    low, high = np.quantile(rates, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(value, float(low), float(high), level)
