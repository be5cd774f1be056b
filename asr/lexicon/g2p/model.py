"""A converter from letters to phones: training, pronunciations, and the file."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from unicodedata import normalize

import numpy as np

from asr.lexicon.lexicon import Lexicon, Pronunciation
from asr.util.errors import LexiconError
from asr.util.unicode_text import nfc

if TYPE_CHECKING:
    from asr.lexicon.g2p.ngram import GraphoneNgram

ORDER = 8
MAX_WORD_LENGTH = 100
"""Letters of the longest word that is converted."""
_LARGEST = {"order": 12, "max_letters": 4, "max_phones": 8}


def spelling(word: str) -> tuple[str, ...]:
    """Return the characters of a word in lower case (NFC), with Hangul syllables divided into their letters.

    >>> spelling("Café")
    ('c', 'a', 'f', 'é')
    """
    return tuple(
        part
        for character in nfc(word.lower())
        for part in (normalize("NFD", character) if "가" <= character <= "힣" else character)
    )


@dataclass(frozen=True)
class GraphemeToPhoneme:
    """Converter of words into pronunciations: a joint-sequence n-gram (Bisani and Ney 2008).

    Make one with `train` or `load`.

    Attributes
    ----------
    letters, phones : tuples of str
        All letters and phones of the training dictionary, sorted. Letters are in lower case.
    graphones : ndarray of int32 (n_graphones, max_letters + max_phones)
        Numbers of the letters, then of the phones of each graphone, from 1 and padded with 0.
    max_letters : int
        Largest number of letters in a graphone.
    ngram : GraphoneNgram
        Model of the sequence of graphones of a word.
    unaligned : tuple of str
        Words that were not used for training, because they have too many phones for their letters.

    Examples
    --------
    >>> from asr.lexicon import GraphemeToPhoneme, Lexicon
    >>> lexicon = Lexicon({"bat": (("B", "A", "T"),), "tab": (("T", "A", "B"),)})
    >>> converter = GraphemeToPhoneme.train(lexicon, order=2)
    >>> [phones for phones, probability in converter.pronounce("tat")]
    [('T', 'A', 'T')]
    """

    letters: tuple[str, ...]
    phones: tuple[str, ...]
    graphones: np.ndarray
    max_letters: int
    ngram: GraphoneNgram
    unaligned: tuple[str, ...] = ()

    @classmethod
    def train(
        cls,
        lexicon: Lexicon,
        *,
        order: int = ORDER,
        max_letters: int = 2,
        max_phones: int = 2,
        progress: Callable[[int], None] | None = None,
    ) -> GraphemeToPhoneme:
        """Align the letters and phones of a dictionary, and estimate the n-gram of graphones.

        Every variant of a word counts as an entry. The graphones are chosen by expectation maximization with
        independent graphones (`asr.lexicon.g2p.alignment`). The n-gram of the best segmentations has interpolated
        modified Kneser-Ney smoothing, as in Novak et al. (2012). Results need no seed.

        Parameters
        ----------
        lexicon : Lexicon
            Dictionary. The letter case of the words is ignored.
        order : int
            Length of the n-grams, 1 to 12.
        max_letters : int
            Largest number of letters that have one phone together.
        max_phones : int
            Largest number of phones of one letter. Languages such as Japanese, with signs for syllables or words, need
            more than 2.
        progress : callable, optional
            Receives the number of finished steps of `N_ITERATIONS`.

        Returns
        -------
        GraphemeToPhoneme
            The converter.

        Raises
        ------
        LexiconError
            If an argument is out of range, or no word can be aligned.
        """
        from asr.lexicon.g2p.alignment import align_entries
        from asr.lexicon.g2p.ngram import FIRST_GRAPHONE, estimate

        for name, value in (("order", order), ("max_letters", max_letters), ("max_phones", max_phones)):
            if not 1 <= value <= _LARGEST[name]:
                raise LexiconError(f"{name} is {value}. Expected 1 to {_LARGEST[name]}")
        spelled = {word: spelling(word) for word in lexicon.words}
        letters = tuple(sorted({letter for word in spelled.values() for letter in word}))
        letter_number = {letter: number for number, letter in enumerate(letters, 1)}
        phone_number = {phone: number for number, phone in enumerate(lexicon.phones, 1)}
        pairs = [(word, variant) for word in lexicon.words for variant in lexicon[word]]
        entries = [
            (tuple(letter_number[letter] for letter in spelled[word]), tuple(phone_number[phone] for phone in variant))
            for word, variant in pairs
        ]
        alignment = align_entries(entries, max_letters, max_phones, progress=progress)
        aligned = alignment.lengths > 0
        unaligned = dict.fromkeys(word for (word, _), used in zip(pairs, aligned, strict=True) if not used)
        if not aligned.any():
            raise LexiconError(
                f"{lexicon.source}: all words have more than {max_phones} phones for a letter. Use --max-phones "
                "(max_phones=) with a larger number"
            )
        ngram = estimate(alignment.tokens.astype(np.int64) + FIRST_GRAPHONE, alignment.lengths[aligned], order)
        return cls(letters, lexicon.phones, alignment.graphones, max_letters, ngram, tuple(unaligned))

    @cached_property
    def _letter_number(self) -> dict[str, int]:
        return {letter: number for number, letter in enumerate(self.letters, 1)}

    @cached_property
    def _tokens(self) -> dict[tuple[int, ...], list[int]]:
        """Tokens of the graphones by their letters."""
        from asr.lexicon.g2p.ngram import FIRST_GRAPHONE

        found: dict[tuple[int, ...], list[int]] = {}
        for token, row in enumerate(self.graphones[:, : self.max_letters].tolist(), FIRST_GRAPHONE):
            found.setdefault(tuple(letter for letter in row if letter), []).append(token)
        return found

    @cached_property
    def _phones(self) -> list[tuple[int, ...]]:
        """Phones of every token."""
        rows = self.graphones[:, self.max_letters :].tolist()
        return [(), (), *(tuple(phone for phone in row if phone) for row in rows)]

    def pronounce(self, word: str, n: int = 1) -> list[tuple[Pronunciation, float]]:
        """Return the most probable pronunciations of a word, the best first.

        Parameters
        ----------
        word : str
            The word.
        n : int
            Largest number of pronunciations.

        Returns
        -------
        list of (tuple of str, float)
            Phones and probability of each pronunciation. The probability is the one of the best segmentation, divided
            by the sum over the returned pronunciations.

        Raises
        ------
        LexiconError
            If a letter is not in the training dictionary (code "unseen-letter"), or the word is too long or has no
            pronunciation (code "no-pronunciation").
        """
        from asr.lexicon.g2p.search import best_pronunciations, search

        found = spelling(word)
        unseen = [letter for letter in dict.fromkeys(found) if letter not in self._letter_number]
        if unseen:
            shown = " ".join(map(repr, unseen[:5]))
            message = f"the letters {shown} of {word!r} are not in the training dictionary"
            raise LexiconError(message, code="unseen-letter")
        if len(found) > MAX_WORD_LENGTH:
            message = f"{word!r} has {len(found)} letters. Expected at most {MAX_WORD_LENGTH}"
            raise LexiconError(message, code="no-pronunciation")
        numbers = [self._letter_number[letter] for letter in found]
        candidates = [
            [
                (token, length)
                for length in range(1, min(self.max_letters, len(numbers) - first) + 1)
                for token in self._tokens.get(tuple(numbers[first : first + length]), ())
            ]
            for first in range(len(numbers))
        ]
        best = best_pronunciations(search(self.ngram, candidates), self._phones, n)
        if not best:
            raise LexiconError(f"no graphones of the model have the letters of {word!r}", code="no-pronunciation")
        weights = [math.exp(score - best[0][1]) for _, score in best]
        return [
            (tuple(self.phones[phone - 1] for phone in phones), weight / sum(weights))
            for (phones, _), weight in zip(best, weights, strict=True)
        ]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one safetensors file.

        Parameters
        ----------
        path : path
            File to write.
        """
        from asr.lexicon.g2p.model_file import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GraphemeToPhoneme:
        """Read a model that `save` wrote.

        Parameters
        ----------
        path : path
            File to read.

        Returns
        -------
        GraphemeToPhoneme
            The converter.

        Raises
        ------
        ModelFormatError
            If the file does not exist, is damaged, or is not a model of this kind.
        """
        from asr.lexicon.g2p.model_file import load

        return load(path)
