"""The arrays of a state graph that the search reads, with scaled weights and penalties for words and fillers."""

from typing import NamedTuple

import numpy as np

from asr.hmm.state_graph import FILLER_PHONE, StateGraph


class ScaledWeights(NamedTuple):
    """Weights of a graph as the search adds them, float64."""

    arc: np.ndarray
    jump: np.ndarray
    final: np.ndarray


def scaled_weights(
    graph: StateGraph, lm_scale: float, insertion_penalty: float, filler_penalty: float = 0.0
) -> ScaledWeights:
    """Multiply the weights by `lm_scale`, and add a penalty for every word and for every phone of a filler."""
    return ScaledWeights(
        _scaled(graph.arc_weight, lm_scale, graph.arc_word >= 0, insertion_penalty)
        + filler_penalties(graph, filler_penalty),
        _scaled(graph.jump_weight, lm_scale, graph.jump_word >= 0, insertion_penalty),
        _scaled(graph.final_weight, lm_scale),
    )


def filler_penalties(graph: StateGraph, filler_penalty: float) -> np.ndarray | float:
    """Return the filler penalty of every arc, float64 (n_arcs,), or 0 without a filler."""
    return 0.0 if graph.arc_filler is None else np.where(graph.arc_filler == FILLER_PHONE, filler_penalty, 0.0)


def _scaled(
    weights: np.ndarray, lm_scale: float, is_word: np.ndarray | None = None, insertion_penalty: float = 0.0
) -> np.ndarray:
    """Return weights * lm_scale with the penalty for words, in few passes over the millions of weights.

    Impossible weights, -inf, stay so for a scale of zero.
    """
    if lm_scale > 0:
        scaled = weights * lm_scale
    else:
        scaled = np.multiply(weights, lm_scale, out=np.full(len(weights), -np.inf), where=weights > -np.inf)
    if insertion_penalty and is_word is not None:
        np.add(scaled, insertion_penalty, out=scaled, where=is_word)
    return scaled


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
