"""Weights of a graph for the search: scaled, with penalties for words and fillers."""

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
