"""Scoring with a grammar: sentence probability, perplexity and random sentences.

All use exact back-off: a `#0` arc is taken only if the state has no arc for the next word.
"""

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from asr.grammar.automaton import IMPOSSIBLE, Grammar

if TYPE_CHECKING:
    import numpy as np


def score_sentence(grammar: Grammar, words: Iterable[str]) -> float:
    """Return the natural log probability of a sentence with its end.

    Parameters
    ----------
    grammar : Grammar
        The automaton.
    words : iterable of str
        The sentence.

    Returns
    -------
    float
        -inf if the grammar rejects the sentence.

    Examples
    --------
    >>> from asr.grammar import one_word, score_sentence
    >>> round(score_sentence(one_word(["NO", "YES"]), ["YES"]), 3)
    -0.693
    """
    state, total = grammar.fst.start, 0.0
    for word in words:
        label = grammar.labels.get(word, 0)
        cost, following = step(grammar, state, label)
        if following is None:
            return -IMPOSSIBLE
        state, total = following, total + cost
    return -(total + end_cost(grammar, state))


def refused_at(grammar: Grammar, sentences: Iterable[Sequence[str]]) -> list[int | None]:
    """Return, for every sentence, the position (from 0) of the first word that cannot follow those before it.

    It is the number of words if the sentence cannot end there, and None if the grammar accepts it. Back-off is possible
    in addition to an explicit arc, as in a decoding graph.
    """
    import kaldifst

    @cache
    def arcs(state: int) -> dict[int, int]:  # only of reached states: a grammar may have millions
        return {arc.ilabel: arc.nextstate for arc in kaldifst.ArcIterator(grammar.fst, state)}

    def closed(states: Iterable[int]) -> set[int]:
        found, waiting = set[int](), list(states)
        while waiting:
            state = waiting.pop()
            if state not in found:
                found.add(state)
                waiting += [target for label, target in arcs(state).items() if label == grammar.back_off_label]
        return found

    def place(words: Sequence[str]) -> int | None:
        states = closed([grammar.fst.start])
        for number, word in enumerate(words):
            label = grammar.labels.get(word)
            states = closed(arcs(state)[label] for state in states if label in arcs(state)) if label else set()
            if not states:
                return number
        return None if any(grammar.fst.final(state).value != IMPOSSIBLE for state in states) else len(words)

    return [place(words) for words in sentences]


def perplexity(grammar: Grammar, sentences: Iterable[Sequence[str]]) -> float:
    """Return the perplexity per word, with sentence ends as words.

    It is inf if the grammar rejects a sentence, and nan without sentences. For a word loop, which ends at no cost and
    is not a distribution over sentences, the result is not a perplexity.

    Parameters
    ----------
    grammar : Grammar
        The automaton.
    sentences : iterable of word sequences
        The text.

    Returns
    -------
    float
        The perplexity.

    Examples
    --------
    >>> from asr.grammar import arpa_grammar, estimate_ngram, perplexity
    >>> text = [["ONE", "TWO"], ["TWO", "ONE"]]
    >>> 1 < perplexity(arpa_grammar(estimate_ngram(text, 2)), text) < 3
    True
    """
    total, n_words = 0.0, 0
    for words in sentences:
        total += score_sentence(grammar, words)
        n_words += len(words) + 1
    if n_words == 0:
        return math.nan
    return math.exp(-total / n_words) if total > -IMPOSSIBLE else IMPOSSIBLE


def sample_sentence(grammar: Grammar, rng: "np.random.Generator") -> tuple[str, ...]:
    """Draw a random sentence, with each word (or the end) by its probability in the current state.

    Weights of a state that do not sum to one (a word loop, a restricted vocabulary) are normalized.

    Parameters
    ----------
    grammar : Grammar
        The automaton.
    rng : numpy.random.Generator
        Source of the random numbers.

    Returns
    -------
    tuple of str
        The sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from asr.grammar import sample_sentence, word_string
    >>> len(sample_sentence(word_string(["NO", "YES"], 3), np.random.default_rng(0)))
    3
    """
    state, words = grammar.fst.start, list[str]()
    while True:
        labels, costs, targets = _choices(grammar, state)
        least = min(costs)
        weights = [math.exp(least - cost) for cost in costs]
        total = math.fsum(weights)
        choice = int(rng.choice(len(labels), p=[weight / total for weight in weights]))
        if labels[choice] == 0:
            return tuple(words)
        words.append(grammar.words[labels[choice] - 1])
        state = targets[choice]


def step(grammar: Grammar, state: int, label: int) -> tuple[float, int | None]:
    """Return the cost, -ln p, of reading `label` in a state with back-off, and the next state (None if impossible)."""
    cost = 0.0
    while label not in grammar.arcs[state]:
        if grammar.back_off_label not in grammar.arcs[state]:
            return IMPOSSIBLE, None
        state, back_off = grammar.arcs[state][grammar.back_off_label]
        cost += back_off
    following, word_cost = grammar.arcs[state][label]
    return cost + word_cost, following


def end_cost(grammar: Grammar, state: int) -> float:
    """Return the cost, -ln p, of ending in `state` with back-off; inf if impossible."""
    cost = 0.0
    while grammar.final_costs[state] == IMPOSSIBLE:
        if grammar.back_off_label not in grammar.arcs[state]:
            return IMPOSSIBLE
        state, back_off = grammar.arcs[state][grammar.back_off_label]
        cost += back_off
    return cost + grammar.final_costs[state]


def _choices(grammar: Grammar, state: int) -> tuple[list[int], list[float], list[int]]:
    """Return labels (0: sentence end), costs and next states of all continuations, with back-off."""
    found: dict[int, tuple[float, int]] = {}
    cost = 0.0
    while True:
        if grammar.final_costs[state] != IMPOSSIBLE:
            found.setdefault(0, (cost + grammar.final_costs[state], state))
        for label, (following, word_cost) in grammar.arcs[state].items():
            if label != grammar.back_off_label:
                found.setdefault(label, (cost + word_cost, following))
        if grammar.back_off_label not in grammar.arcs[state]:
            break
        state, back_off = grammar.arcs[state][grammar.back_off_label]
        cost += back_off
    return list(found), [cost for cost, _ in found.values()], [target for _, target in found.values()]
