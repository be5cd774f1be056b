"""Graph of a grammar without sharing below phones: the peer, and the reference of the tests."""

import kaldifst

from asr.decode.graph_compiler import compose
from asr.decode.lexicon_transducer import InputLabels, lexicon_transducer
from asr.grammar import Grammar
from asr.hmm.state_graph import NO_WORD, StateGraph, StateGraphBuilder
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon


def unshared_graph(lexicon: Lexicon, grammar: Grammar, topology: Topology) -> StateGraph:
    """Build the graph of `compile_graph` arc by arc: every phone has its own units, and the pause-free path is an
    epsilon.
    """
    labels = InputLabels(topology)
    fst = compose(_with_epsilons(lexicon_transducer(lexicon, grammar, topology, labels), labels.no_pause), grammar)
    builder = StateGraphBuilder(grammar.words)
    nodes = [builder.node() for _ in range(fst.num_states)]
    for state, start in enumerate(nodes):
        cost = fst.final(state).value
        if cost != float("inf"):
            builder.finish(start, -cost)
        for arc in kaldifst.ArcIterator(fst, state):
            word = arc.olabel - 1 if 1 <= arc.olabel <= len(grammar.words) else NO_WORD
            weight, end = -arc.weight.value, nodes[arc.nextstate]
            if arc.ilabel == 0 or arc.ilabel >= labels.back_off:
                builder.jump(start, end, weight=weight, word=word)
                continue
            phone, begins_word = divmod(arc.ilabel - 1, 2)
            units = topology.units(topology.phone_names[phone])
            builder.chain(start, end, units, weight=weight, word=word, begins_word=bool(begins_word))
    return builder.build(nodes[fst.start])


def _with_epsilons(fst: kaldifst.StdVectorFst, label: int) -> kaldifst.StdVectorFst:
    """Return a copy in which `label` is an epsilon input."""
    copy = kaldifst.StdVectorFst()
    for _ in range(fst.num_states):
        copy.add_state()
    copy.start = fst.start
    for state in range(fst.num_states):
        copy.set_final(state, fst.final(state).value)
        for arc in kaldifst.ArcIterator(fst, state):
            read = 0 if arc.ilabel == label else arc.ilabel
            copy.add_arc(state, kaldifst.StdArc(read, arc.olabel, arc.weight.value, arc.nextstate))
    kaldifst.arcsort(copy, sort_type="olabel")
    return copy
