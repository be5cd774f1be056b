"""The state graph of one transcript: its words in order, all their pronunciations, optional pauses."""

import math
from collections.abc import Sequence

from asr.decode.graph_compiler import compile_graph
from asr.grammar.automaton import Arc, build_grammar
from asr.hmm.state_graph import StateGraph, StateGraphBuilder
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology
from asr.lexicon import Lexicon
from asr.util.errors import LexiconError

MAX_UNITS = 1_000_000
"""An hour of speech has a quarter of it; the graph then takes some 100 MB."""


def transcript_graph(words: Sequence[str], lexicon: Lexicon, topology: Topology) -> StateGraph:
    """Build the graph that accepts exactly `words`, with optional silence first and optional pauses after words.

    The first arc of a pronunciation has the natural logarithm of its probability as its weight.
    Pauses are left out if the lexicon marks silence.

    Raises LexiconError if a word has no pronunciation or one with an unknown phone, or the graph would be too large.
    """
    missing = sorted({word for word in words if word not in lexicon.pronunciations})
    if missing:
        raise LexiconError(f"no pronunciation for {' '.join(missing)}. Add it to the lexicon")
    n_phones = sum(sum(map(len, lexicon.pronunciations[word])) for word in words)
    if n_phones * topology.states_per_phone > MAX_UNITS:
        raise LexiconError(
            f"the transcript of {len(words)} words has {n_phones} phones in all pronunciations, "
            f"of {topology.states_per_phone} states each. Expected at most {MAX_UNITS} states in an utterance"
        )
    if topology.tying is not None and words:
        return _in_context(words, lexicon, topology)
    builder = StateGraphBuilder(words)
    silence, pause = topology.units(SILENCE), topology.units(SHORT_PAUSE)
    start = builder.node()
    before = builder.node()
    builder.jump(start, before)
    if not lexicon.marks_silence:
        builder.chain(start, before, silence)
    for number, word in enumerate(words):
        after, following = builder.node(), builder.node()
        for pronunciation in lexicon.pronunciations[word]:
            units = [unit for phone in pronunciation for unit in topology.units(phone)]
            weight = math.log(lexicon.probability(word, pronunciation))
            builder.chain(before, after, units, weight=weight, word=number, begins_word=True)
        builder.jump(after, following)
        if not lexicon.marks_silence:
            builder.chain(after, following, pause)
            builder.chain(after, following, silence)
        before = following
    builder.finish(before)
    return builder.build(start)


def _in_context(words: Sequence[str], lexicon: Lexicon, topology: Topology) -> StateGraph:
    """Compile the transcript as a grammar of one sentence, for context-dependent units."""
    arcs = [Arc(number, word, 0.0, number + 1) for number, word in enumerate(words)]
    grammar = build_grammar("transcript", words, arcs, final_costs={len(words): 0.0}, n_states=len(words) + 1)
    return compile_graph(lexicon, grammar, topology)
