"""Issues found by checks: their lines in a report, and one issue for a fault shared by nearly all lines."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from asr.corpus.data_directory import DataLists
from asr.util.errors import MAX_MESSAGE_LENGTH, Issue, Severity, printable

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


def with_one_cause(directory: DataLists, findings: Iterable[Issue], *, training: bool) -> Iterator[Issue]:
    """Replace equal findings of nearly all lines of a list by one, with two examples.

    Equal findings have the same code and remedy. The merged finding stops training if no utterance remains.
    """
    kinds: dict[tuple[Path | None, str, str], list[Issue]] = {}
    for finding in findings:
        kinds.setdefault((finding.path, finding.code, finding.remedy), []).append(finding)
    for (path, _, _), alike in kinds.items():
        given = directory.lists.get("" if path is None else path.name)
        n_lines = 0 if given is None else given.n_lines
        if len(alike) < max(MIN_CASES, NEARLY_ALL * n_lines):
            yield from alike
            continue
        found = _one_of(alike, n_lines)
        costs_all = training and len(found.utterances) == len(directory.listed)
        yield replace(found, stops=found.stops or costs_all)


def _one_of(alike: Sequence[Issue], n_lines: int) -> Issue:
    first, second = sorted(alike, key=lambda finding: finding.line or 0)[:2]
    remedy = first.remedy
    room = (MAX_MESSAGE_LENGTH - len(remedy) - 100) // 2
    message = (
        f"{len(alike):,} of {n_lines:,} lines have the same problem: {printable(first.fact, room)}, and in line "
        f"{second.line} {printable(second.fact, room)}{f'; {remedy}' if remedy else ''}"
    )
    utterances = {name for finding in alike for name in finding.utterances}
    return replace(first, message=message, utterances=tuple(sorted(utterances)))
