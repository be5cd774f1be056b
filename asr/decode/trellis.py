"""All tokens of a search that lie near its best path: what lattices are made of.

A search that keeps its tokens writes down, frame by frame, which arcs and nodes it reached and with which score. That
is enough: the links between them are those of the graph, so none is stored. Every `PRUNE_FRAMES` frames the tokens that
no path within the lattice beam of the best one can need are dropped (Povey et al. 2012, section 3): those whose best
way to every token of the last frame falls further than the beam behind that token's own best way.
"""

from dataclasses import dataclass, replace

import numpy as np

from discriminants.util.numba_cache import njit

PRUNE_FRAMES = 64
PRUNE_WINDOW = 256
"""Frames that are looked at again whenever tokens are dropped; those before have settled."""
MAX_TOKENS = 16_000_000
"""Beyond so many, of 12 bytes each, the lattice beam is narrowed until they fit."""
NARROWER = 0.7
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


@njit(cache=True, nogil=True)
def kept_layer(place, forward, n_tokens, items, n_items, score):
    """Add a layer, the first `n_items` of `items`; returns the arrays, which may have grown, and the tokens' number."""
    if n_tokens + n_items > len(place):
        place = grown(place, n_tokens + n_items)
        forward = grown(forward, n_tokens + n_items)
    for i in range(n_items):
        place[n_tokens] = items[i]
        forward[n_tokens] = score[items[i]]
        n_tokens += 1
    return place, forward, n_tokens


@njit(cache=True, nogil=True)
def drop_tokens(
    place, forward, layer_start, first, last, floor, beam, best, final_weight, at_end, arc_beta, node_beta,
    scores, arc_start, arc_end, arc_unit, unit_state, unit_stay, unit_leave, arc_weight, jump_start, jump_end,
    jump_weight,
):  # fmt: skip
    """Keep, in place, the tokens of the layers `first` to `last`, the latest one, that lie within the beam.

    At the end of an utterance the scores backward are those of the way to an end; before it, every token of the last
    layers may be on the best path. `arc_beta` and `node_beta` hold -inf, and do so again afterwards. Returns the scores
    backward of what is kept of these layers.
    """
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
                    beta = final_weight[node] - best if at_end else -forward[i]
                elif forward[i] >= floor[frame]:
                    for arc in range(arc_start[node], arc_start[node + 1]):
                        if arc_beta[arc] > -np.inf:
                            heard = scores[frame, unit_state[arc_unit[arc]]]
                            beta = max(beta, arc_weight[arc] + heard + arc_beta[arc])
                node_beta[node] = beta
            changed = True
            while changed:  # as often as jumps follow each other
                changed = False
                for i in range(high - 1, low - 1, -1):
                    node = place[i]
                    for jump in range(jump_start[node], jump_start[node + 1]):
                        beta = jump_weight[jump] + node_beta[jump_end[jump]]
                        if beta > node_beta[node]:
                            node_beta[node] = beta
                            changed = True
            for i in range(low, high):
                backward[i - begin] = node_beta[place[i]]
        else:
            for i in range(low, high):
                arc = place[i]
                unit = arc_unit[arc]
                beta = unit_leave[unit] + node_beta[arc_end[arc]]
                if arc_beta[arc] > -np.inf:
                    beta = max(beta, unit_stay[unit] + scores[frame + 1, unit_state[unit]] + arc_beta[arc])
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
