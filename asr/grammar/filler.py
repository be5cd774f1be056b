"""The filler: the word of a grammar that stands for speech outside the grammar."""

from collections.abc import Iterable

FILLER_WORD = "[unk]"
"""In lists of sentences, results and times. A word of a grammar that the lexicon has is an ordinary word."""
FILLER_VARIABLE = "other"
"""Name of the variable, `$other`, that stands for it in grammars of HParse that do not define it."""


def without_filler(words: Iterable[str]) -> tuple[str, ...]:
    """Return the words that were recognized, without the marks of speech outside the grammar.

    >>> without_filler(["[unk]", "YES"])
    ('YES',)
    """
    return tuple(word for word in words if word != FILLER_WORD)
