"""User-defined questions about neighboring phones, in the formats of HTK and Kaldi.

HTK's are lines of an HHEd script, which may have other commands:

    QS "L_Nasal" { n-*, m-*, ng-* }
    QS "R_Nasal" { *+n, *+m, *+ng }

Kaldi's are lines of phones (`questions.txt`, `extra_questions.txt`), each asked about both neighbors:

    N M NG
"""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from asr.util.config_base import Settings
from asr.util.errors import ConfigError
from asr.util.text_lines import read_text_lines

MAX_QUESTIONS = 10_000
PAUSES = frozenset({"sil", "sp", "SIL", "SP"})
"""Names of a pause or the end of an utterance; patterns do not match them."""


class PhoneQuestion(Settings):
    """A question whether a neighbor is one of some phones."""

    name: str
    """Name of the question, for reports."""
    side: Literal["left", "right", "both", "itself"] = "both"
    """The neighbor in question; `itself` is the phone, which each phone's own trees need not ask about."""
    phones: tuple[str, ...] = Field(min_length=1)
    """Phone names; `*` matches any characters and `?` any single one."""

    def answers(self, phones: Sequence[str]) -> np.ndarray:
        """Return the answers, bool (n_phones + 1,), for the pause and the phones."""
        pause = not PAUSES.isdisjoint(self.phones)
        return np.array([pause, *(any(fnmatchcase(phone, own) for own in self.phones) for phone in phones)])


def read_questions(path: Path) -> tuple[PhoneQuestion, ...]:
    """Read the questions of a file.

    Raises ConfigError with file and line if it cannot be read, a QS line is malformed or asks about both neighbors, or
    the number of questions is 0 or too large.
    """
    lines = [(number, line.strip()) for number, line in enumerate(read_text_lines(path, ConfigError), 1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    of_htk = any(re.match(r"QS\s", line) for _, line in lines)
    found = tuple(_of_htk(path, lines) if of_htk else _of_kaldi(lines))
    if not found:
        raise ConfigError(f"{path} has no questions. Expected lines of phones, or HTK's 'QS \"name\" {{ n-*, m-* }}'")
    if len(found) > MAX_QUESTIONS:
        raise ConfigError(f"{path} has {len(found)} questions. Expected at most {MAX_QUESTIONS}")
    return found


def _of_kaldi(lines: Sequence[tuple[int, str]]) -> Iterator[PhoneQuestion]:
    for number, line in lines:
        yield PhoneQuestion(name=f"line {number}", phones=tuple(line.split()))


def _of_htk(path: Path, lines: Sequence[tuple[int, str]]) -> Iterator[PhoneQuestion]:
    for number, line in lines:
        if not re.match(r"QS\s", line):
            continue
        parts = re.fullmatch(r"""QS\s+(?:"([^"]+)"|'([^']+)'|(\S+))\s*\{([^{}]*)\}""", line)
        if parts is None:
            raise ConfigError(f"{path}:{number}: '{line}' is not a question. Expected 'QS \"name\" {{ n-*, m-* }}'")
        name = next(given for given in parts.groups()[:3] if given)
        items = [item.strip().strip("\"'") for item in parts[4].split(",")]
        sides, phones = zip(*(_neighbour(path, number, item) for item in items), strict=True)
        if len(set(sides)) > 1:
            raise ConfigError(f"{path}:{number}: the question '{name}' is about both neighbors. Use two questions")
        yield PhoneQuestion(name=name, side=sides[0], phones=phones)


def _neighbour(path: Path, number: int, item: str) -> tuple[Literal["left", "right", "itself"], str]:
    """Return the neighbor that a triphone pattern, 'left-phone+right', asks about, and its phone."""
    left = re.fullmatch(r"([^\s+-]+)-\*(?:\+\*)?", item)
    right = re.fullmatch(r"\*(?:-\*)?\+([^\s+-]+)", item)
    itself = re.fullmatch(r"(?:\*-)?([^\s+-]+)(?:\+\*)?", item)
    if left is not None:
        return "left", left[1]
    if right is not None:
        return "right", right[1]
    if itself is not None:
        return "itself", itself[1]
    raise ConfigError(
        f"{path}:{number}: '{item}' is not a pattern of a neighbor. Expected 'n-*' (left) or '*+n' (right)"
    )
