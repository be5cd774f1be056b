"""Normalization of transcripts as people write them into words as a lexicon has them.

Text becomes NFC, punctuation of all scripts is removed by its Unicode category, and letters keep their combining marks.
Every token is normalized alone, so the changes can be shown as a table (`TextNormalizer.changes`).
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from unicodedata import category

from asr.util.errors import ConfigError
from asr.util.text_lines import read_text_lines
from asr.util.unicode_text import nfc

Case = Literal["lower", "upper", "keep"]
Hyphens = Literal["split", "keep", "join"]

APOSTROPHES = "'\u2019\u02bc\uff07"
"""Characters that become the apostrophe ' within a word."""
HYPHENS = "-\u2010\u2011"
_JOINERS = "\u200c\u200d"
_TAG = re.compile(r"\[[^\[\]]*\]|<[^<>]*>")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
UNINTELLIGIBLE = frozenset(("xxx", "yyy", "www", "unk", "<unk>", "[unk]"))
"""Tokens of CHAT and other formats for speech that was not understood."""


class TextError(ValueError):
    """A transcript that cannot be normalized; `code` is "digits" or "unintelligible"."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass
class TextNormalizer:
    """Rules that turn a transcript into words.

    Parameters
    ----------
    case
        Letter case of the words: "lower" (default), "upper", or "keep".
    language
        Language code. "tr" and "az" change the case of i with and without dot; with `spell_numbers`, the language of
        the numbers.
    hyphens
        "split" (default) makes two words of `twenty-one`, "join" makes `twentyone`, "keep" changes nothing.
    tags
        Replacement of each tag or word, such as `{"[laugh]": "", "ok": "okay"}`; several words are allowed. Tags in
        [square] or <angle> brackets that are not listed are removed.
    spell_numbers
        Whether digits are spelled by the package num2words. Otherwise a transcript with digits is refused.
    is_active
        Whether transcripts are changed; otherwise they are only divided at white space.
    """

    case: Case = "lower"
    language: str = "en"
    hyphens: Hyphens = "split"
    tags: Mapping[str, str] = field(default_factory=dict)
    spell_numbers: bool = False
    is_active: bool = True

    def __post_init__(self) -> None:
        self._spell = _number_speller(self.language) if self.spell_numbers else None
        self._cache: dict[str, tuple[str, ...]] = {}
        self._replacements = {nfc(tag).casefold(): nfc(words) for tag, words in self.tags.items()}
        self.changes: Counter[tuple[str, str]] = Counter()
        """Number of tokens for each pair of a token and its normalized form, where they differ."""

    def words(self, text: str) -> tuple[str, ...]:
        """Return the words of a transcript.

        Raises
        ------
        TextError
            If the transcript has digits that are not spelled, or a word for unintelligible speech.
        """
        if not self.is_active:
            return tuple(nfc(text).split())
        found: list[str] = []
        for token in self._tokens(nfc(text)):
            if token not in self._cache:
                self._cache[token] = tuple(self._normalized(token))
            words = self._cache[token]
            if words != (token,):
                self.changes[token, " ".join(words)] += 1
            found += words
        return tuple(found)

    def _tokens(self, text: str) -> list[str]:
        """Return the tokens between white space; a tag in brackets is one token."""
        tokens: list[str] = []
        end = 0
        for tag in _TAG.finditer(text):
            tokens += [*text[end : tag.start()].split(), tag[0]]
            end = tag.end()
        return tokens + text[end:].split()

    def _normalized(self, token: str) -> list[str]:
        replacement = self._replacements.get(token.casefold())
        if replacement is not None:
            return [self._cased(word) for word in replacement.split()]
        if token.casefold() in UNINTELLIGIBLE:
            raise TextError("unintelligible", f"'{token}' marks speech that was not understood.")
        if _TAG.fullmatch(token):
            return []
        if self._spell is not None:
            token = _DIGITS.sub(self._spell, token)
        words = [word for part in self._parts(token) if (word := _trimmed(part))]
        for word in words:
            if any(category(character)[0] == "N" for character in word):
                raise TextError(
                    "digits", f"'{token}' has digits. Expected numbers as they are spoken, such as 'twenty one'."
                )
        return [self._cased(word) for word in words]

    def _parts(self, token: str) -> list[str]:
        """Return the parts of a token between punctuation, with ' for every apostrophe."""
        kept = ""
        for character in token:
            if character in APOSTROPHES:
                kept += "'"
            elif character in HYPHENS:
                kept += {"split": " ", "join": "", "keep": "-"}[self.hyphens]
            elif character in _JOINERS or category(character)[0] in "LMN":
                kept += character
            else:
                kept += " "
        return kept.split()

    def _cased(self, word: str) -> str:
        if self.language in ("tr", "az"):
            if self.case == "lower":
                word = word.replace("I", "\u0131").replace("\u0130", "i")
            elif self.case == "upper":
                word = word.replace("i", "\u0130")
        return nfc(word if self.case == "keep" else word.lower() if self.case == "lower" else word.upper())


def _trimmed(word: str) -> str:
    """Return the word without quotes and hyphens at its ends; nothing without a letter or digit.

    One apostrophe at an end stays ('tis, boys'), quotes at both ends are removed.
    """
    word = word.strip("-")
    while len(word) > 1 and word[0] == word[-1] == "'":
        word = word[1:-1].strip("-")
    return word if any(category(character)[0] in "LN" for character in word) else ""


def _number_speller(language: str) -> Callable[[re.Match[str]], str]:
    """Return a function that replaces a number found in a text by its words."""
    try:
        from num2words import num2words
    except ImportError as error:
        raise ConfigError("spelling of numbers needs the package num2words. Use pip install num2words.") from error

    def spell(found: re.Match[str]) -> str:
        try:
            return f" {num2words(found[0].replace(',', ''), lang=language)} "
        except (NotImplementedError, ValueError, ArithmeticError) as error:
            raise TextError("digits", f"'{found[0]}' cannot be spelled in language '{language}'.") from error

    return spell


def read_tags(path: Path) -> dict[str, str]:
    """Read a table of replacements: a tag or word, a tab, and words or nothing. Raises ConfigError."""
    tags: dict[str, str] = {}
    for number, line in enumerate(read_text_lines(path, ConfigError), 1):
        tag, tab, words = line.rstrip("\r").partition("\t")
        if not line.strip() or line.startswith("#"):
            continue
        if not tab or not tag.strip():
            raise ConfigError(f"{path}, line {number}: '{line}'. Expected a tag, a tab, and its words or nothing.")
        tags[tag.strip()] = words.strip()
    return tags
