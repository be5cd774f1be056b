"""Compilation of lexicon, grammar and phone models into a static graph: determinized and minimized L o G, then units.

With context-dependent states it is C o L o G. The recipe is that of Mohri, Pereira and Riley (2002), in the tropical
semiring with OpenFst: compose, determinize, minimize.
"""

from typing import TYPE_CHECKING

import numpy as np

from asr.decode.context_expansion import in_context
from asr.decode.filler import FILLER_UNIT, with_filler
from asr.decode.graph_expansion import expand_phones
from asr.decode.lexicon_transducer import InputLabels, lexicon_transducer
from asr.grammar import Grammar
from asr.grammar.automaton import IMPOSSIBLE, MAX_COST
from asr.grammar.automaton_arrays import automaton_arrays
from asr.grammar.filler import without_filler
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon
from asr.util.errors import DecodeError, LexiconError

if TYPE_CHECKING:
    import kaldifst

COST_PRECISION = 1e-5
"""Costs that differ by less are equal. OpenFst's own 1/1024 changes scores and saves almost nothing."""
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
    composed = compose(lexicon_transducer(lexicon, grammar, topology, labels), grammar)
    if composed.start < 0:
        raise DecodeError(f"grammar {grammar.name!r} has no sentence with words of the lexicon")
    if topology.tying is not None:
        return with_filler(expand_phones(*in_context(composed, topology, labels), words=grammar.words), topology)
    automaton = automaton_arrays(composed)
    del composed
    chains = [*(topology.units(phone) for phone in topology.phone_names), [FILLER_UNIT]]
    return with_filler(expand_phones(automaton, chains, words=grammar.words), topology)


def _check_arcs(lexicon: Lexicon, grammar: Grammar) -> None:
    """Check costs and size, because determinization does not end for infinite costs and cannot be interrupted."""
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


def compose(transducer: "kaldifst.StdVectorFst", grammar: Grammar) -> "kaldifst.StdVectorFst":
    """Return L o G, determinized and minimized. The transducer's arcs are sorted by output label."""
    import kaldifst

    composed = kaldifst.compose(transducer, grammar.fst)
    kaldifst.determinize_star(composed, delta=COST_PRECISION, use_log=False)
    kaldifst.minimize_encoded(composed, delta=COST_PRECISION)
    return composed
