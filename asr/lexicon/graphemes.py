"""Lexicons without a dictionary: the words of the transcripts, with one phone per letter.

A letter is a base character with its combining marks (a grapheme cluster), without letter case. Zero-width joiners,
apostrophes and hyphens are ignored. A word with a digit or another symbol gets no pronunciation.

A letter with marks that occurs fewer than `MIN_OCCURRENCES` times in the transcripts is divided: the base character and
each mark are phones of their own. So rare letters share the phones of frequent ones. The name of a mark's phone begins
with a dotted circle. Hangul syllables are always divided into their letters.

A table (`asr.lexicon.multigraphs`) gives the phones of sequences of letters; the longest ones come first.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from unicodedata import category, combining, normalize

from asr.lexicon.lexicon import MAX_PRONUNCIATION_LENGTH, Lexicon, Pronunciation
from asr.util.errors import LexiconError
from asr.util.unicode_text import nfc

GRAPHEMES = "graphemes"
"""Name of this lexicon, given instead of a file."""
MIN_OCCURRENCES = 20
"""Occurrences from which a letter with marks is a phone of its own; at 3 states, some 60 frames per state."""
Multigraphs = Mapping[str, Pronunciation]
"""Letters and their phones; none if they are silent."""
NO_MULTIGRAPHS: Multigraphs = MappingProxyType({})
_JOINERS = "\u200c\u200d"
_APOSTROPHES = "'`\u00b4\u2018\u2019\uff07"
_HYPHENS = "Pd"
_CIRCLE = "\N{DOTTED CIRCLE}"
_VIRAMA = 9  # canonical combining class


def is_graphemes(lexicon: str | os.PathLike[str] | None) -> bool:
    """Return whether the name of this lexicon is given instead of a file, alone or with a table: `graphemes:FILE`."""
    return lexicon is not None and os.fspath(lexicon).partition(":")[0] == GRAPHEMES


def letters(word: str) -> tuple[str, ...] | None:
    r"""Return the letters of a word with their marks; None if it has other characters, or no letter.

    >>> letters("Don't"), letters("caf\u00e9"), letters("mp3")
    (('d', 'o', 'n', 't'), ('c', 'a', 'f', 'é'), None)
    """
    found: list[str] = []
    for character in normalize("NFD", normalize("NFC", word).casefold()):
        kind = category(character)
        if character in _JOINERS or character in _APOSTROPHES or kind == _HYPHENS:
            continue
        if kind[0] == "M":
            if found:
                found[-1] += character
            else:
                found.append(_CIRCLE + character)
        elif kind[0] == "L":
            found.append(character)
        else:
            return None
    return tuple(map(nfc, found)) if found and len(word) < MAX_PRONUNCIATION_LENGTH else None


def grapheme_lexicon(transcripts: Iterable[Sequence[str]], multigraphs: Multigraphs = NO_MULTIGRAPHS) -> Lexicon:
    """Return the lexicon of all words of the transcripts that have only letters, not all of them silent.

    Raises LexiconError without such a word.
    """
    n_times = Counter(word for words in transcripts for word in words)
    spelled = {word: found for word in n_times if (found := letters(word)) is not None}
    if not spelled:
        raise LexiconError(f"lexicon '{GRAPHEMES}': no word of the transcripts consists of letters only.")
    occurrences: Counter[str] = Counter()
    for word, found in spelled.items():
        for phone in _phones(found, multigraphs, lambda letter: (letter,)):
            occurrences[phone] += n_times[word]

    def divided(letter: str) -> Pronunciation:
        return _divided(letter) if occurrences[letter] < MIN_OCCURRENCES else (letter,)

    phones = {word: _phones(found, multigraphs, divided) for word, found in spelled.items()}
    pronunciations = {word: (found,) for word, found in phones.items() if found}
    return Lexicon(pronunciations, "the lexicon of graphemes", graphemes=True, multigraphs=multigraphs)


def _phones(found: Sequence[str], multigraphs: Multigraphs, single: Callable[[str], Pronunciation]) -> Pronunciation:
    """Return the phones of letters: those of the table, of the longest sequences first, or those of `single`."""
    longest = max(map(len, multigraphs), default=0)
    phones: list[str] = []
    start = 0
    while start < len(found):
        ends = range(min(len(found), start + longest), start, -1)
        end = next((end for end in ends if "".join(found[start:end]) in multigraphs), 0)
        phones += multigraphs["".join(found[start:end])] if end else single(found[start])
        start = end or start + 1
    return tuple(phones)


def spell(word: str, phones: Collection[str], multigraphs: Multigraphs = NO_MULTIGRAPHS) -> Pronunciation | None:
    """Return the pronunciation of a new word from its letters; None if it is empty or has others than the phones.

    Unless a letter with marks is a phone, it is divided into base character and marks.
    """
    found = letters(word)
    if found is None:
        return None
    spelled = _phones(found, multigraphs, lambda letter: (letter,) if letter in phones else _divided(letter))
    return spelled if spelled and set(spelled) <= set(phones) else None


def with_spelled_words(lexicon: Lexicon, words: Iterable[str], phones: Collection[str]) -> Lexicon:
    """Return a lexicon of graphemes with pronunciations of the new words whose letters are all among the phones.

    Other lexicons are returned as they are.
    """
    if not lexicon.graphemes:
        return lexicon
    known = frozenset(phones)
    new = {word: spell(word, known, lexicon.multigraphs) for word in words if word not in lexicon}
    added = {word: (found,) for word, found in new.items() if found is not None}
    if not added:
        return lexicon
    return replace(lexicon, pronunciations={**lexicon.pronunciations, **added})


def _divided(letter: str) -> Pronunciation:
    """Return the base character and the marks of a letter; the phone of a mark has a dotted circle as its base.

    A virama (the sign that a consonant of an Indic script has no vowel) has no sound and is no phone.
    """
    base, *marks = list(normalize("NFD", letter))
    of_marks = tuple(_CIRCLE + mark for mark in marks if combining(mark) != _VIRAMA)
    return of_marks if base == _CIRCLE and of_marks else (base, *of_marks)
