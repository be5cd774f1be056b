"""The same automaton of lexicon and grammar by OpenFst: the peer, and the reference of the tests."""

import kaldifst

from asr.decode.merging import PRECISION
from asr.decode.prefix_trees import InputLabels, labeled_pronunciations
from asr.grammar import Grammar
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon


def lexicon_transducer(
    lexicon: Lexicon, grammar: Grammar, topology: Topology, labels: InputLabels
) -> kaldifst.StdVectorFst:
    """Return L: the pronunciations of the grammar's words, in a loop with pauses, sorted by output label."""
    fst = kaldifst.StdVectorFst()
    begin, between, after = fst.add_state(), fst.add_state(), fst.add_state()
    fst.start = begin
    fst.set_final(between, 0.0)
    pauses = labels.pauses(lexicon)
    for source, allowed in ((begin, pauses[:2]), (after, pauses)):
        for label in allowed:
            fst.add_arc(source, kaldifst.StdArc(label, 0, 0.0, between))
    fst.add_arc(between, kaldifst.StdArc(labels.back_off, grammar.back_off_label, 0.0, between))
    for word, inputs, cost in labeled_pronunciations(lexicon, grammar, topology, labels):
        source = between
        for position, label in enumerate(inputs):
            target = after if position == len(inputs) - 1 else fst.add_state()
            first = position == 0
            fst.add_arc(source, kaldifst.StdArc(label, word if first else 0, cost if first else 0.0, target))
            source = target
    kaldifst.arcsort(fst, sort_type="olabel")
    return fst


def compose(transducer: kaldifst.StdVectorFst, grammar: Grammar) -> kaldifst.StdVectorFst:
    """Return L o G, determinized and minimized (Mohri, Pereira and Riley 2002)."""
    composed = kaldifst.compose(transducer, grammar.fst)
    kaldifst.determinize_star(composed, delta=PRECISION, use_log=False)
    kaldifst.minimize_encoded(composed, delta=PRECISION)
    return composed
