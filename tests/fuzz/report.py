"""What the fuzzer prints: a line while it works, a table, and the findings."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.fuzz.hunt import Tally


def progress_line(number: int, n_readers: int, findings: int) -> Callable[[Tally], None] | None:
    """Something that shows how far one reader is, on a terminal; None elsewhere."""
    if not sys.stderr.isatty():
        return None

    def show(tally: Tally) -> None:
        found = findings + len(tally.findings)
        line = f"{number}/{n_readers} {tally.reader}: {tally.inputs} inputs; findings so far: {found}"
        print(f"\r{line[:100]:<100}", end="", file=sys.stderr, flush=True)

    return show


def end_progress() -> None:
    """Leave the terminal's line empty."""
    if sys.stderr.isatty():
        print(f"\r{'':<100}\r", end="", file=sys.stderr, flush=True)


def table(tallies: Sequence[Tally]) -> str:
    """A line a reader: inputs, accepted, refused, findings (causes), inputs with findings."""
    width = max(len("reader"), *(len(tally.reader) for tally in tallies))
    lines = [f"{'reader':<{width}}  {'inputs':>8}  {'accepted':>8}  {'refused':>8}  findings"]
    for tally in tallies:
        texts = str(len(tally.findings)) if tally.findings else "-"
        lines.append(f"{tally.reader:<{width}}  {tally.inputs:>8}  {tally.accepted:>8}  {tally.refused:>8}  {texts:>8}")
    total = [sum(column) for column in zip(*((t.inputs, t.accepted, t.refused) for t in tallies), strict=True)]
    findings = sum(len(tally.findings) for tally in tallies)
    lines.append(f"{'all':<{width}}  {total[0]:>8}  {total[1]:>8}  {total[2]:>8}  {findings:>8}")
    return "\n".join(lines)


def texts(tallies: Sequence[Tally], folder: Path | None) -> str:
    """Every finding; with a folder, saved there as a file, which is named."""
    parts = []
    for tally in tallies:
        for finding in sorted(tally.findings.values(), key=lambda one: (one.kind, one.signature)):
            place = f"saved as {finding.save(folder)}\n" if folder is not None else ""
            parts.append(finding.texts() + place)
    return "\n".join(parts)
