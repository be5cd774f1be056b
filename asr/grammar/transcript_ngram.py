"""An n-gram of one transcript, for parts of its recording that may begin and end anywhere (Moreno et al. 1998)."""

import math
from collections import Counter
from collections.abc import Sequence

from asr.grammar.automaton import Arc, Grammar, build_grammar

BACK_OFF = 0.1
"""Probability that the next word does not follow the transcript. Smoothing for other text gives it too much."""


def transcript_ngram(words: Sequence[str], order: int = 3, back_off: float = BACK_OFF) -> Grammar:
    """Return the n-gram of a transcript: relative frequencies, with the same back-off probability for every history.

    A sentence may begin with any word, by its frequency, and end after any word at no cost. Raises GrammarError without
    words.
    """
    counts = [
        Counter(tuple(words[first : first + length]) for first in range(len(words) - length + 1))
        for length in range(1, order + 1)
    ]
    histories = dict.fromkeys(((), *(ngram for of_length in counts[:-1] for ngram in of_length)))
    number = {history: place for place, history in enumerate(histories)}
    totals: Counter[tuple[str, ...]] = Counter()
    for of_length in counts:
        for ngram, count in of_length.items():
            totals[ngram[:-1]] += count
    arcs = [Arc(number[history], None, -math.log(back_off), number[history[1:]]) for history in histories if history]
    for of_length in counts:
        for ngram, count in of_length.items():
            history = ngram[:-1]
            cost = math.log(totals[history] / count) - (math.log1p(-back_off) if history else 0.0)
            target = ngram if len(ngram) < order else ngram[1:]
            arcs.append(Arc(number[history], ngram[-1], cost, number[target]))
    finals = {place: 0.0 for place in number.values() if place}
    return build_grammar("transcript", words, arcs, final_costs=finals, n_states=len(number))
