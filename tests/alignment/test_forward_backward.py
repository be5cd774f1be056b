"""Forward-backward against enumeration of all paths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.alignment.forward_backward import forward_backward
from asr.alignment.transcript_graph import transcript_graph
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon
from tests.decode.random_graphs import Problem, all_walks, problems

TWO_STATES = Topology(("x",), states_per_phone=1)  # units: silence, x, and the short pause tied to silence
LEXICON = Lexicon({"A": (("x",), ("y", "x")), "B": (("y",),), "C": (("x", "x"),)})
TOPOLOGY = Topology(("x", "y"), states_per_phone=1)


def compare_with_enumeration(problem: Problem, topology: Topology) -> None:
    """Weigh every walk by its probability and count what the recursions expect."""
    n_frames = len(problem.scores)
    states = np.zeros((n_frames, topology.n_states))
    stays, visits = np.zeros(topology.n_units), np.zeros(topology.n_units)
    likelihood = 0.0
    for walk in all_walks(problem):
        probability = np.exp(walk.score + problem.graph.final_weight[walk.node]) if walk.node is not None else 0.0
        likelihood += probability
        entries = [(frame, problem.graph.arc_unit[arc]) for frame, arc in walk.steps if arc >= 0]
        ends = [*(frame for frame, _ in entries[1:]), n_frames]
        for (start, unit), end in zip(entries, ends, strict=False):
            states[start:end, topology.unit_state[unit]] += probability
            visits[unit] += probability
            stays[unit] += probability * (end - start - 1)
    posteriors = forward_backward(problem.scores, problem.graph, topology, problem.self_loops)
    if likelihood == 0.0:
        assert posteriors is None
        return
    assert posteriors.log_likelihood == pytest.approx(np.log(likelihood), abs=1e-9)
    np.testing.assert_allclose(posteriors.states, states / likelihood, atol=1e-9)
    np.testing.assert_allclose(posteriors.states.sum(axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(posteriors.stays, stays / likelihood, atol=1e-9)
    np.testing.assert_allclose(posteriors.visits, visits / likelihood, atol=1e-9)


@settings(max_examples=200)
@given(problems(cyclic=False))
def test_random_graphs_give_the_expectations_over_all_paths(problem):
    compare_with_enumeration(problem, TWO_STATES)


@settings(max_examples=40)
@given(st.lists(st.sampled_from(LEXICON.words), max_size=3), st.integers(0, 5), st.integers(0, 2**32 - 1))
def test_variants_and_optional_pauses_give_the_expectations_over_all_paths(words, n_frames, seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(scale=2.0, size=(n_frames, TOPOLOGY.n_states)).astype(np.float32)
    self_loops = rng.uniform(0.1, 0.9, TOPOLOGY.n_units)
    graph = transcript_graph(words, LEXICON, TOPOLOGY)
    compare_with_enumeration(Problem(graph, scores, self_loops, TOPOLOGY.unit_state), TOPOLOGY)


def test_an_utterance_shorter_than_its_transcript_has_no_posteriors():
    graph = transcript_graph(["C"], LEXICON, TOPOLOGY)
    scores, self_loops = np.zeros((1, TOPOLOGY.n_states)), np.full(TOPOLOGY.n_units, 0.5)
    assert forward_backward(scores, graph, TOPOLOGY, self_loops) is None


def test_a_long_utterance_neither_underflows_nor_loses_probability():
    topology = Topology(("x", "y"))
    graph = transcript_graph(["A", "B", "C"] * 10, LEXICON, topology)
    scores = np.random.default_rng(0).normal(-80.0, 20.0, (3000, topology.n_states)).astype(np.float32)
    posteriors = forward_backward(scores, graph, topology, np.full(topology.n_units, 0.9))
    assert -1e6 < posteriors.log_likelihood < -1e4
    np.testing.assert_allclose(posteriors.states.sum(axis=1), 1.0, atol=1e-6)
    assert posteriors.stays.sum() + posteriors.visits.sum() == pytest.approx(3000)
