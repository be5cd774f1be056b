"""The memory of a search: the trellis of tokens near its best path for lattices, and the records of paths.

The search stores which arcs and nodes it reached in each frame and their scores. The links between them follow from the
graph. Every `PRUNE_FRAMES` frames, tokens that are on no path within the lattice beam of the best one are dropped
(Povey et al. 2012, section 3). These are tokens whose best path to every token of the last frame is worse than that
token's own best path by more than the beam.

Records. A record is an arc entered or a word jump. It points to the previous one, so a token needs only its latest
record for its whole path.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from discriminants.util.numba_cache import njit

PRUNE_FRAMES = 64
PRUNE_WINDOW = 256
"""Frames that are pruned again whenever tokens are dropped; earlier ones no longer change."""
MAX_TOKENS = 16_000_000
"""Limit on tokens, of 12 bytes each; above it the lattice beam is narrowed until they fit."""
NARROWER = 0.7
MAX_BEAM = 1e4  # start of narrowing for wider lattice beams
SLACK = 1e-6
"""Added to the beam, because sums in another order differ in rounding."""


@dataclass(frozen=True)
class Trellis:
    """The tokens of a search near its best path.

    Layer 2 b has the nodes reached before frame b (n_frames for the end), and layer 2 b + 1 the arcs active in frame b.
    """

    layer_start: np.ndarray  # int64 (2 n_frames + 2,); tokens of layer n are `layer_start[n]:layer_start[n + 1]`
    place: np.ndarray  # int32 (n_tokens,); number of the node or arc
    forward: np.ndarray  # float64 (n_tokens,); score of the best path there, including the frame of an arc
    backward: np.ndarray  # float64 (n_tokens,); score of the best path from there to an end, minus `best`
    floor: np.ndarray  # float64 (n_frames,); nodes below it entered no arc in this frame
    beam: float  # tokens further below the best path are left out
    best: float  # score of the best path

    def narrowed(self, most_tokens: float) -> "Trellis":
        """Return the tokens under the widest beam that leaves at most about `most_tokens`."""
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
    """Copy the values to the beginning of an array of twice the length, or of `room`."""
    larger = np.empty(max(16, 2 * len(values), room), values.dtype)
    for i in range(len(values)):  # a slice assignment takes seconds to compile
        larger[i] = values[i]
    return larger


class Layers(NamedTuple):
    """The tokens kept so far in a search, with room at the ends of `place` and `forward`; see `Trellis`.

    `arc_backward` and `node_backward` are the backward scores of a layer while tokens are dropped, otherwise -inf.
    """

    start: np.ndarray
    floor: np.ndarray
    place: np.ndarray
    forward: np.ndarray
    arc_backward: np.ndarray
    node_backward: np.ndarray


@njit(cache=True, nogil=True)
def no_layers(graph, n_frames, keep):
    """Return layers for a search over `n_frames`, empty unless tokens are kept."""
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
    """Return the same layers with room for at least `n_tokens`."""
    place, forward = grown(layers.place, n_tokens), grown(layers.forward, n_tokens)
    return Layers(layers.start, layers.floor, place, forward, layers.arc_backward, layers.node_backward)


@njit(cache=True, nogil=True)
def keep_layer(layers, layer, items, n_items, score):
    """Add a layer with the first `n_items` of `items`; there must be room."""
    place, forward = layers.place, layers.forward
    n_tokens = layers.start[layer]
    for i in range(n_items):
        place[n_tokens] = items[i]
        forward[n_tokens] = score[items[i]]
        n_tokens += 1
    layers.start[layer + 1] = n_tokens


@njit(cache=True, nogil=True)
def drop_tokens_so_far(layers, frame, lattice_beam, scores, graph):
    """Drop the tokens up to `frame`, the latest one, that are on no path within the lattice beam.

    If too many tokens are left, the beam is narrowed. Returns the beam.
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
    """Keep, in place, the tokens within the beam in the layers `first` to `last`, the latest one.

    At the end of an utterance backward scores lead to a final node; before it, every token of the last layers may be on
    the best path. Returns the backward scores of the kept tokens.
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
            while changed:  # for chains of jumps
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


class Records(NamedTuple):
    """Records of tokens, int32 arrays of equal length with room at their ends."""

    arc: np.ndarray  # arc entered, or `-1 - jump`
    frame: np.ndarray
    previous: np.ndarray  # record before this one, -1 for none


@njit(cache=True, nogil=True)
def grown_records(records):
    """Return the same records in arrays of twice the length."""
    return Records(grown(records.arc), grown(records.frame), grown(records.previous))


@njit(cache=True, nogil=True)
def traced_back(records, last):
    """Return arcs and frames of the path that ends with record `last`, in order of time; empty for -1."""
    length = 0
    record = last
    while record >= 0:
        length += 1
        record = records.previous[record]
    arcs = np.empty(length, np.int32)
    frames = np.empty(length, np.int32)
    record = last
    while record >= 0:
        length -= 1
        arcs[length] = records.arc[record]
        frames[length] = records.frame[record]
        record = records.previous[record]
    return arcs, frames


@njit(cache=True, nogil=True)
def _mark(record, new_number, previous):
    """Mark a record and those before it as reached."""
    while record >= 0 and new_number[record] < 0:
        new_number[record] = 0
        record = previous[record]


@njit(cache=True, nogil=True)
def forget_dead_records(records, n_records, active, n_active, arc_record, nodes, n_nodes, node_record):
    """Keep only records that a token or reached node can still reach, in place; return their number."""
    new_number = np.full(n_records, -1, np.int32)
    for i in range(n_active):
        _mark(arc_record[active[i]], new_number, records.previous)
    for i in range(n_nodes):
        _mark(node_record[nodes[i]], new_number, records.previous)
    kept = 0
    for record in range(n_records):
        if new_number[record] == 0:
            new_number[record] = kept
            previous = records.previous[record]
            records.arc[kept] = records.arc[record]
            records.frame[kept] = records.frame[record]
            records.previous[kept] = new_number[previous] if previous >= 0 else -1
            kept += 1
    for i in range(n_active):
        arc_record[active[i]] = new_number[arc_record[active[i]]]
    for i in range(n_nodes):
        if node_record[nodes[i]] >= 0:
            node_record[nodes[i]] = new_number[node_record[nodes[i]]]
    return kept
