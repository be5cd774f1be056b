"""Tables of letters that are one sound, such as `ch` and `qu`, or silent, for the lexicon of graphemes.

A proposal lists pairs of letters with a high pointwise mutual information (Church and Hanks 1990). It is made from
spelling alone, so it has wrong lines, such as `st`, and lacks some right ones.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise, takewhile
from math import log2
from pathlib import Path
from unicodedata import normalize

from asr.lexicon.formats import MODEL_PAUSES, is_comment
from asr.lexicon.graphemes import GRAPHEMES, letters
from asr.lexicon.lexicon import Pronunciation, fault_in_entry
from asr.util.errors import LexiconError
from asr.util.files import atomic_write
from asr.util.text_lines import read_text_lines

MIN_WORDS = 10
"""Minimum number of occurrences of a pair in different words."""
MIN_INFORMATION = 2.0
"""Bits: the pair is four times as frequent as the product of its letters' frequencies."""
MIN_TOGETHER, ALWAYS_TOGETHER = 0.2, 0.95
"""Fractions of the occurrences of one of the letters: of pairs of vowels or of consonants, and of other pairs."""
_VOWELS = frozenset("aeiouæœøıαεηιουωаеиоуыэюяіє")  # y is a consonant, as in ny
_HEADING = """\
# Letters that are one sound, and their phone: LETTERS PHONE. Letters without a phone are silent.
# Check each line, and delete wrong ones. Use --lexicon graphemes:FILE (lexicon="graphemes:FILE") to read the table.
"""


def multigraphs_of(lexicon: str | os.PathLike[str]) -> dict[str, Pronunciation]:
    """Return the table of the lexicon `graphemes:FILE`; `graphemes` has an empty one."""
    _, _, path = os.fspath(lexicon).partition(f"{GRAPHEMES}:")
    return read_multigraphs(Path(path)) if path else {}


def read_multigraphs(path: Path) -> dict[str, Pronunciation]:
    """Read a table with `LETTERS PHONE ...` on each line; `#` begins a comment. Letters without phones are silent.

    Raises LexiconError, with file and line, for other characters than letters, invalid or reserved phones, and repeated
    letters.
    """
    table: dict[str, Pronunciation] = {}
    for number, line in enumerate(read_text_lines(path, LexiconError), 1):
        if is_comment(line) or not line.strip():
            continue
        written, *phones = takewhile(lambda field: field[0] != "#", line.split())
        found = letters(written)
        fault = fault_in_entry(written, tuple(phones)) if phones else None
        if found is None:
            fault = "has other characters than letters"
        elif MODEL_PAUSES.intersection(phones):
            fault = "has a phone that is reserved for the silence model"
        elif "".join(found) in table:
            fault = "is already on another line"
        if fault is not None or found is None:
            raise LexiconError(f"{path}:{number}: {written!r}: {fault}. Expected LETTERS PHONE on a line")
        table["".join(found)] = tuple(phones)
    return table


def propose_multigraphs(words: Iterable[str]) -> Mapping[str, tuple[int, float, str]]:
    """Return pairs of letters that are probably one sound, sorted: number of occurrences, bits and an example.

    Each different word counts once. Pairs of equal letters need only `MIN_WORDS`.
    """
    pairs: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], str] = {}
    for word in sorted(set(words)):
        found = letters(word) or ()
        for pair in pairwise(found):
            pairs[pair] += 1
            examples.setdefault(pair, word)
    first, second = Counter[str](), Counter[str]()
    for (one, other), n in pairs.items():
        first[one] += n
        second[other] += n
    proposed = {}
    for (one, other), n in sorted(pairs.items()):
        information = log2(n * pairs.total() / (first[one] * second[other]))
        together = max(n / first[one], n / second[other])
        alike = _is_vowel(one) == _is_vowel(other) and information >= MIN_INFORMATION and together >= MIN_TOGETHER
        if n >= MIN_WORDS and (one == other or alike or together >= ALWAYS_TOGETHER):
            proposed[one + other] = n, information, examples[one, other]
    return proposed


def _is_vowel(letter: str) -> bool:
    return normalize("NFD", letter)[0] in _VOWELS


def write_proposal(words: Iterable[str], path: Path) -> int:
    """Write a proposed table, and return its number of lines. Two equal consonants have the phone of one."""
    proposed = propose_multigraphs(words)
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(_HEADING)
        for pair, (n, information, example) in proposed.items():
            half = pair[: len(pair) // 2]
            phone = half if pair == half * 2 and not (half == "y" or _is_vowel(half)) else pair
            stream.write(f"{pair} {phone}  # {n} times, {information:.1f} bits, as in {example}\n")
    return len(proposed)
