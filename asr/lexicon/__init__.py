"""Pronunciation dictionaries, read from Kaldi, CMU and HTK files."""

from asr.lexicon.lexicon import Lexicon
from asr.lexicon.own_phones import with_own_phones
from asr.lexicon.reading import read_lexicon
from asr.lexicon.writing import write_lexicon

__all__ = ["Lexicon", "read_lexicon", "with_own_phones", "write_lexicon"]
