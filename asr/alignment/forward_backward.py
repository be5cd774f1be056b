"""The forward-backward recursions over a transcript graph (Baum 1972; Rabiner 1989, equations 19-27)."""

from dataclasses import dataclass

import numpy as np

from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology
from discriminants.util.numba_cache import njit


@dataclass(frozen=True)
class Posteriors:
    """Expected occupancies of one utterance."""

    log_likelihood: float  # natural log of the likelihood over all paths
    states: np.ndarray  # float64 (n_frames, n_states); state posteriors; rows sum to 1
    stays: np.ndarray  # float64 (n_units,); expected self-transitions
    visits: np.ndarray  # float64 (n_units,); expected entries


def forward_backward(
    scores: np.ndarray, graph: StateGraph, topology: Topology, self_loops: np.ndarray
) -> Posteriors | None:
    """Return the posterior of every state at every frame; None if no path fits into the frames.

    `scores`, float (n_frames, n_states), are natural log-likelihoods. `graph` is acyclic except for self-loops, as from
    `transcript_graph`. `self_loops` is float64 (n_units,).
    """
    order = graph.topological_order()
    with np.errstate(divide="ignore"):
        stay, leave = np.log(self_loops)[graph.arc_unit], np.log1p(-self_loops)[graph.arc_unit]
    log_likelihood, states, stayed, entered = _recursions(
        np.ascontiguousarray(scores, np.float64),
        order,
        (graph.arc_start, graph.arc_end, topology.unit_state[graph.arc_unit], stay, leave, graph.arc_weight),
        (graph.jump_start, graph.jump_end, graph.jump_weight),
        graph.final_weight,
        graph.initial,
        topology.n_states,
    )
    if not np.isfinite(log_likelihood):
        return None
    return Posteriors(
        log_likelihood,
        states,
        np.bincount(graph.arc_unit, stayed, topology.n_units),
        np.bincount(graph.arc_unit, entered, topology.n_units),
    )


@njit(cache=True, nogil=True)
def _log_add(a, b):
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))


@njit(cache=True, nogil=True)
def _recursions(scores, order, arcs, jumps, final_weight, initial, n_states):
    arc_start, arc_end, arc_state, stay, leave, arc_weight = arcs
    jump_start, jump_end, jump_weight = jumps
    n_frames = scores.shape[0]
    n_arcs = len(arc_end)
    n_nodes = len(order)
    inside = np.full((n_frames, n_arcs), -np.inf)  # forward: in the arc after its frame's score
    node = np.full(n_nodes, -np.inf)
    node[initial] = 0.0
    at_node = np.full((n_frames + 1, n_nodes), -np.inf)
    for frame in range(n_frames + 1):
        for n in order:
            if node[n] > -np.inf:
                for jump in range(jump_start[n], jump_start[n + 1]):
                    target = jump_end[jump]
                    node[target] = _log_add(node[target], node[n] + jump_weight[jump])
        for n in range(n_nodes):  # a slice assignment takes seconds to compile
            at_node[frame, n] = node[n]
        if frame == n_frames:
            break
        following = np.full(n_nodes, -np.inf)
        for n in range(n_nodes):
            for arc in range(arc_start[n], arc_start[n + 1]):
                total = node[n] + arc_weight[arc]
                if frame > 0:
                    total = _log_add(total, inside[frame - 1, arc] + stay[arc])
                if total > -np.inf:
                    total += scores[frame, arc_state[arc]]
                    inside[frame, arc] = total
                    target = arc_end[arc]
                    following[target] = _log_add(following[target], total + leave[arc])
        node = following

    likelihood = -np.inf
    for n in range(n_nodes):
        likelihood = _log_add(likelihood, at_node[n_frames, n] + final_weight[n])
    occupied = np.zeros((n_frames, n_states))
    stayed = np.zeros(n_arcs)
    entered = np.zeros(n_arcs)
    if likelihood == -np.inf:
        return likelihood, occupied, stayed, entered

    after = final_weight.copy()  # backward at nodes, after the current frame
    later = np.full(n_arcs, -np.inf)  # backward in arcs, from the frame after the current one
    for frame in range(n_frames - 1, -1, -1):
        for i in range(n_nodes - 1, -1, -1):
            n = order[i]
            for jump in range(jump_start[n], jump_start[n + 1]):
                after[n] = _log_add(after[n], after[jump_end[jump]] + jump_weight[jump])
        before = np.full(n_nodes, -np.inf)
        for n in range(n_nodes):
            for arc in range(arc_start[n], arc_start[n + 1]):
                to_come = after[arc_end[arc]] + leave[arc]
                if frame < n_frames - 1:
                    staying = stay[arc] + later[arc]
                    stayed[arc] += np.exp(inside[frame, arc] + staying - likelihood)
                    to_come = _log_add(to_come, staying)
                occupied[frame, arc_state[arc]] += np.exp(inside[frame, arc] + to_come - likelihood)
                later[arc] = to_come + scores[frame, arc_state[arc]]
                entry = arc_weight[arc] + later[arc]
                entered[arc] += np.exp(at_node[frame, n] + entry - likelihood)
                before[n] = _log_add(before[n], entry)
        after = before
    return likelihood, occupied, stayed, entered
