"""Forward-backward against enumeration of all paths, and both recursions against hmmlearn."""

import numpy as np
import pytest
from hmmlearn.base import BaseHMM
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.alignment.forward_backward import forward_backward
from asr.alignment.transcript_graph import transcript_graph
from asr.decode.path_segments import frame_units
from asr.decode.token_passing import best_path
from asr.hmm.state_graph import StateGraph, StateGraphBuilder
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


class ArcChain(BaseHMM):
    """hmmlearn's recursions over given scores: an observation is a row number.

    One hidden state an arc and a last one for the end, which a frame of its own past the utterance must
    meet: so the probability of leaving the last unit counts.
    """

    def __init__(self, graph: StateGraph, scores: np.ndarray, unit_state: np.ndarray, self_loops: np.ndarray) -> None:
        super().__init__(n_components=graph.n_arcs + 1, implementation="log")
        n_nodes, n_arcs = graph.n_nodes, graph.n_arcs
        jumps = np.zeros((n_nodes, n_nodes))
        jump_from = np.repeat(np.arange(n_nodes), np.diff(graph.jump_start))
        np.add.at(jumps, (jump_from, graph.jump_end), np.exp(graph.jump_weight))
        reach = np.linalg.inv(np.eye(n_nodes) - jumps)
        enter = np.zeros((n_nodes, n_arcs + 1))
        enter[np.repeat(np.arange(n_nodes), np.diff(graph.arc_start)), np.arange(n_arcs)] = np.exp(graph.arc_weight)
        enter[:, -1] = np.exp(graph.final_weight)
        enter = reach @ enter
        stay = self_loops[graph.arc_unit]
        self.startprob_ = enter[graph.initial]
        self.transmat_ = np.zeros((n_arcs + 1, n_arcs + 1))
        self.transmat_[:-1] = (1 - stay)[:, None] * enter[graph.arc_end]
        self.transmat_[np.arange(n_arcs), np.arange(n_arcs)] += stay
        self.transmat_[-1, -1] = 1.0
        self._log_scores = np.full((len(scores) + 1, n_arcs + 1), -np.inf)
        self._log_scores[:-1, :-1] = scores[:, unit_state[graph.arc_unit]]
        self._log_scores[-1, -1] = 0.0
        self.rows = np.arange(len(scores) + 1)[:, None]

    def _compute_log_likelihood(self, X: np.ndarray) -> np.ndarray:
        return self._log_scores[X[:, 0]]


def stochastic_graph(rng: np.random.Generator, n_nodes: int) -> StateGraph:
    """Forward arcs of random probability, from every node at most one jump, an end at the last node."""
    builder = StateGraphBuilder([])
    for _ in range(n_nodes):
        builder.node()
    for node in range(n_nodes - 1):
        targets = rng.integers(node + 1, n_nodes, size=rng.integers(1, 4)).tolist()
        *arcs, jump = np.log(rng.dirichlet(np.ones(len(targets) + 1))).tolist()
        has_jump = rng.random() < 0.5
        scale = 0.0 if has_jump else np.log1p(-np.exp(jump))
        for target, weight in zip(targets, arcs, strict=True):
            builder.chain(node, target, [int(rng.integers(TOPOLOGY.n_units))], weight=weight - scale)
        if has_jump:
            builder.jump(node, int(rng.integers(node + 1, n_nodes)), weight=jump)
    builder.finish(n_nodes - 1)
    return builder.build(0)


@settings(max_examples=60)
@given(st.integers(2, 8), st.integers(8, 30), st.integers(0, 2**32 - 1))
def test_likelihood_posteriors_and_best_path_are_those_of_hmmlearn(n_nodes, n_frames, seed):
    rng = np.random.default_rng(seed)
    graph = stochastic_graph(rng, n_nodes)
    scores = rng.normal(scale=3.0, size=(n_frames, TOPOLOGY.n_states)).astype(np.float32)
    self_loops = rng.uniform(0.1, 0.9, TOPOLOGY.n_units)
    oracle = ArcChain(graph, scores, TOPOLOGY.unit_state, self_loops)

    ours = forward_backward(scores, graph, TOPOLOGY, self_loops)
    log_likelihood, arc_posteriors = oracle.score_samples(oracle.rows)
    states = np.zeros((n_frames, TOPOLOGY.n_states))
    np.add.at(states.T, TOPOLOGY.unit_state[graph.arc_unit], arc_posteriors[:-1, :-1].T)
    assert ours.log_likelihood == pytest.approx(log_likelihood, abs=1e-8)
    np.testing.assert_allclose(ours.states, states, atol=1e-8)

    path = best_path(scores, graph, TOPOLOGY.unit_state, self_loops)
    viterbi_score, arcs = oracle.decode(oracle.rows)
    assert path.complete
    assert path.score == pytest.approx(viterbi_score, abs=1e-8)
    # Units that share a state can change places without a change of the score.
    unit_state = TOPOLOGY.unit_state
    assert unit_state[frame_units(path, graph)].tolist() == unit_state[graph.arc_unit[arcs[:-1]]].tolist()


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
