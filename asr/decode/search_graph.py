"""The arrays of a state graph that the search reads."""

from typing import NamedTuple

import numpy as np

from asr.decode.scaled_weights import ScaledWeights
from asr.hmm.state_graph import StateGraph


class Arcs(NamedTuple):
    """Arcs that emit frames; those from node i are `start[i]:start[i + 1]`.

    Attributes
    ----------
    start : int (n_nodes + 1,)
    end, unit : int (n_arcs,)
        Node that each arc leads to, and its unit.
    weight : float64 (n_arcs,)
        Scaled, with penalties.
    """

    start: np.ndarray
    end: np.ndarray
    unit: np.ndarray
    weight: np.ndarray


class Jumps(NamedTuple):
    """Epsilon arcs; those from node i are `start[i]:start[i + 1]`.

    Attributes
    ----------
    start : int (n_nodes + 1,)
    end : int (n_jumps,)
        Node that each jump leads to.
    weight : float64 (n_jumps,)
        Scaled, with penalties.
    is_word : bool (n_jumps,)
    """

    start: np.ndarray
    end: np.ndarray
    weight: np.ndarray
    is_word: np.ndarray


class Units(NamedTuple):
    """Emission states and transitions of units.

    Attributes
    ----------
    state : int32 (n_units,)
    stay, leave : float64 (n_units,)
        Natural logs of staying in a unit and of leaving it.
    """

    state: np.ndarray
    stay: np.ndarray
    leave: np.ndarray


class SearchGraph(NamedTuple):
    """A state graph with scaled weights, as arrays for compiled functions.

    Attributes
    ----------
    arcs : Arcs
    jumps : Jumps
    units : Units
    final_weight : float64 (n_nodes,)
        Scaled; -inf at nodes that are not final.
    """

    arcs: Arcs
    jumps: Jumps
    units: Units
    final_weight: np.ndarray


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
    """Natural logs of staying in a unit and of leaving it, float64 (n_units,)."""
    self_loops = np.asarray(self_loops, np.float64)  # the one type that the search is compiled for
    with np.errstate(divide="ignore"):
        return np.log(self_loops), np.log1p(-self_loops)
