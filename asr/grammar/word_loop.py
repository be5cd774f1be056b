"""Grammars without word order: any number of words, or a fixed number."""

import math
from collections.abc import Iterable, Mapping

from asr.grammar.automaton import Arc, Grammar, build_grammar, distinct_words
from asr.util.errors import GrammarError

MAX_COUNT = 1e100  # so that no sum overflows
MAX_STRING_LENGTH = 1000


def word_loop(words: Iterable[str], counts: Mapping[str, float] | None = None) -> Grammar:
    """Build a loop of one or more of `words` in any order; ending has cost 0.

    There are two states: words lead from the first to the second, which is final and has a free back-off arc to the
    first. So the decoding graph has every word once.

    Raises GrammarError without words, or for a count that is not positive or above 1e100.

    Parameters
    ----------
    words : iterable of str
        The words; duplicates count once.
    counts : mapping of words to numbers, optional
        The probability of a word is its fraction of the counts of `words`; without counts all words are equally likely.

    Returns
    -------
    Grammar
        The automaton.

    Examples
    --------
    >>> from asr.grammar import score_sentence, word_loop
    >>> round(score_sentence(word_loop(["NO", "YES"]), ["YES", "NO"]), 3)
    -1.386
    """
    words = distinct_words(words)
    arcs = [Arc(0, word, cost, 1) for word, cost in zip(words, _costs(words, counts), strict=True)]
    return build_grammar("loop", words, [*arcs, Arc(1, None, 0.0, 0)], final_costs={1: 0.0}, n_states=2)


def word_string(words: Iterable[str], length: int) -> Grammar:
    """Accept exactly `length` of `words`, in any order, all equally likely.

    Raises GrammarError without words, or for a length outside 1 to 1000.

    Parameters
    ----------
    words : iterable of str
        The words; duplicates count once.
    length : int
        Number of words of a sentence, from 1 to 1000.

    Returns
    -------
    Grammar
        The automaton.

    Examples
    --------
    >>> from asr.grammar import score_sentence, word_string
    >>> round(score_sentence(word_string(["NO", "YES"], 2), ["YES", "NO"]), 3)
    -1.386
    """
    if not 1 <= length <= MAX_STRING_LENGTH:
        raise GrammarError(
            f"A grammar of exactly {length} words is not supported. Expected 1 to {MAX_STRING_LENGTH} words"
        )
    words = distinct_words(words)
    costs = _costs(words, None)
    arcs = [
        Arc(place, word, cost, place + 1) for place in range(length) for word, cost in zip(words, costs, strict=True)
    ]
    name = "one" if length == 1 else str(length)
    return build_grammar(name, words, arcs, final_costs={length: 0.0}, n_states=length + 1)


def one_word(words: Iterable[str]) -> Grammar:
    """Accept exactly one of `words`, all equally likely; GrammarError without words.

    Parameters
    ----------
    words : iterable of str
        The words; duplicates count once.

    Returns
    -------
    Grammar
        The automaton.

    Examples
    --------
    >>> from asr.grammar import one_word
    >>> one_word(["NO", "YES"]).words
    ('NO', 'YES')
    """
    return word_string(words, 1)


def _costs(words: tuple[str, ...], counts: Mapping[str, float] | None) -> list[float]:
    if counts is None:
        return [math.log(len(words))] * len(words)
    for word in words:
        if not 0 < counts.get(word, 0) <= MAX_COUNT:
            raise GrammarError(
                f"The count of the word {word!r} is {counts.get(word, 0)}. Expected a positive number of at "
                f"most {MAX_COUNT:g}."
            )
    total = math.fsum(counts[word] for word in words)
    return [math.log(total) - math.log(counts[word]) for word in words]
