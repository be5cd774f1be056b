"""Expansion of an automaton over phones to a graph of HMM units that shares equal ends of phones."""

from collections.abc import Sequence

import numpy as np

from asr.grammar.automaton_arrays import AutomatonArrays
from asr.hmm.state_graph import NO_WORD, StateGraph


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
