"""Graphs whose units depend on the neighbours: against every way of saying a sentence, spelled out."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.alignment.transcript_graph import transcript_graph
from asr.decode.context_expansion import merge_equal_states
from asr.decode.graph_compiler import compile_graph
from asr.decode.path_segments import phone_segments, word_segments
from asr.decode.token_passing import best_path
from asr.grammar.automaton_arrays import automaton_arrays
from asr.hmm.state_graph import StateGraphBuilder
from asr.hmm.state_tying import Context
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology
from tests.decode.test_graph_compiler import (
    N_FRAMES,
    best_grammar_score,
    grammars,
    scores_and_self_loops,
    weighted_lexicons,
)
from tests.hmm.random_tying import random_tying

seeds = st.integers(0, 2**32 - 1)


def topologies(seed: int) -> Topology:
    """Two phones of two states, tied at random."""
    return Topology(("x", "y"), 2, random_tying(seed, 2, 2))


def ways_to_say(words, lexicon):
    """Every string of (phone, begins a word) and its weight, with every choice of pronunciations and pauses."""
    for before in ((), (SILENCE,)):
        for spoken in product(*(lexicon.pronunciations[word] for word in words)):
            for pauses in product(((), (SHORT_PAUSE,), (SILENCE,)), repeat=len(words)):
                phones = [(phone, False) for phone in before]
                for pronunciation, pause in zip(spoken, pauses, strict=True):
                    phones += [(phone, place == 0) for place, phone in enumerate(pronunciation)]
                    phones += [(phone, False) for phone in pause]
                yield phones, sum(np.log(lexicon.probability(*one)) for one in zip(words, spoken, strict=True))


def units_said(phones, topology):
    """The units of one string of phones."""
    number = {**topology.phone_number, SHORT_PAUSE: 0}
    contexts = []
    for place, (phone, begins) in enumerate(phones):
        left = number[phones[place - 1][0]] if place else 0
        right, next_begins = phones[place + 1] if place + 1 < len(phones) else (SILENCE, False)
        ends = next_begins or number[right] == 0
        contexts.append(Context(topology.phone_number[phone], left, number[right], begins, ends))
    return [unit for units in topology.units_in(contexts) for unit in units]


@settings(max_examples=40)
@given(weighted_lexicons, st.lists(st.sampled_from("ABC"), max_size=2), seeds, seeds)
def test_a_transcript_is_aligned_as_the_best_of_all_ways_to_say_it(lexicon, words, tree, seed):
    topology = topologies(tree)
    scores, self_loops = scores_and_self_loops(seed, topology, N_FRAMES)
    best = -np.inf
    for phones, weight in ways_to_say(words, lexicon):
        units = units_said(phones, topology)
        if 0 < len(units) <= N_FRAMES:
            builder = StateGraphBuilder(())
            start, end = builder.node(), builder.node()
            builder.chain(start, end, units)
            builder.finish(end)
            path = best_path(scores, builder.build(start), topology.unit_state, self_loops)
            best = max(best, path.score + weight)
    graph = transcript_graph(words, lexicon, topology)
    graph.topological_order()  # no circle
    path = best_path(scores, graph, topology.unit_state, self_loops)
    assert (path is not None and path.complete) == np.isfinite(best)
    if np.isfinite(best):
        assert path.score == pytest.approx(best, abs=2e-4)
        assert [segment.label for segment in word_segments(path, graph, topology)] == words


@pytest.mark.slow
@settings(max_examples=20)
@given(weighted_lexicons, grammars(), seeds, seeds)
def test_decoding_finds_the_best_of_all_sentences(lexicon, grammar, tree, seed):
    topology = topologies(tree)
    scores, self_loops = scores_and_self_loops(seed, topology, N_FRAMES)
    graph = compile_graph(lexicon, grammar, topology)
    path = best_path(scores, graph, topology.unit_state, self_loops)
    totals = {}
    for length in range(N_FRAMES // 2 + 1):
        for words in product(grammar.words, repeat=length):
            grammar_score = best_grammar_score(grammar, words)
            if grammar_score > -np.inf:
                transcript = transcript_graph(words, lexicon, topology)
                alone = best_path(scores, transcript, topology.unit_state, self_loops)
                if alone is not None and alone.complete:
                    totals[words] = alone.score + grammar_score
    assert path is not None
    assert path.complete is bool(totals)
    if totals:
        words = tuple(segment.label for segment in word_segments(path, graph, topology))
        assert path.score == pytest.approx(max(totals.values()), abs=2e-4)
        assert totals[words] == pytest.approx(path.score, abs=2e-4)
        assert phone_segments(path, graph, topology)[-1].end == N_FRAMES


def accepted(automaton, length):
    """Cost of every pair of label strings with at most so many arcs, and how often it is accepted, up to rounding."""
    found = {}
    waiting = [(automaton.start, (), 0.0)]
    for _ in range(length + 1):
        following = []
        for state, labels, cost in waiting:
            total = cost + float(automaton.final_cost[state])
            if np.isfinite(total):
                found[labels] = min(total, found.get(labels, np.inf))
            for arc in range(automaton.arc_start[state], automaton.arc_start[state + 1]):
                pair = int(automaton.input_label[arc]), int(automaton.output_label[arc])
                following.append((int(automaton.target[arc]), (*labels, pair), cost + float(automaton.cost[arc])))
        waiting = following
    return found


@settings(max_examples=30)
@given(grammars())
def test_merged_states_accept_the_same(grammar):
    automaton = automaton_arrays(grammar.fst)
    merged = merge_equal_states(automaton)
    assert len(merged.final_cost) <= len(automaton.final_cost)
    before, after = accepted(automaton, 4), accepted(merged, 4)
    assert before.keys() == after.keys()
    for labels, cost in before.items():
        assert after[labels] == pytest.approx(cost, abs=1e-3)
    again = merge_equal_states(merged)
    assert len(again.final_cost) == len(merged.final_cost)
