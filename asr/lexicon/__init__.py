"""Pronunciation dictionaries, read from Kaldi, CMU and HTK files, and pronunciations of new words."""

from asr.lexicon.g2p.evaluation import ConversionErrors, conversion_errors, held_out_errors
from asr.lexicon.g2p.model import GraphemeToPhoneme
from asr.lexicon.lexicon import Lexicon, with_own_phones
from asr.lexicon.reading import read_lexicon
from asr.lexicon.writing import write_lexicon

__all__ = [
    "ConversionErrors",
    "GraphemeToPhoneme",
    "Lexicon",
    "conversion_errors",
    "held_out_errors",
    "read_lexicon",
    "with_own_phones",
    "write_lexicon",
]
