"""Forward-backward and the search against hmmlearn's own recursions."""

import numpy as np
import pytest

pytest.importorskip("hmmlearn", reason="hmmlearn is not installed; it has no wheel for Python 3.14")

from hmmlearn.base import BaseHMM
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.alignment.forward_backward import forward_backward
from asr.decode.path_segments import frame_units
from asr.decode.token_passing import best_path
from asr.hmm.state_graph import StateGraph, StateGraphBuilder
from asr.hmm.topology import Topology

TOPOLOGY = Topology(("x", "y"), states_per_phone=1)


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
    # Units that share a state can be exchanged without a change of the score.
    unit_state = TOPOLOGY.unit_state
    assert unit_state[frame_units(path, graph)].tolist() == unit_state[graph.arc_unit[arcs[:-1]]].tolist()
