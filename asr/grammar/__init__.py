"""Grammars as weighted automata: word loops, word pairs, networks and n-grams."""

from asr.grammar.arpa import ArpaModel
from asr.grammar.arpa_automaton import arpa_grammar
from asr.grammar.arpa_file import read_arpa, write_arpa
from asr.grammar.automaton import Grammar
from asr.grammar.ngram import estimate_ngram
from asr.grammar.reading import read_grammar
from asr.grammar.scoring import perplexity, sample_sentence, score_sentence
from asr.grammar.slf import read_slf, slf_grammar, write_slf
from asr.grammar.word_loop import one_word, word_loop, word_string
from asr.grammar.word_pair import read_word_pair, word_pair, write_word_pair

__all__ = [
    "ArpaModel",
    "Grammar",
    "arpa_grammar",
    "estimate_ngram",
    "one_word",
    "perplexity",
    "read_arpa",
    "read_grammar",
    "read_slf",
    "read_word_pair",
    "sample_sentence",
    "score_sentence",
    "slf_grammar",
    "word_loop",
    "word_pair",
    "word_string",
    "write_arpa",
    "write_slf",
    "write_word_pair",
]
