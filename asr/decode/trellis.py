"""All tokens of a search that lie near its best path: what lattices are made of.

A search that keeps its tokens writes down, frame by frame, which arcs and nodes it reached and with which score. That
is enough: the links between them are those of the graph, so none is stored. Every `PRUNE_FRAMES` frames the tokens that
no path within the lattice beam of the best one can need are dropped (Povey et al. 2012, section 3): those whose best
way to every token of the last frame falls further than the beam behind that token's own best way.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from discriminants.util.numba_cache import njit

PRUNE_FRAMES = 64
PRUNE_WINDOW = 256
"""Frames that are looked at again whenever tokens are dropped; those before have settled."""
MAX_TOKENS = 16_000_000
"""Beyond so many, of 12 bytes each, the lattice beam is narrowed until they fit."""
NARROWER = 0.7
MAX_BEAM = 1e4  # from which a lattice beam is narrowed where it holds too much
SLACK = 1e-6
"""Added to the beam, since sums of the same numbers in another order differ in the last digits."""


@dataclass(frozen=True)
class Trellis:
    """The tokens of a search near its best path.

    Layer 2 b are the nodes reached before frame b, with n_frames for the end; layer 2 b + 1 the arcs active in frame b.

    Attributes
    ----------
    layer_start : int64 (2 n_frames + 2,)
        Tokens of layer n are `layer_start[n]:layer_start[n + 1]`.
    place : int32 (n_tokens,)
        Number of the node or arc.
    forward : float64 (n_tokens,)
        Score of the best way there, the frame of an arc included.
    backward : float64 (n_tokens,)
        Score of the best way from there to an end, less the score of the best path.
    floor : float64 (n_frames,)
        Nodes below it entered no arc in this frame.
    beam : float
        What is further than this below the best path is not in it.
    best : float
        Score of the best path.
    """

    layer_start: np.ndarray
    place: np.ndarray
    forward: np.ndarray
    backward: np.ndarray
    floor: np.ndarray
    beam: float
    best: float

    def narrowed(self, most_tokens: float) -> "Trellis":
        """The same under the widest beam that leaves about so many tokens; itself where there are no more."""
        if len(self.place) <= most_tokens:
            return self
        behind = -(self.forward + self.backward)
        beam = max(0.0, float(np.partition(behind, int(most_tokens))[int(most_tokens)]))
        kept = behind <= beam + SLACK
        before = np.concatenate([[0], np.cumsum(kept)])
        return replace(
            self,
            layer_start=before[self.layer_start],
            place=self.place[kept],
            forward=self.forward[kept],
            backward=self.backward[kept],
            beam=beam,
        )


@njit(cache=True, nogil=True)
def grown(values, room=0):
    """The same values at the beginning of an array of twice the length, or of `room`."""
    larger = np.empty(max(16, 2 * len(values), room), values.dtype)
    for i in range(len(values)):  # a slice assignment takes seconds to compile
        larger[i] = values[i]
    return larger


class Layers(NamedTuple):
    """The tokens kept so far in a search.

    Attributes
    ----------
    start, floor : int64 (2 n_frames + 2,), float64 (n_frames,)
        As `layer_start` and `floor` of `Trellis`.
    place, forward : int32, float64
        As of `Trellis`, with room at their ends.
    arc_backward, node_backward : float64 (n_arcs,), float64 (n_nodes,)
        Backward scores of a layer while tokens are dropped; -inf at all other times.
    """

    start: np.ndarray
    floor: np.ndarray
    place: np.ndarray
    forward: np.ndarray
    arc_backward: np.ndarray
    node_backward: np.ndarray


@njit(cache=True, nogil=True)
def no_layers(graph, n_frames, keep):
    """Room for the tokens of a search over `n_frames`; none unless tokens are kept."""
    return Layers(
        np.zeros(2 * n_frames + 2 if keep else 0, np.int64),
        np.full(n_frames if keep else 0, -np.inf),
        np.empty(0, np.int32),
        np.empty(0),
        np.full(len(graph.arcs.end) if keep else 0, -np.inf),
        np.full(len(graph.final_weight) if keep else 0, -np.inf),
    )


@njit(cache=True, nogil=True)
def grown_layers(layers, n_tokens):
    """The same layers with room for at least `n_tokens`."""
    place, forward = grown(layers.place, n_tokens), grown(layers.forward, n_tokens)
    return Layers(layers.start, layers.floor, place, forward, layers.arc_backward, layers.node_backward)


@njit(cache=True, nogil=True)
def keep_layer(layers, layer, items, n_items, score):
    """Add a layer, for which there is room: the first `n_items` of `items`."""
    place, forward = layers.place, layers.forward
    n_tokens = layers.start[layer]
    for i in range(n_items):
        place[n_tokens] = items[i]
        forward[n_tokens] = score[items[i]]
        n_tokens += 1
    layers.start[layer + 1] = n_tokens


@njit(cache=True, nogil=True)
def drop_tokens_so_far(layers, frame, lattice_beam, scores, graph):
    """Drop the tokens up to `frame`, the latest one, that no path within the lattice beam can need.

    Where too many tokens are left the beam is narrowed. Returns the beam.
    """
    first = max(0, 2 * (frame + 1 - PRUNE_WINDOW))
    while True:
        drop_tokens(layers, first, 2 * frame + 2, lattice_beam, 0.0, np.bool_(False), scores, graph)
        if layers.start[2 * frame + 3] <= MAX_TOKENS or lattice_beam < 1.0:
            return lattice_beam
        lattice_beam = min(lattice_beam, MAX_BEAM) * NARROWER
        first = 0


@njit(cache=True, nogil=True)
def drop_tokens(layers, first, last, beam, best, at_end, scores, graph):
    """Keep, in place, the tokens of the layers `first` to `last`, the latest one, that lie within the beam.

    At the end of an utterance the scores backward are those of the way to an end; before it, every token of the last
    layers may be on the best path. Returns the scores backward of what is kept of these layers.
    """
    layer_start, floor, place, forward, arc_beta, node_beta = layers
    begin = layer_start[first]
    backward = np.empty(layer_start[last + 1] - begin)
    for layer in range(last, first - 1, -1):
        low, high = layer_start[layer], layer_start[layer + 1]
        frame = layer // 2
        if layer % 2 == 0:
            for i in range(low, high):
                node = place[i]
                beta = -np.inf
                if layer == last:
                    beta = graph.final_weight[node] - best if at_end else -forward[i]
                elif forward[i] >= floor[frame]:
                    for arc in range(graph.arcs.start[node], graph.arcs.start[node + 1]):
                        if arc_beta[arc] > -np.inf:
                            heard = scores[frame, graph.units.state[graph.arcs.unit[arc]]]
                            beta = max(beta, graph.arcs.weight[arc] + heard + arc_beta[arc])
                node_beta[node] = beta
            changed = True
            while changed:  # as often as jumps follow each other
                changed = False
                for i in range(high - 1, low - 1, -1):
                    node = place[i]
                    for jump in range(graph.jumps.start[node], graph.jumps.start[node + 1]):
                        beta = graph.jumps.weight[jump] + node_beta[graph.jumps.end[jump]]
                        if beta > node_beta[node]:
                            node_beta[node] = beta
                            changed = True
            for i in range(low, high):
                backward[i - begin] = node_beta[place[i]]
        else:
            for i in range(low, high):
                arc = place[i]
                unit = graph.arcs.unit[arc]
                beta = graph.units.leave[unit] + node_beta[graph.arcs.end[arc]]
                if arc_beta[arc] > -np.inf:
                    beta = max(
                        beta, graph.units.stay[unit] + scores[frame + 1, graph.units.state[unit]] + arc_beta[arc]
                    )
                if layer == last - 1 and not at_end:
                    beta = max(beta, -forward[i])
                backward[i - begin] = beta
            for i in range(layer_start[layer + 1], layer_start[layer + 2]):
                node_beta[place[i]] = -np.inf
            if layer + 2 < last:
                for i in range(layer_start[layer + 2], layer_start[layer + 3]):
                    arc_beta[place[i]] = -np.inf
            for i in range(low, high):
                arc_beta[place[i]] = backward[i - begin]
    for layer in range(first, min(first + 3, last + 1)):
        for i in range(layer_start[layer], layer_start[layer + 1]):
            if layer % 2 == 0:
                node_beta[place[i]] = -np.inf
            else:
                arc_beta[place[i]] = -np.inf
    kept = low = begin
    for layer in range(first, last + 1):
        high = layer_start[layer + 1]
        for i in range(low, high):
            if forward[i] + backward[i - begin] >= -beam - SLACK:
                place[kept] = place[i]
                forward[kept] = forward[i]
                backward[kept - begin] = backward[i - begin]
                kept += 1
        low = high
        layer_start[layer + 1] = kept
    return backward[: kept - begin]
