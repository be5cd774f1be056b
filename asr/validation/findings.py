"""Issues found by checks, and their lines in a report."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from asr.util.errors import Issue, Severity

MIN_CASES, NEARLY_ALL = 3, 0.9
"""Number of faults, and fraction of the possible ones, from which they are merged into one finding."""


def of_settings(issue: Issue) -> bool:
    """Whether this is an issue of the settings."""
    return issue.code in ("settings", "classifier", "noise")


def stopping(code: str, file: Path, line: int | None, message: str) -> Issue:
    """Return an error that prevents training."""
    return Issue(code, message, path=file, line=line, stops=True)


def costing(code: str, file: Path, line: int | None, message: str, utterances: Iterable[str]) -> Issue:
    """Return an error that leaves out utterances."""
    return Issue(code, message, path=file, line=line, utterances=tuple(sorted(utterances)))


def warning(code: str, file: Path, line: int | None, message: str) -> Issue:
    """Return a warning."""
    return Issue(code, message, "warning", file, line)


MAX_LINES = 20
"""Maximum number of lines per kind of finding in a report."""


def lines_by_kind(findings: Iterable[Issue]) -> Iterator[str]:
    """Yield a line for each finding, grouped by kind; shared remedies follow their lines.

    At most `MAX_LINES` per kind are shown, with the number of others. Kinds are in order of their first findings.
    Within a kind, findings with shared remedies come first, so that "each of these" refers to the lines above;
    otherwise the order is kept.
    """
    kinds: dict[tuple[Severity, str], dict[str, list[Issue]]] = {}
    for finding in findings:
        of_kind = kinds.setdefault((finding.severity, finding.code), {})
        of_kind.setdefault(finding.remedy, []).append(finding)
    for (_, code), of_kind in kinds.items():
        left = MAX_LINES
        for remedy, alike in sorted(of_kind.items(), key=lambda item: not item[0] or len(item[1]) == 1):
            shown, left = alike[:left], max(0, left - len(alike))
            if not remedy or len(alike) == 1:
                yield from map(str, shown)
                continue
            for finding in shown:
                yield str(replace(finding, message=finding.fact))
            if shown:
                yield f"  for each of these {len(alike):,}: {remedy}"
        n_more = sum(map(len, of_kind.values())) - MAX_LINES
        if n_more > 0:
            yield f"  and {n_more:,} more of the kind {code} (asr validate --json or as_json() lists all)"
