"""Findings of checks: place, code and message."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from asr.util.errors import printable, sentence

Severity = Literal["error", "warning"]

MIN_CASES, NEARLY_ALL = 3, 0.9
"""Number of faults, and fraction of the possible ones, from which they are merged into one finding."""


@dataclass(frozen=True)
class Finding:
    """An error, or something that is probably unintended.

    Attributes
    ----------
    severity : {"error", "warning"}
        "error": unusable in training; "warning": usable, but suspicious.
    code : str
        Short name for programs; the one in failed.tsv if utterances are left out.
    file : path
    line : int or None
        From 1; None for the whole file.
    message : str
        Printable sentence without the place.
    utterances : tuple of str
        Utterances left out because of it, sorted.
    stops : bool
        Whether it prevents training.

    Examples
    --------
    >>> from pathlib import Path
    >>> from asr.validation import Finding
    >>> Finding("error", "no-audio", Path("data/wav.scp"), 3, "the file does not exist").place
    'data/wav.scp:3'
    """

    severity: Severity
    code: str
    file: Path
    line: int | None
    message: str
    utterances: tuple[str, ...] = ()
    stops: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", sentence(self.message))

    @property
    def place(self) -> str:
        """Place as `DIR/wav.scp:17`."""
        name = printable(str(self.file))
        return name if self.line is None else f"{name}:{self.line}"

    @property
    def of_settings(self) -> bool:
        """Whether this is a fault of the settings."""
        return self.code in ("settings", "classifier", "noise")

    @property
    def remedy(self) -> str:
        """Text after the last semicolon of the message, or ""."""
        return self.message.rpartition("; ")[2] if "; " in self.message else ""

    @property
    def fact(self) -> str:
        """Message without the remedy."""
        return self.message.removesuffix(f"; {self.remedy}")

    def __str__(self) -> str:
        return f"{self.place}: {self.severity}: {self.message} [{self.code}]"


def stopping(code: str, file: Path, line: int | None, message: str) -> Finding:
    """Return an error that prevents training."""
    return Finding("error", code, file, line, message, stops=True)


def costing(code: str, file: Path, line: int | None, message: str, utterances: Iterable[str]) -> Finding:
    """Return an error that leaves out utterances."""
    return Finding("error", code, file, line, message, tuple(sorted(utterances)))


def warning(code: str, file: Path, line: int | None, message: str) -> Finding:
    """Return a warning."""
    return Finding("warning", code, file, line, message)


MAX_LINES = 20
"""Maximum number of lines per kind of finding in a report."""


def lines_by_kind(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield a line for each finding, grouped by kind; shared remedies follow their lines.

    At most `MAX_LINES` per kind are shown, with the number of others. Kinds are in order of their first findings.
    Within a kind, findings with shared remedies come first, so that "each of these" refers to the lines above;
    otherwise the order is kept.
    """
    kinds: dict[tuple[Severity, str], dict[str, list[Finding]]] = {}
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


def without_place(error: Exception, file: Path, line: int | None = None) -> str:
    """Return the message of an error without its file and line."""
    message = str(error)
    if line is not None:
        for place in (f"{file}:{line}: ", f"{file}, line {line}: "):
            message = message.removeprefix(place)
    return message.removeprefix(f"{file}: ").removeprefix(f"{file} ")
