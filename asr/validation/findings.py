"""What a check finds: a place, a code, and a sentence that says what would be right."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from asr.util.errors import printable, sentence

Severity = Literal["error", "warning"]

MIN_CASES, NEARLY_ALL = 3, 0.9
"""How many faults, and what part of all that could be there, have one cause and are one finding."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or probably not what was meant.

    Attributes
    ----------
    severity : {"error", "warning"}
        "error": training cannot use it or would refuse it; "warning": it can, but probably should not.
    code : str
        Short name of the kind, for programs; where it costs utterances the one that failed.tsv would have.
    file : path
    line : int or None
        From 1; None where it concerns the whole file.
    message : str
        A sentence without the place, fit for a terminal.
    utterances : tuple of str
        The utterances that training leaves out because of it, sorted.
    stops : bool
        Whether nothing can be trained before it is mended.
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
        """`DIR/wav.scp:17`."""
        name = printable(str(self.file))
        return name if self.line is None else f"{name}:{self.line}"

    @property
    def of_settings(self) -> bool:
        """Whether it is a setting that has to be mended, and not the corpus or the lexicon."""
        return self.code in ("settings", "classifier", "noise")

    @property
    def remedy(self) -> str:
        """What follows the last semicolon of the message; empty where there is none."""
        return self.message.rpartition("; ")[2] if "; " in self.message else ""

    @property
    def fact(self) -> str:
        """The message without its remedy."""
        return self.message.removesuffix(f"; {self.remedy}")

    def __str__(self) -> str:
        return f"{self.place}: {self.severity}: {self.message} [{self.code}]"


def stopping(code: str, file: Path, line: int | None, message: str) -> Finding:
    """An error without whose mending nothing can be trained."""
    return Finding("error", code, file, line, message, stops=True)


def costing(code: str, file: Path, line: int | None, message: str, utterances: Iterable[str]) -> Finding:
    """An error that costs some utterances."""
    return Finding("error", code, file, line, message, tuple(sorted(utterances)))


def warning(code: str, file: Path, line: int | None, message: str) -> Finding:
    """Something that training takes as it is."""
    return Finding("warning", code, file, line, message)


MAX_LINES = 20
"""Lines of one kind of finding that a report shows."""


def lines_by_kind(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield a line for every finding, those of a kind together; a remedy that several share follows their lines.

    Of a kind with more than `MAX_LINES` findings the first are shown, and the number of the others.

    Kinds come in the order of their first findings. Within a kind come those that share a remedy before those that
    have one of their own, so that "each of these" are the lines right above, and otherwise as they were given.
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
    """The message of an error that begins with file and line, as the sentence alone."""
    message = str(error)
    if line is not None:
        for place in (f"{file}:{line}: ", f"{file}, line {line}: "):
            message = message.removeprefix(place)
    return message.removeprefix(f"{file}: ").removeprefix(f"{file} ")
