"""The grammars that know nothing of word order: any words in any number, and exactly so many."""

import math
from collections.abc import Iterable, Mapping

from asr.grammar.automaton import Arc, Grammar, build_grammar, distinct_words
from asr.util.errors import GrammarError

MAX_COUNT = 1e100  # so that no sum overflows
MAX_STRING_LENGTH = 1000


def word_loop(words: Iterable[str], counts: Mapping[str, float] | None = None) -> Grammar:
    """One or more of `words` in any order; ending costs nothing.

    Two states: the words lead from the first to the second, where a sentence may end and from where a free
    back-off arc leads back, so that the decoding graph holds every word once.

    Parameters
    ----------
    words : iterable of str
    counts : mapping from word to count, optional
        Makes the probability of a word its share of the counts of `words`; without it all words are equally
        likely.

    Raises
    ------
    GrammarError
        When there are no words, or one has no positive count of at most 1e100.
    """
    words = distinct_words(words)
    arcs = [Arc(0, word, cost, 1) for word, cost in zip(words, _costs(words, counts), strict=True)]
    return build_grammar("loop", words, [*arcs, Arc(1, None, 0.0, 0)], final_costs={1: 0.0}, n_states=2)


def word_string(words: Iterable[str], length: int) -> Grammar:
    """Exactly `length` of `words`, in any order, all equally likely.

    Raises
    ------
    GrammarError
        When there are no words, or the length is not from 1 to 1000.
    """
    if not 1 <= length <= MAX_STRING_LENGTH:
        raise GrammarError(f"a string of {length} words was asked for; it may have from 1 to {MAX_STRING_LENGTH}")
    words = distinct_words(words)
    costs = _costs(words, None)
    arcs = [
        Arc(place, word, cost, place + 1) for place in range(length) for word, cost in zip(words, costs, strict=True)
    ]
    name = "one" if length == 1 else str(length)
    return build_grammar(name, words, arcs, final_costs={length: 0.0}, n_states=length + 1)


def one_word(words: Iterable[str]) -> Grammar:
    """Exactly one of `words`, all equally likely; raises GrammarError when there are none."""
    return word_string(words, 1)


def _costs(words: tuple[str, ...], counts: Mapping[str, float] | None) -> list[float]:
    if counts is None:
        return [math.log(len(words))] * len(words)
    for word in words:
        if not 0 < counts.get(word, 0) <= MAX_COUNT:
            raise GrammarError(
                f"The count of the word {word!r} is {counts.get(word, 0)}; it must be positive and at most "
                f"{MAX_COUNT:g}."
            )
    total = math.fsum(counts[word] for word in words)
    return [math.log(total) - math.log(counts[word]) for word in words]
