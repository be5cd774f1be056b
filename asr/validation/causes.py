"""A fault that nearly all lines of a list have has one cause, such as a folder that is elsewhere: it is one finding."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from asr.corpus.data_directory import Places, parse_matrix_place
from asr.errors import LONGEST_MESSAGE, printable
from asr.validation.directory import Directory
from asr.validation.findings import FEWEST_CASES, NEARLY_ALL, Finding


def with_one_cause(directory: Directory, findings: Iterable[Finding], *, training: bool) -> Iterator[Finding]:
    """One finding, with two examples, in the place of those that nearly all lines of a list have alike.

    Alike are those of one code with the same remedy. Where files are missing and all of them are found from another
    folder, the remedy names it. The finding stops a training of which it leaves nothing.
    """
    kinds: dict[tuple[Path, str, str], list[Finding]] = {}
    for finding in findings:
        kinds.setdefault((finding.file, finding.code, finding.remedy), []).append(finding)
    for (file, code, _), alike in kinds.items():
        n_lines = len(directory.entries(file.name))
        if len(alike) < max(FEWEST_CASES, NEARLY_ALL * n_lines):
            yield from alike
            continue
        found = _one_of(alike, n_lines, _root_remedy(directory, alike) if code == "missing-file" else "")
        yield replace(found, stops=training and len(found.utterances) == len(directory.listed))


def _one_of(alike: Sequence[Finding], n_lines: int, remedy: str) -> Finding:
    first, second = sorted(alike, key=lambda finding: finding.line or 0)[:2]
    remedy = remedy or first.remedy
    room = (LONGEST_MESSAGE - len(remedy) - 100) // 2
    message = (
        f"{len(alike):,} of {n_lines:,} lines have the same fault: {printable(first.fact, room)}, and in line "
        f"{second.line} {printable(second.fact, room)}{f'; {remedy}' if remedy else ''}"
    )
    utterances = {name for finding in alike for name in finding.utterances}
    return replace(first, message=message, utterances=tuple(sorted(utterances)))


def _root_remedy(directory: Directory, missing: Sequence[Finding]) -> str:
    """The root to give where all the missing files are found from one; empty where there is none."""
    file, lines = missing[0].file, {finding.line for finding in missing}
    entries = {key: entry for key, entry in directory.entries(file.name).items() if entry.line in lines}
    if file.name == "feats.scp":
        names = {parse_matrix_place(file, key, entry)[0] for key, entry in entries.items()}
    else:
        names = {entry.value for entry in entries.values()}
    return Places(directory.path).root_of(names)
