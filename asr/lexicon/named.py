"""Lexicons made from the transcripts, which are given by a name instead of a file."""

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from asr.lexicon.graphemes import GRAPHEMES, grapheme_lexicon, is_graphemes
from asr.lexicon.lexicon import Lexicon
from asr.lexicon.multigraphs import multigraphs_of
from asr.lexicon.phone_units import PHONES, is_phones, phone_lexicon


def is_named(lexicon: str | os.PathLike[str] | None) -> bool:
    """Return whether a lexicon is given by its name: "graphemes", "graphemes:TABLE" or "phones"."""
    return is_graphemes(lexicon) or is_phones(lexicon)


def lexicon_by_name(name: str | os.PathLike[str], transcripts: Collection[Sequence[str]]) -> Lexicon:
    """Return the lexicon of this name.

    Raises LexiconError for a faulty table, and if no word of the transcripts has a pronunciation.
    """
    return phone_lexicon(transcripts) if is_phones(name) else grapheme_lexicon(transcripts, multigraphs_of(name))


def file_of(lexicon: str | os.PathLike[str]) -> dict[str, Path]:
    """Return the file of a lexicon by its kind, for `name_of`; empty for a name without a table."""
    if not is_named(lexicon):
        return {"lexicon": Path(lexicon)}
    _, _, table = os.fspath(lexicon).partition(":")
    return {"multigraphs": Path(table)} if table else {}


def name_of(files: Mapping[str, str | os.PathLike[str]], digest: str, transcripts: Collection[Sequence[str]]) -> Path:
    """Return the lexicon with this digest: a file of `file_of`, or the name of one made from the transcripts."""
    if "lexicon" in files:
        return Path(files["lexicon"])
    if "multigraphs" in files:
        return Path(f"{GRAPHEMES}:{os.fspath(files['multigraphs'])}")
    return Path(PHONES if phone_lexicon(transcripts).digest() == digest else GRAPHEMES)
