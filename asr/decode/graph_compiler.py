"""Compilation of lexicon, grammar and phone models into a static graph: determinized and minimized L o G, then units.

With context-dependent states it is C o L o G. The recipe is that of Mohri, Pereira and Riley (2002), in the tropical
semiring with OpenFst: compose, determinize, minimize. Then every phone becomes its chain of units, and equal ends of
phones are shared.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from asr.decode.context_expansion import in_context
from asr.decode.filler import FILLER_UNIT, with_filler
from asr.decode.lexicon_transducer import InputLabels, lexicon_transducer
from asr.grammar import Grammar
from asr.grammar.automaton import IMPOSSIBLE, MAX_COST
from asr.grammar.automaton_arrays import AutomatonArrays, automaton_arrays
from asr.grammar.filler import without_filler
from asr.hmm.state_graph import NO_WORD, StateGraph
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


def expand_phones(automaton: AutomatonArrays, chains: Sequence[Sequence[int]], words: tuple[str, ...]) -> StateGraph:
    """Replace every phone by its units and every other label by a jump.

    A label is 1 + 2 * the number of a chain of units, plus 1 if the phone begins a word; 0 and labels above those take
    no frames. Weight, word and the mark of a word's beginning are on a phone's first unit. Arcs of the same phone to
    the same state share the other units; their tokens have the same future, so the best path does not change.

    Nodes are the automaton's states and, after them, those inside phones. Arcs of a node keep the automaton's order.
    """
    n_states = len(automaton.final_cost)
    source = np.repeat(np.arange(n_states, dtype=np.int32), np.diff(automaton.arc_start))
    word = np.where(
        (automaton.output_label >= 1) & (automaton.output_label <= len(words)), automaton.output_label - 1, NO_WORD
    ).astype(np.int32)
    takes_time = (automaton.input_label > 0) & (automaton.input_label < 1 + 2 * len(chains))
    phone, begins_word = np.divmod(automaton.input_label[takes_time] - 1, 2)
    target = automaton.target[takes_time]

    first_unit = np.array([units[0] for units in chains], np.int32)
    n_inside = np.array([len(units) - 1 for units in chains])
    inside = np.array([unit for units in chains for unit in units[1:]], np.int32)
    begin_inside = np.cumsum(n_inside) - n_inside
    tails, tail = np.unique(target.astype(np.int64) * len(chains) + phone, return_inverse=True)
    tail_end, tail_phone = np.divmod(tails, len(chains))
    lengths = n_inside[tail_phone]
    ends = np.cumsum(lengths)
    tail_node = n_states + ends - lengths
    # One arc leads from each inner node: to the next inner node, or to the tail's end.
    inner = np.arange(n_states, n_states + int(lengths.sum()), dtype=np.int32)
    inner_unit = inside[np.repeat(begin_inside[tail_phone] - tail_node, lengths) + inner]
    inner_end = inner + 1
    inner_end[ends[lengths > 0] - 1] = tail_end[lengths > 0]
    n_inner = len(inner)

    jumps = ~takes_time
    arcs_of = np.bincount(source[takes_time], minlength=n_states)
    jumps_of = np.bincount(source[jumps], minlength=n_states)
    return StateGraph(
        arc_start=_offsets(np.concatenate([arcs_of, np.ones(n_inner, np.int64)])),
        arc_end=np.concatenate([np.where(n_inside[phone] > 0, tail_node[tail], target), inner_end]).astype(np.int32),
        arc_unit=np.concatenate([first_unit[phone], inner_unit]),
        arc_weight=np.concatenate([_weights(automaton.cost[takes_time]), np.zeros(n_inner)]),
        arc_word=np.concatenate([word[takes_time], np.full(n_inner, NO_WORD, np.int32)]),
        arc_begins_word=np.concatenate([begins_word.astype(np.bool_), np.zeros(n_inner, np.bool_)]),
        jump_start=_offsets(np.concatenate([jumps_of, np.zeros(n_inner, np.int64)])),
        jump_end=automaton.target[jumps],
        jump_weight=_weights(automaton.cost[jumps]),
        jump_word=word[jumps],
        final_weight=np.concatenate([_weights(automaton.final_cost), np.full(n_inner, -np.inf)]),
        initial=automaton.start,
        words=words,
    )


def _offsets(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def _weights(costs: np.ndarray) -> np.ndarray:
    """Convert costs to natural log probabilities, float64, without negative zeros."""
    return 0.0 - costs.astype(np.float64)
