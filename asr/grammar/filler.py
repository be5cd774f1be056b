"""The filler: the word of a grammar that stands for speech outside the grammar."""

from collections.abc import Iterable

FILLER_WORD = "[unk]"
"""In lists of sentences, results and times. A word of a grammar that the lexicon has is an ordinary word."""
FILLER_VARIABLE = "other"
"""Name of the variable, `$other`, that stands for it in grammars of HParse that do not define it."""


SPELLING = f"other speech is {FILLER_WORD} in lists of sentences and ${FILLER_VARIABLE} in grammars of HParse"
"""How the filler is written, for messages."""
_OTHER_NAMES = ("unk", "unknown", "oov", "other", "garbage", "filler")


def is_misspelt_filler(word: str) -> bool:
    """Whether a word or variable is probably meant as the filler, but is another.

    >>> [is_misspelt_filler(word) for word in ("[unk]", "<UNK>", "$garbage", "OTHER")]
    [False, True, True, False]
    """
    return word != FILLER_WORD and word[0] in "[<($" and word.strip("[]<>()$").casefold() in _OTHER_NAMES


def without_filler(words: Iterable[str]) -> tuple[str, ...]:
    """Return the words that were recognized, without the marks of speech outside the grammar.

    >>> without_filler(["[unk]", "YES"])
    ('YES',)
    """
    return tuple(word for word in words if word != FILLER_WORD)
