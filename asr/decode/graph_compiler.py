"""Compilation of lexicon, grammar and phone models into a static graph: determinized and minimized L o G, then units.

With context-dependent states it is C o L o G (Mohri, Pereira and Riley 2002).
"""

import numpy as np

from asr.decode.context_expansion import in_context
from asr.decode.filler import FILLER_UNIT, with_filler
from asr.decode.graph_expansion import expand_phones
from asr.decode.prefix_trees import InputLabels, lexicon_with_grammar
from asr.grammar import Grammar
from asr.grammar.automaton import IMPOSSIBLE, MAX_COST
from asr.grammar.automaton_arrays import automaton_arrays
from asr.grammar.filler import without_filler
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon
from asr.util.errors import DecodeError, LexiconError

MAX_PHONES = 30_000_000
"""Limit on the phones of all pronunciations at all arcs of the grammar, before sharing: about 10 GB of graph."""


def compile_graph(lexicon: Lexicon, grammar: Grammar, topology: Topology) -> StateGraph:
    """Compile the decoding graph.

    Silence may begin an utterance; a short pause or silence may follow every word. The word `[unk]`, unless it is in
    the lexicon, is the filler, any string of phones (`asr.decode.filler`). Raises LexiconError if a word of the grammar
    has no pronunciation, or one with an unknown phone, and DecodeError if the grammar accepts no sentence, has a cost
    that is not finite or beyond `MAX_COST`, or the graph would be too large.
    """
    missing = [word for word in without_filler(grammar.words) if word not in lexicon.pronunciations]
    if missing:
        shown = " ".join(missing[:10]) + (" ..." if len(missing) > 10 else "")
        raise LexiconError(
            f"grammar {grammar.name!r} uses {len(missing)} words that are missing in the lexicon: {shown}. Add "
            "their pronunciations"
        )
    _check_arcs(lexicon, grammar)
    labels = InputLabels(topology)
    automaton = lexicon_with_grammar(lexicon, grammar, topology, labels)
    if automaton is None:
        raise DecodeError(f"grammar {grammar.name!r} has no sentence with words of the lexicon")
    if topology.tying is not None:
        return with_filler(expand_phones(*in_context(automaton, topology, labels), words=grammar.words), topology)
    chains = [*(topology.units(phone) for phone in topology.phone_names), [FILLER_UNIT]]
    return with_filler(expand_phones(automaton, chains, words=grammar.words), topology)


def _check_arcs(lexicon: Lexicon, grammar: Grammar) -> None:
    """Raise DecodeError for costs that are not finite or too large, and for a graph that would be too large."""
    automaton = automaton_arrays(grammar.fst)
    for costs in (automaton.final_cost[automaton.final_cost != IMPOSSIBLE], automaton.cost):
        wrong = ~(np.abs(costs) <= MAX_COST)
        if wrong.any():
            raise _no_cost(grammar, float(costs[wrong.argmax()]))
    spoken = lexicon.pronunciations
    n_phones = np.array([0, *(sum(map(len, spoken.get(word, ()))) for word in grammar.words), 0])
    total = int(n_phones[automaton.input_label].sum())
    if total > MAX_PHONES:
        raise DecodeError(
            f"the graph of grammar {grammar.name!r} would have {total} phones. Expected at most {MAX_PHONES}. Use "
            "a grammar with fewer n-grams, or a lexicon with fewer pronunciations"
        )


def _no_cost(grammar: Grammar, cost: float) -> DecodeError:
    return DecodeError(
        f"grammar {grammar.name!r} has an arc or final state with cost {cost:g}. Expected finite costs, -ln p, "
        f"within {MAX_COST:g} of 0"
    )
