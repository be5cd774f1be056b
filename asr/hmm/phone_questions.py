"""Questions about neighbouring phones that a user gives, in the files of HTK and Kaldi.

HTK's are lines of an editing script of HHEd, which may hold other commands too:

    QS "L_Nasal" { n-*, m-*, ng-* }
    QS "R_Nasal" { *+n, *+m, *+ng }

Kaldi's are lines of phones (`questions.txt`, `extra_questions.txt`), each asked about both neighbours:

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
"""What stands for a pause or the end of an utterance, which no pattern does."""


class PhoneQuestion(Settings):
    """Whether a neighbour is one of some phones."""

    name: str
    """What it is called."""
    side: Literal["left", "right", "both", "itself"] = "both"
    """Which neighbour it asks about; `itself` is the phone, which trees of one phone each need not ask about."""
    phones: tuple[str, ...] = Field(min_length=1)
    """Names of phones, in which `*` and `?` stand for any characters and any one."""

    def answers(self, phones: Sequence[str]) -> np.ndarray:
        """Where the answer is yes, bool (n_phones + 1,), of the pause and the phones."""
        pause = not PAUSES.isdisjoint(self.phones)
        return np.array([pause, *(any(fnmatchcase(phone, own) for own in self.phones) for phone in phones)])


def read_questions(path: Path) -> tuple[PhoneQuestion, ...]:
    """The questions of a file.

    Raises ConfigError, naming file and line, where it cannot be read, a line of HTK is no question, or asks about both
    neighbours at once, and where there is no question or too many.
    """
    lines = [(number, line.strip()) for number, line in enumerate(read_text_lines(path, ConfigError), 1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    of_htk = any(re.match(r"QS\s", line) for _, line in lines)
    found = tuple(_of_htk(path, lines) if of_htk else _of_kaldi(lines))
    if not found:
        raise ConfigError(f"{path}: no questions; lines of phones are wanted, or HTK's 'QS \"name\" {{ n-*, m-* }}'")
    if len(found) > MAX_QUESTIONS:
        raise ConfigError(f"{path}: {len(found)} questions are more than the {MAX_QUESTIONS} that are taken")
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
            raise ConfigError(f"{path}:{number}: '{line}' is no question; 'QS \"name\" {{ n-*, m-* }}' would be")
        name = next(given for given in parts.groups()[:3] if given)
        items = [item.strip().strip("\"'") for item in parts[4].split(",")]
        sides, phones = zip(*(_neighbour(path, number, item) for item in items), strict=True)
        if len(set(sides)) > 1:
            raise ConfigError(f"{path}:{number}: the question '{name}' asks about more than one neighbour; make it two")
        yield PhoneQuestion(name=name, side=sides[0], phones=phones)


def _neighbour(path: Path, number: int, item: str) -> tuple[Literal["left", "right", "itself"], str]:
    """Which neighbour a pattern of names of triphones, 'left-phone+right', asks about, and its phone."""
    left = re.fullmatch(r"([^\s+-]+)-\*(?:\+\*)?", item)
    right = re.fullmatch(r"\*(?:-\*)?\+([^\s+-]+)", item)
    itself = re.fullmatch(r"(?:\*-)?([^\s+-]+)(?:\+\*)?", item)
    if left is not None:
        return "left", left[1]
    if right is not None:
        return "right", right[1]
    if itself is not None:
        return "itself", itself[1]
    raise ConfigError(f"{path}:{number}: '{item}' is no pattern of a neighbour, as 'n-*' (left) and '*+n' (right) are")
