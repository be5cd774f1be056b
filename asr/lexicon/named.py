"""Lexicons made from the transcripts, which are given by a name instead of a file."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from asr.lexicon.graphemes import GRAPHEMES, grapheme_lexicon
from asr.lexicon.lexicon import Lexicon
from asr.lexicon.phone_units import PHONES, phone_lexicon

NAMES = (GRAPHEMES, PHONES)


def is_named(lexicon: str | os.PathLike[str] | None) -> bool:
    """Return whether a lexicon is given by its name, not as a file."""
    return lexicon is not None and os.fspath(lexicon) in NAMES


def lexicon_by_name(name: str | Path, transcripts: Iterable[Sequence[str]]) -> Lexicon:
    """Return the lexicon of this name; LexiconError if no word of the transcripts has a pronunciation."""
    return (grapheme_lexicon if os.fspath(name) == GRAPHEMES else phone_lexicon)(transcripts)
