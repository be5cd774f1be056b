"""Columns of numbers between a word and its phones, as dictionaries of Kaldi and Montreal Forced Aligner have them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

_DECIMAL = re.compile(r"\d*\.\d+|\d+\.|\d+(\.\d*)?[eE][-+]?\d+", re.ASCII)
_ALLOWED = (0, 1, 4)
"""Numbers that may follow a word: none, a pronunciation probability (Kaldi's lexiconp.txt), or that and three of
silence: after the word, and corrections for silence and for speech before it (Kaldi's lexiconp_silprob.txt, Montreal
Forced Aligner)."""
_ONE = "1"
MIN_ENTRIES = 3
"""From which on a `1` after every word is a probability."""


def is_decimal(field: str) -> bool:
    """Return whether `field` is a number with a point or an exponent: a bare `1` may be a phone."""
    return _DECIMAL.fullmatch(field) is not None


@dataclass(frozen=True)
class NumberColumns:
    """The rule by which a dictionary's numbers are told from its phones.

    Parameters
    ----------
    bare_one : bool
        Whether a `1` right after a word is its probability. Kaldi writes 1 without a point, so it is if other words
        have a decimal there, or all have a `1`, and no word has the phone `1` later.
    widest : int
        Largest number of columns in the file.
    """

    bare_one: bool = False
    widest: int = 0

    @classmethod
    def of_lines(cls, lines: Iterable[str]) -> "NumberColumns":
        """Return the rule for the lines of a file, without those that are blank or comments."""
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

    def phones(self, word: str, fields: Sequence[str]) -> tuple[str, ...]:
        """Return the phones behind the numbers; raise ValueError for numbers that fit no format."""
        n_columns = self.count(fields)
        if n_columns not in _ALLOWED:
            raise ValueError(
                f"the word {word!r} has {n_columns} numbers before its phones. Expected none, 1 (its probability) or 4 "
                "(its probability and three of silence). Keep the word and its phones, for example with cut -f1,6- for "
                "tab-separated columns"
            )
        if n_columns and not 0.0 < float(fields[0]) <= 1.0:
            raise ValueError(f"the word {word!r} has the probability {fields[0]}. Expected a number above 0, at most 1")
        return tuple(fields[n_columns:])

    @property
    def note(self) -> str:
        """What is done with the numbers, without the file's name; empty if there are none."""
        if not self.widest:
            return ""
        silence = " and silence columns" if self.widest > 1 else ""
        return f"pronunciation probabilities{silence} are not used; all pronunciations of a word are equally likely"
