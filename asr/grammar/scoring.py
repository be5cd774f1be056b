"""Questions to a grammar: how likely is a sentence, how hard is a text, what does a random sentence look
like.
 All follow the exact reading of back-off: a `#0` arc is taken only where the state has no arc for the next
word.
"""

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from asr.grammar.automaton import IMPOSSIBLE, Grammar

if TYPE_CHECKING:
    import numpy as np


def score_sentence(grammar: Grammar, words: Iterable[str]) -> float:
    """Natural log probability of the sentence `words`, its end included; -inf if it is not accepted."""
    state, total = grammar.fst.start, 0.0
    for word in words:
        label = grammar.labels.get(word, 0)
        cost, following = step(grammar, state, label)
        if following is None:
            return -IMPOSSIBLE
        state, total = following, total + cost
    return -(total + end_cost(grammar, state))


def refused_at(grammar: Grammar, sentences: Iterable[Sequence[str]]) -> list[int | None]:
    """For every sentence, the place (from 0) of the first word that cannot follow those before it; the number of its
    words where it cannot end there, and None where the grammar accepts it.

    Backing off is possible beside an explicit arc too, as in a decoding graph.
    """
    import kaldifst

    @cache
    def arcs(state: int) -> dict[int, int]:  # of the states that are reached alone: a grammar may have millions
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
    """Inverse geometric mean of the probability of a word, a sentence end counting as a word.

    inf when the grammar does not accept some sentence; nan for no sentences. A word loop ends at no cost and
    is no probability distribution over sentences: its figure is no perplexity.
    """
    total, n_words = 0.0, 0
    for words in sentences:
        total += score_sentence(grammar, words)
        n_words += len(words) + 1
    if n_words == 0:
        return math.nan
    return math.exp(-total / n_words) if total > -IMPOSSIBLE else IMPOSSIBLE


def sample_sentence(grammar: Grammar, rng: "np.random.Generator") -> tuple[str, ...]:
    """A random sentence, each next word (or the end) drawn with its probability in the present state.

    Where the weights of a state are no distribution (a word loop, a restricted vocabulary) they are
    normalized first.
    """
    state, words = grammar.fst.start, list[str]()
    while True:
        labels, costs, targets = _choices(grammar, state)
        weights = [math.exp(min(costs) - cost) for cost in costs]
        choice = int(rng.choice(len(labels), p=[weight / math.fsum(weights) for weight in weights]))
        if labels[choice] == 0:
            return tuple(words)
        words.append(grammar.words[labels[choice] - 1])
        state = targets[choice]


def step(grammar: Grammar, state: int, label: int) -> tuple[float, int | None]:
    """Cost, -ln p, of reading `label` in a state, back-off included, and the next state (None when there is none)."""
    cost = 0.0
    while label not in grammar.arcs[state]:
        if grammar.back_off_label not in grammar.arcs[state]:
            return IMPOSSIBLE, None
        state, back_off = grammar.arcs[state][grammar.back_off_label]
        cost += back_off
    following, word_cost = grammar.arcs[state][label]
    return cost + word_cost, following


def end_cost(grammar: Grammar, state: int) -> float:
    """Cost, -ln p, of ending the sentence in `state`, back-off included; inf where it cannot end."""
    cost = 0.0
    while grammar.final_costs[state] == IMPOSSIBLE:
        if grammar.back_off_label not in grammar.arcs[state]:
            return IMPOSSIBLE
        state, back_off = grammar.arcs[state][grammar.back_off_label]
        cost += back_off
    return cost + grammar.final_costs[state]


def _choices(grammar: Grammar, state: int) -> tuple[list[int], list[float], list[int]]:
    """Labels (0: sentence end), costs and next states of all that can follow, back-off included."""
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
