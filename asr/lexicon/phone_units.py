"""Recognition of phones: the words of the transcripts are phones, so no dictionary is needed.

Transcripts may mark silence, as TIMIT's labels do. Each mark is then a word with the silence model as its
pronunciation. The search inserts no pauses of its own (`Lexicon.marks_silence`), so silence is scored like a phone.
"""

import os
from collections.abc import Iterable, Mapping, Sequence

from asr.lexicon.lexicon import SILENCE, Lexicon
from asr.util.errors import LexiconError

PHONES = "phones"
"""Name of this lexicon, given instead of a file."""
_SILENT = frozenset("sil sp pau epi h# #h <sil> [sil]".split())


def is_phones(lexicon: str | os.PathLike[str] | None) -> bool:
    """Return whether the name of this lexicon is given instead of a file."""
    return lexicon is not None and os.fspath(lexicon) == PHONES


def is_silent(label: str) -> bool:
    """Return whether a label marks silence."""
    return label.lower() in _SILENT


def phone_lexicon(transcripts: Iterable[Sequence[str]]) -> Lexicon:
    """Return the lexicon in which every word of the transcripts is a phone.

    The words sil, sp, pau, epi, h#, #h, <sil> and [sil], in any letter case, are silence.

    Raises LexiconError if all words are silence.

    >>> phone_lexicon([["sil", "k", "ae", "t"]]).phones
    ('ae', 'k', 't')
    """
    words = {word for phones in transcripts for word in phones}
    spoken = {word: ((SILENCE if is_silent(word) else word,),) for word in words}
    if all(word == (SILENCE,) for (word,) in spoken.values()):
        raise LexiconError(f"lexicon '{PHONES}': the transcripts have no phone.")
    return Lexicon(spoken, "the phones of the transcripts")


def has_phone_units(lexicon: Lexicon) -> bool:
    """Return whether every word of the lexicon is a phone, or a mark of silence."""
    return are_phones(lexicon.pronunciations)


def are_phones(pronunciations: Mapping[str, Sequence[Sequence[str]]]) -> bool:
    """Return whether the only pronunciation of each word is the word itself, or silence."""
    return all(list(map(list, variants)) in ([[word]], [[SILENCE]]) for word, variants in pronunciations.items())
