"""The arrays of a state graph that the search reads."""

from typing import NamedTuple

import numpy as np

from asr.decode.scaled_weights import ScaledWeights
from asr.hmm.state_graph import StateGraph


class Arcs(NamedTuple):
    """Arcs that emit frames; those from node i are `start[i]:start[i + 1]`."""

    start: np.ndarray  # int (n_nodes + 1,)
    end: np.ndarray  # int (n_arcs,), node
    unit: np.ndarray  # int (n_arcs,)
    weight: np.ndarray  # float64 (n_arcs,), scaled, with penalties


class Jumps(NamedTuple):
    """Epsilon arcs; those from node i are `start[i]:start[i + 1]`."""

    start: np.ndarray  # int (n_nodes + 1,)
    end: np.ndarray  # int (n_jumps,), node
    weight: np.ndarray  # float64 (n_jumps,), scaled, with penalties
    is_word: np.ndarray  # bool (n_jumps,)


class Units(NamedTuple):
    """Emission states and transitions of units."""

    state: np.ndarray  # int32 (n_units,)
    stay: np.ndarray  # float64 (n_units,), natural log
    leave: np.ndarray  # float64 (n_units,), natural log


class SearchGraph(NamedTuple):
    """A state graph with scaled weights, as arrays for compiled functions."""

    arcs: Arcs
    jumps: Jumps
    units: Units
    final_weight: np.ndarray  # float64 (n_nodes,), scaled; -inf at nodes that are not final


def search_graph(
    graph: StateGraph, unit_state: np.ndarray, self_loops: np.ndarray, weights: ScaledWeights
) -> SearchGraph:
    """Return the arrays of a graph for a search with these weights."""
    return SearchGraph(
        Arcs(graph.arc_start, graph.arc_end, graph.arc_unit, weights.arc),
        Jumps(graph.jump_start, graph.jump_end, weights.jump, graph.jump_word >= 0),
        Units(unit_state, *transitions(self_loops)),
        weights.final,
    )


def transitions(self_loops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return natural logs of staying in a unit and of leaving it, float64 (n_units,)."""
    self_loops = np.asarray(self_loops, np.float64)  # the only type that the search is compiled for
    with np.errstate(divide="ignore"):
        return np.log(self_loops), np.log1p(-self_loops)
