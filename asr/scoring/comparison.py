"""Tests whether one system makes fewer errors than another on the same utterances.

Sources: L. Gillick and S. Cox, "Some statistical issues in the comparison of speech recognition algorithms" (ICASSP
1989): matched pairs and McNemar's test; F. Wilcoxon (1945): signed ranks; S. Holm (1979): several comparisons.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np

from asr.scoring.bootstrap import MIN_SPEAKERS, MIN_UTTERANCES, Unit, compare_systems
from asr.scoring.wer import Pair, ScoreReport, UtteranceScore
from asr.util.display import html_table

MIN_GOOD = 2
"""Words that both systems recognize correctly, which separate two segments."""


@dataclass(frozen=True, slots=True)
class PairTest:
    """Tests of one pair of systems; differences are A minus B, and the p-values are two-sided.

    Attributes
    ----------
    a, b : str
        Names of the systems.
    difference : float
        Difference of the word error rates in percentage points.
    interval : (float, float) or None
        Bootstrap interval of the difference; None with fewer than 5 utterances with words.
    segments : int
        Segments in which at least one system makes an error.
    matched_pairs : float
        p-value of the matched-pairs test on the errors of the segments.
    mcnemar : float
        p-value of McNemar's exact test on the sentences that only one system recognizes correctly.
    wilcoxon : float or None
        p-value of the signed-rank test on the speakers' word error rates; None with fewer than 5 speakers.
    """

    a: str
    b: str
    difference: float
    interval: tuple[float, float] | None
    segments: int
    matched_pairs: float
    mcnemar: float
    wilcoxon: float | None


@dataclass(frozen=True, repr=False)
class SystemComparison:
    """Scores of systems on the same utterances, and tests of all pairs.

    Attributes
    ----------
    reports : mapping of str to ScoreReport
        Scores by name of the system.
    pairs : tuple of PairTest
        All pairs in the order of the systems. With more than two systems, the p-values are corrected (Holm 1979).
    unit : "speaker" or "utterance"
        Unit that the bootstrap redraws: speakers if there are at least 5, otherwise utterances.
    level : float
        Confidence level of the intervals.

    Examples
    --------
    >>> import asr
    >>> made = asr.compare(["ONE TWO", "TWO"], {"A": ["ONE TWO", "TWO"], "B": ["ONE", "TWO"]})
    >>> made.pairs[0].mcnemar, made.unit
    (1.0, 'utterance')
    """

    reports: Mapping[str, ScoreReport]
    pairs: tuple[PairTest, ...]
    unit: Unit
    level: float

    @property
    def conclusions(self) -> list[str]:
        """A sentence for each pair, from the matched-pairs test."""
        return [self._conclusion(pair) for pair in self.pairs]

    def as_dict(self) -> dict[str, Any]:
        """Return systems, pairs, unit, level and conclusions, for JSON."""
        return {
            "systems": [{"name": name, **report.as_row()} for name, report in self.reports.items()],
            "pairs": [asdict(pair) for pair in self.pairs],
            "corrected": "holm" if len(self.pairs) > 1 else None,
            "unit": self.unit,
            "level": self.level,
            "conclusions": self.conclusions,
        }

    def __repr__(self) -> str:
        return f"<SystemComparison of {', '.join(self.reports)}>"

    def __str__(self) -> str:
        return "\n".join(self.conclusions)

    def _repr_html_(self) -> str:
        """Return a table of the systems, and the conclusions, for notebooks."""
        rows = [
            (name, one.wer, one.ser, one.words, one.errors, one.substitutions, one.deletions, one.insertions)
            for name, one in self.reports.items()
        ]
        columns = ("System", "WER %", "SER %", "Words", "Errors", "Substituted", "Deleted", "Inserted")
        return html_table("Comparison", columns, rows, self.conclusions)

    def _conclusion(self, pair: PairTest) -> str:
        better, worse = sorted((pair.a, pair.b), key=lambda name: self.reports[name].errors)
        fact = f"{better} makes fewer errors than {worse}"
        if pair.matched_pairs > 1 - self.level:
            fact = f"No significant difference between {better} and {worse}"
        p = "p < 0.001" if pair.matched_pairs < 0.001 else f"p = {pair.matched_pairs:.3f}"
        how = "matched pairs, Holm" if len(self.pairs) > 1 else "matched pairs"
        return f"{fact}: {self.reports[better].wer:.2f} % vs {self.reports[worse].wer:.2f} % WER, {p} ({how})"


def compare_reports(reports: Mapping[str, ScoreReport], *, level: float = 0.95, seed: int = 0) -> SystemComparison:
    """Compare at least two systems in pairs, with Holm's correction if there are more than two.

    Raises CorpusError if the reports have different references, or no reference words.

    Parameters
    ----------
    reports : mapping of str to ScoreReport
        Scores by name of the system, on the same utterances.
    level : float
        Confidence level, 0 < level < 1.
    seed : int
        Seed of the bootstrap.
    """
    report = next(iter(reports.values()))
    by_speaker = len(report.speakers()) >= MIN_SPEAKERS
    unit: Unit = "speaker" if by_speaker else "utterance"
    has_interval = by_speaker or sum(one.counts.words > 0 for one in report.utterances) >= MIN_UTTERANCES
    pairs = []
    for (a, first), (b, second) in combinations(reports.items(), 2):
        gap = compare_systems(first, second, level=level, seed=seed, unit=unit).difference
        errors = segment_differences(first, second)
        pairs.append(
            PairTest(
                a,
                b,
                gap.value,
                (gap.low, gap.high) if has_interval else None,
                len(errors),
                matched_pairs_p(errors),
                mcnemar_p(first, second),
                wilcoxon_p(first, second) if by_speaker else None,
            )
        )
    if len(pairs) > 1:
        matched, sentences = (holm([getattr(pair, name) for pair in pairs]) for name in ("matched_pairs", "mcnemar"))
        ranked = holm([1.0 if pair.wilcoxon is None else pair.wilcoxon for pair in pairs])
        pairs = [
            replace(pair, matched_pairs=p, mcnemar=q, wilcoxon=None if pair.wilcoxon is None else r)
            for pair, p, q, r in zip(pairs, matched, sentences, ranked, strict=True)
        ]
    return SystemComparison(dict(reports), tuple(pairs), unit, level)


def segment_differences(a: ScoreReport, b: ScoreReport) -> list[int]:
    """Return errors of A minus errors of B in each segment with errors (Gillick and Cox 1989, section 4).

    A segment ends where both systems recognize at least `MIN_GOOD` words in a row, or with the utterance. If the
    systems are scored on different readings of a reference, the utterance is one segment.
    """
    differences = []
    for one, other in zip(a.utterances, b.utterances, strict=True):
        differences += _segments_of(one, other)
    return differences


def _segments_of(one: UtteranceScore, other: UtteranceScore) -> list[int]:
    readings = [[ref for ref, _ in utterance.pairs if ref is not None] for utterance in (one, other)]
    if readings[0] != readings[1]:
        return [one.counts.errors - other.counts.errors] if one.counts.errors or other.counts.errors else []
    differences: list[int] = []
    good = MIN_GOOD
    for first, second in zip(_errors_by_place(one.pairs), _errors_by_place(other.pairs), strict=True):
        for place in (0, 1):  # the insertions before a word, then the word
            if first[place] or second[place]:
                if good >= MIN_GOOD:
                    differences.append(0)
                differences[-1] += first[place] - second[place]
                good = 0
            else:
                good += place
    return differences


def _errors_by_place(pairs: Sequence[Pair]) -> Iterator[tuple[int, int]]:
    """Yield the insertions before each reference word and whether it is wrong, then those at the end and 0."""
    inserted = 0
    for ref, hyp in pairs:
        if ref is None:
            inserted += 1
        else:
            yield inserted, int(ref != hyp)
            inserted = 0
    yield inserted, 0


def matched_pairs_p(differences: Sequence[int]) -> float:
    """Return the two-sided p-value that the mean difference of the segments is 0 (normal approximation).

    If all differences are equal, they have no variance; the p-value is then that of random signs, 2 / 2^n.
    """
    from scipy.stats import norm

    n = len(differences)
    spread = float(np.std(differences, ddof=1)) if n > 1 else 0.0
    if spread:
        return float(2.0 * norm.sf(abs(np.mean(differences)) / (spread / sqrt(n))))
    return 1.0 if n == 0 or differences[0] == 0 else 2.0 ** (1 - n)


def mcnemar_p(a: ScoreReport, b: ScoreReport) -> float:
    """Return the p-value of McNemar's exact test: sentences that only A, or only B, recognizes without error."""
    from scipy.stats import binomtest

    pairs = [
        (one.counts.errors == 0, other.counts.errors == 0)
        for one, other in zip(a.utterances, b.utterances, strict=True)
    ]
    only_a, only_b = pairs.count((True, False)), pairs.count((False, True))
    return float(binomtest(only_a, only_a + only_b).pvalue) if only_a + only_b else 1.0


def wilcoxon_p(a: ScoreReport, b: ScoreReport) -> float:
    """Return the p-value of Wilcoxon's signed-rank test on the word error rates of speakers with words."""
    from scipy.stats import wilcoxon

    gaps = [
        one.counts.wer - other.counts.wer
        for one, other in zip(a.speakers(), b.speakers(), strict=True)
        if one.counts.words and other.counts.words
    ]
    ranked = [round(gap, 9) for gap in gaps if round(gap, 9)]
    return float(wilcoxon(ranked).pvalue) if ranked else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for several comparisons (Holm 1979): the family-wise error rate stays bounded."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(np.argsort(p_values, kind="stable")):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = largest
    return adjusted
