"""Parsers of a line of a pronunciation dictionary in each format.

Every parser takes a line (not blank) and returns the word, its phones and their probability (1 unless it is given), or
None for a line that defines no word. It raises ValueError, with the reason as the message, for a
malformed line.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from asr.lexicon.lexicon import SHORT_PAUSE, SILENCE, Pronunciation
from asr.util.htk_strings import read_htk_string

_DECIMAL = re.compile(r"\d*\.\d+|\d+\.|\d+(\.\d*)?[eE][-+]?\d+", re.ASCII)
_ALLOWED = (0, 1, 4)
"""Valid numbers of columns: none, a pronunciation probability (Kaldi's lexiconp.txt), or that and three for silence:
after the word, and corrections for silence and for speech before it (Kaldi's lexiconp_silprob.txt, Montreal Forced
Aligner)."""
_ONE = "1"
MIN_ENTRIES = 3
"""Minimum number of entries for `1` after every word to count as a probability."""


def is_decimal(field: str) -> bool:
    """Return whether `field` is a number with a point or an exponent; a bare `1` may be a phone."""
    return _DECIMAL.fullmatch(field) is not None


@dataclass(frozen=True)
class NumberColumns:
    """The rule that separates a dictionary's numbers from its phones."""

    bare_one: bool = False  # whether a `1` after a word is its probability, as written by Kaldi
    widest: int = 0  # largest number of columns in the file

    @classmethod
    def of_lines(cls, lines: Iterable[str]) -> "NumberColumns":
        """Return the rule for the lines of a file, without blank lines and comments.

        A bare `1` is a probability if other words have a decimal there, or all words have a `1`, and no word has a
        phone `1`.
        """
        entries = [list(takewhile(lambda field: field[0] != "#", line.split()[1:])) for line in lines]
        decimals = any(is_decimal(fields[0]) for fields in entries if fields)
        all_ones = len(entries) >= MIN_ENTRIES and all(fields[:1] == [_ONE] and len(fields) > 1 for fields in entries)
        rule = cls((decimals or all_ones) and not any(_ONE in fields[1:] for fields in entries))
        return cls(rule.bare_one, max(map(rule.count, entries), default=0))

    def count(self, fields: Sequence[str]) -> int:
        """Return how many of the fields after a word are numbers."""
        n_columns = 0
        if fields and fields[0] == _ONE and (self.bare_one or (len(fields) > 1 and is_decimal(fields[1]))):
            n_columns = 1
        while n_columns < len(fields) and is_decimal(fields[n_columns]):
            n_columns += 1
        return n_columns

    def divide(self, word: str, fields: Sequence[str]) -> tuple[tuple[str, ...], float]:
        """Return the phones after the numbers, and their probability (1 by default); ValueError if wrong."""
        n_columns = self.count(fields)
        if n_columns not in _ALLOWED:
            raise ValueError(
                f"the word {word!r} has {n_columns} numbers before its phones. Expected none, 1 (its probability) or 4 "
                "(its probability and three of silence). Keep the word and its phones, for example with cut -f1,6- for "
                "tab-separated columns"
            )
        probability = float(fields[0]) if n_columns else 1.0
        if not 0.0 < probability <= 1.0:
            raise ValueError(f"the word {word!r} has the probability {fields[0]}. Expected a number above 0, at most 1")
        return tuple(fields[n_columns:]), probability

    @property
    def note(self) -> str:
        """Sentence about the use of the numbers, without the file's name; empty without numbers."""
        if not self.widest:
            return ""
        silence = "; the silence columns are not used" if self.widest > 1 else ""
        return f"pronunciation probabilities are used, relative to the most likely pronunciation of a word{silence}"


Entry = tuple[str, Pronunciation, float]

VARIANT_MARK = re.compile(r"(.+)\(\d+\)", re.DOTALL)
MODEL_PAUSES = frozenset({SILENCE, SHORT_PAUSE})
"""Phones of the silence models (`asr.hmm.topology`), which words must not have."""
HTK_PAUSES = frozenset({"sil", "sp"})


def is_comment(line: str) -> bool:
    """Return whether `line` is a comment of a Kaldi dictionary."""
    return line.lstrip().startswith(("#", ";;;"))


def parse_kaldi(line: str, columns: NumberColumns) -> Entry | None:
    """Parse `WORD phone phone ...` with optional columns of numbers; `#` and `;;;` begin comment lines."""
    if is_comment(line):
        return None
    word, *fields = line.split()
    return word, *columns.divide(word, fields)


def parse_cmu(line: str, columns: NumberColumns) -> Entry | None:
    """Parse `WORD(2)  PH1 PH0` with optional columns of numbers.

    `;;;` begins a comment line; a field that begins with `#` ends the phones.
    """
    if line.lstrip().startswith(";;;"):
        return None
    word, *phones = line.split()
    comment = next((i for i, phone in enumerate(phones) if phone.startswith("#")), len(phones))
    variant = VARIANT_MARK.fullmatch(word)
    word = variant.group(1) if variant else word
    return word, *columns.divide(word, phones[:comment])


def parse_htk(line: str) -> Entry | None:
    """Parse `WORD [OUTSYM] probability phone phone ... sp` (HTK Book 3.4, section 12.7), names quoted or escaped.

    The output symbol is checked and ignored. A final `sp` or `sil` is dropped, because a pause may
    follow every word. An entry of only a pause without output (`SENT-END [] sil`) defines no word.
    """
    word, position = read_htk_string(line, _skip_space(line, 0))
    position = _skip_space(line, position)
    silent = False
    if line.startswith("[", position):
        output, position = read_htk_string(line, position + 1, stop="]")
        if not line.startswith("]", position):
            raise ValueError(f"the output symbol [{output} is not closed. Expected [{output}]")
        silent = output == ""
        position = _skip_space(line, position + 1)
    fields, probability = [], 1.0
    while position < len(line):
        field, position = read_htk_string(line, position)
        fields.append(field)
        position = _skip_space(line, position)
    if fields and _is_number(fields[0]):
        probability = float(fields[0])
        if not 0.0 < probability <= 1.0:
            raise ValueError(f"the probability is {fields[0]!r}. Expected a number above 0, at most 1")
        del fields[0]
        if fields and is_decimal(fields[0]):
            raise ValueError(f"the word {word!r} has two or more numbers before its phones. HTK has one probability")
    if silent and fields and HTK_PAUSES.issuperset(fields):
        return None
    while len(fields) > 1 and fields[-1] in HTK_PAUSES:
        fields.pop()
    return word, tuple(fields), probability


def _skip_space(line: str, position: int) -> int:
    while position < len(line) and line[position].isspace():
        position += 1
    return position


def _is_number(field: str) -> bool:
    return re.fullmatch(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", field, re.ASCII) is not None
