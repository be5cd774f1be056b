"""The filler: the word for speech outside the grammar."""

from collections.abc import Iterable

FILLER_WORD = "[unk]"
"""Used in lists of sentences, results and times. If the lexicon has this word, it is an ordinary word."""
FILLER_VARIABLE = "other"
"""Name of the variable, `$other`, for the filler in HParse grammars that do not define it."""


SPELLING = f"other speech is {FILLER_WORD} in lists of sentences and ${FILLER_VARIABLE} in HParse grammars"
"""Spelling of the filler, for messages."""
_OTHER_NAMES = ("unk", "unknown", "oov", "other", "garbage", "filler")


def is_misspelt_filler(word: str) -> bool:
    """Return whether a word or variable is probably a misspelling of the filler.

    >>> [is_misspelt_filler(word) for word in ("[unk]", "<UNK>", "$garbage", "OTHER")]
    [False, True, True, False]
    """
    return word != FILLER_WORD and word[0] in "[<($" and word.strip("[]<>()$").casefold() in _OTHER_NAMES


def without_filler(words: Iterable[str]) -> tuple[str, ...]:
    """Return the words without fillers.

    >>> without_filler(["[unk]", "YES"])
    ('YES',)
    """
    return tuple(word for word in words if word != FILLER_WORD)
