"""Comparison of transcripts without letter case."""

from collections.abc import Mapping, Sequence

from asr.scoring.alternatives import Reference, mapped
from asr.scoring.wer import ScoreReport, score_utterances


def without_case(
    references: Mapping[str, Reference], hypotheses: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Reference], dict[str, Sequence[str]]]:
    """Return references and hypotheses with case-folded words (Unicode)."""
    folded: dict[str, Reference] = {name: mapped(words, str.casefold) for name, words in references.items()}
    return folded, {name: tuple(map(str.casefold, words)) for name, words in hypotheses.items()}


def case_hint(report: ScoreReport, references: Mapping[str, Reference], hypotheses: Mapping[str, Sequence[str]]) -> str:
    """Return a hint if at least half of the errors vanish without letter case; otherwise ""."""
    said = {word for words in references.values() for word in words}
    folded = {word.casefold() for word in said}
    strange = {word for words in hypotheses.values() for word in words} - said
    if not any(word.casefold() in folded for word in strange):
        return ""
    left = score_utterances(*without_case(references, hypotheses)).errors
    if 2 * left > report.errors:
        return ""
    return (
        f"{report.errors - left:,} of the {report.errors:,} errors are differences in letter case. Use "
        "--ignore-case (ignore_case=True) to ignore them"
    )
