"""Merging of a fault shared by nearly all lines of a list, which has one cause, such as a moved folder."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from asr.corpus.data_directory import DataLists
from asr.util.errors import MAX_MESSAGE_LENGTH, Issue, printable
from asr.validation.findings import MIN_CASES, NEARLY_ALL


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
