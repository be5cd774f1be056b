"""Special names in grammars that are not words, and their meanings."""

import re

from asr.grammar.arpa import UNKNOWN_WORDS
from asr.grammar.filler import FILLER_WORD
from asr.grammar.network import NULL, SENTENCE_MARKS

_OF_AUTOMATA = re.compile(r"#\d+", re.ASCII)


def meaning(name: str) -> str:
    """Return the meaning of a special name in some grammar format; empty for ordinary words.

    >>> meaning("<s>"), meaning("ONE")
    ('the beginning or end of a sentence', '')
    """
    if name in SENTENCE_MARKS:
        return "the beginning or end of a sentence"
    if name in (NULL, "<eps>"):
        return "no word"
    if name == FILLER_WORD:
        return "speech outside the grammar"
    if name in UNKNOWN_WORDS:
        return "any unknown word"
    return "a symbol of automata" if _OF_AUTOMATA.fullmatch(name) else ""
