"""Token passing (Young, Russell and Thornton 1989): the best path through a state graph, frame by frame.

Every active arc has a token with a chain of records, one for each arc entered and each word jump. With an infinite beam
the result is the exact best path. The order of the arcs decides between equal scores, so the result depends only on the
inputs.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from asr.decode.search_graph import ScaledWeights, scaled_weights, search_graph
from asr.decode.trellis import (
    MAX_TOKENS,
    PRUNE_FRAMES,
    Records,
    Trellis,
    drop_tokens,
    drop_tokens_so_far,
    forget_dead_records,
    grown,
    grown_layers,
    grown_records,
    keep_layer,
    no_layers,
    traced_back,
)
from asr.hmm.state_graph import StateGraph
from asr.util.errors import DecodeError
from discriminants.util.numba_cache import njit

RECORD_ROOM = 1 << 16
NOT_FOUND, FOUND, CUT_SHORT = 0, 1, 2


@dataclass(frozen=True)
class BestPath:
    """The arcs of a path in order of time."""

    arcs: np.ndarray  # int32 (n,); arc numbers; `-1 - jump` for a jump with a word
    frames: np.ndarray  # int32 (n,); frame at which each was entered
    n_frames: int  # of the utterance
    score: float  # natural log, including the final weight
    complete: bool  # whether the path ends at a final node; otherwise it is the best partial path


def best_path(
    scores: np.ndarray,
    graph: StateGraph,
    unit_state: np.ndarray,
    self_loops: np.ndarray,
    *,
    lm_scale: float = 1.0,
    insertion_penalty: float = 0.0,
    filler_penalty: float = 0.0,
    beam: float = np.inf,
    max_active: int = 0,
) -> BestPath | None:
    """Find the best path; None if no token survives.

    Raises DecodeError if a score is NaN.

    Parameters
    ----------
    scores : float32 (n_frames, n_states)
        Natural log-likelihoods, scaled by the caller.
    graph : StateGraph
    unit_state : int32 (n_units,)
        Emission state of every unit.
    self_loops : float (n_units,)
        Self-loop probability of every unit.
    lm_scale, insertion_penalty : float
        Factor on the graph's weights, and score added for every word.
    filler_penalty : float
        Added for every phone of a filler.
    beam : float
        Tokens further than this below the best one of the frame are dropped.
    max_active : int
        Approximate maximum number of tokens that survive a frame; 0 for no limit.
    """
    weights = scaled_weights(graph, lm_scale, insertion_penalty, filler_penalty)
    found = _searched(scores, graph, unit_state, self_loops, weights, beam, max_active, -1.0)
    return None if found is None else found[0]


def best_path_and_tokens(
    scores: np.ndarray,
    graph: StateGraph,
    unit_state: np.ndarray,
    self_loops: np.ndarray,
    *,
    lattice_beam: float,
    lm_scale: float = 1.0,
    insertion_penalty: float = 0.0,
    filler_penalty: float = 0.0,
    beam: float = np.inf,
    max_active: int = 0,
) -> tuple[BestPath, Trellis] | None:
    """Return the best path, and the tokens on all paths of the search that are at most `lattice_beam` worse.

    Parameters and errors are as in `best_path`. None if no path ends at a final node.
    """
    weights = scaled_weights(graph, lm_scale, insertion_penalty, filler_penalty)
    found = _searched(scores, graph, unit_state, self_loops, weights, beam, max_active, lattice_beam)
    return found if found is not None and found[0].complete else None


def _searched(
    scores: np.ndarray,
    graph: StateGraph,
    unit_state: np.ndarray,
    self_loops: np.ndarray,
    weights: ScaledWeights,
    beam: float,
    max_active: int,
    lattice_beam: float,
) -> tuple[BestPath, Trellis] | None:
    if np.isnan(scores.max(initial=-np.inf)):  # needs no array of the scores' size
        frame, state = np.argwhere(np.isnan(scores))[0]
        raise DecodeError(f"the score of state {state} at frame {frame} is not a number. Check the features")
    status, arcs, frames, score, layer_start, place, forward, backward, floor, kept_beam = _search(
        np.ascontiguousarray(scores, np.float32),
        search_graph(graph, unit_state, self_loops, weights),
        graph.initial,
        float(beam),
        int(max_active),
        RECORD_ROOM,
        float(lattice_beam),
        PRUNE_FRAMES,
    )
    if status == NOT_FOUND:
        return None
    path = BestPath(arcs, frames, len(scores), score, status == FOUND)
    return path, Trellis(layer_start, place.copy(), forward.copy(), backward, floor, kept_beam, score)


class ArcTokens(NamedTuple):
    """The tokens on arcs, at most one each."""

    score: np.ndarray  # float64 (n_arcs,); -inf without a token
    record: np.ndarray  # int32 (n_arcs,); latest record of the token
    entered_from: np.ndarray  # int32 (n_arcs,); record before the arc if it was entered in this frame, otherwise -2
    active: np.ndarray  # int32 (n_arcs,); arcs with a token, followed by unused entries


class NodeTokens(NamedTuple):
    """The tokens at nodes between two frames, at most one each."""

    score: np.ndarray  # float64 (n_nodes,); -inf without a token
    record: np.ndarray  # int32 (n_nodes,); latest record of the token, -1 for none
    reached: np.ndarray  # int32 (n_nodes,); nodes with a token, followed by unused entries


@njit(cache=True, nogil=True)
def _no_tokens(n_arcs, n_nodes):
    on_arcs = ArcTokens(
        np.full(n_arcs, -np.inf), np.full(n_arcs, -1, np.int32), np.full(n_arcs, -2, np.int32),
        np.empty(n_arcs, np.int32),
    )  # fmt: skip
    return on_arcs, NodeTokens(
        np.full(n_nodes, -np.inf), np.full(n_nodes, -1, np.int32), np.empty(n_nodes, np.int32)
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _relax_jumps(node, jumps, at_nodes, n_reached, queue, length, frame, records, n_records):
    """Pass the token at a node over its jumps; `records` and `queue` have room for every jump.

    Returns the counts of reached nodes, nodes in the queue, and records.
    """
    start, end, weight, is_word = jumps
    node_score, node_record, reached = at_nodes
    for jump in range(start[node], start[node + 1]):
        target = end[jump]
        score = node_score[node] + weight[jump]
        if score <= node_score[target]:
            continue
        if node_score[target] == -np.inf:
            reached[n_reached] = target
            n_reached += 1
        node_score[target] = score
        if is_word[jump]:
            records.arc[n_records] = -1 - jump
            records.frame[n_records] = frame
            records.previous[n_records] = node_record[node]
            node_record[target] = n_records
            n_records += 1
        else:
            node_record[target] = node_record[node]
        if start[target] < start[target + 1]:
            queue[length] = target
            length += 1
    return n_reached, length, n_records


@njit(cache=True, nogil=True)
def _follow_jumps(jumps, at_nodes, n_reached, queue, length, frame, records, n_records):
    """Relax jumps from the first `length` nodes of `queue`, which have jumps, until nothing improves.

    Returns the counts of reached nodes and records, and the arrays, which may have grown.
    """
    position = 0
    while position < length:
        node = queue[position]
        position += 1
        n_jumps = jumps.start[node + 1] - jumps.start[node]
        while n_records + n_jumps > len(records.arc):
            records = grown_records(records)
        while length + n_jumps > len(queue):
            queue = grown(queue)
        n_reached, length, n_records = _relax_jumps(
            node, jumps, at_nodes, n_reached, queue, length, frame, records, n_records
        )
    return n_reached, n_records, queue, records


@njit(cache=True, nogil=True)
def _stay_in_arcs(arc_unit, unit_stay, unit_score, on_arcs, n_active):
    """Take the self-loop of every active arc; return the number of remaining tokens and their best score."""
    arc_score, active = on_arcs.score, on_arcs.active
    best = -np.inf
    staying = 0
    for i in range(n_active):
        arc = active[i]
        unit = arc_unit[arc]
        score = arc_score[arc] + unit_stay[unit] + unit_score[unit]
        arc_score[arc] = score
        if score > -np.inf:
            active[staying] = arc
            staying += 1
            best = max(best, score)
    return staying, best


@njit(cache=True, nogil=True)
def _enter_arcs(arcs, unit_score, on_arcs, n_active, at_nodes, n_reached, floor, best, beam):
    """Pass the tokens at nodes on to the outgoing arcs, and empty the nodes.

    Nodes below `floor`, that of the previous frame, are pruned. `best` is the best score of the tokens that stay in
    their arcs; entries more than the beam below it cannot survive. Returns the number of active arcs and the best
    score.
    """
    arc_start, arc_unit, arc_weight = arcs.start, arcs.unit, arcs.weight
    arc_score, _, entered_from, active = on_arcs
    node_score, node_record, reached = at_nodes
    at_least = best - beam
    for i in range(n_reached):
        node = reached[i]
        entry = node_score[node]
        node_score[node] = -np.inf
        if entry < floor:
            continue
        for arc in range(arc_start[node], arc_start[node + 1]):
            score = entry + arc_weight[arc] + unit_score[arc_unit[arc]]
            if score < at_least:
                continue
            old = arc_score[arc]
            if score > old:
                if old == -np.inf:
                    active[n_active] = arc
                    n_active += 1
                arc_score[arc] = score
                entered_from[arc] = node_record[node]
                best = max(best, score)
    return n_active, best


@njit(cache=True, nogil=True)
def _kth_largest(values, k):
    """Return the k-th largest value by Hoare's selection (1961); reorders `values`."""
    low, high = 0, len(values) - 1
    while low < high:
        pivot = values[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while values[left] > pivot:
                left += 1
            while values[right] < pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if k - 1 <= right:
            high = right
        elif k - 1 >= left:
            low = left
        else:
            break
    return values[k - 1]


@njit(cache=True, nogil=True)
def _pruning_floor(on_arcs, n_active, best, beam, max_active):
    """Return the score below which tokens are dropped, by the beam and by the number of tokens."""
    floor = best - beam
    if 0 < max_active < n_active:
        ranked = np.empty(n_active)
        for i in range(n_active):
            ranked[i] = on_arcs.score[on_arcs.active[i]]
        floor = max(floor, _kth_largest(ranked, max_active))
    return floor


@njit(cache=True, nogil=True)
def _prune_and_leave_arcs(graph, on_arcs, n_active, at_nodes, queue, floor, frame, records, n_records):
    """Drop tokens below the floor, record the arcs entered, and pass tokens on to the arcs' end nodes.

    `records` has room for every active arc. Returns the counts of active arcs, reached nodes, nodes with jumps (put
    into `queue`), and records.
    """
    arc_score, arc_record, entered_from, active = on_arcs
    node_score, node_record, reached = at_nodes
    record_arc, record_frame, record_previous = records
    arc_end, arc_unit, unit_leave, jump_start = graph.arcs.end, graph.arcs.unit, graph.units.leave, graph.jumps.start
    n_reached = 0
    length = 0
    survivors = 0
    for i in range(n_active):
        arc = active[i]
        score = arc_score[arc]
        previous = entered_from[arc]
        entered_from[arc] = -2
        if score < floor or score == -np.inf:
            arc_score[arc] = -np.inf
            continue
        active[survivors] = arc
        survivors += 1
        if previous != -2:
            record_arc[n_records] = arc
            record_frame[n_records] = frame
            record_previous[n_records] = previous
            arc_record[arc] = n_records
            n_records += 1
        score += unit_leave[arc_unit[arc]]
        node = arc_end[arc]
        if score > node_score[node]:
            if node_score[node] == -np.inf:
                reached[n_reached] = node
                n_reached += 1
                if jump_start[node] < jump_start[node + 1]:
                    queue[length] = node
                    length += 1
            node_score[node] = score
            node_record[node] = arc_record[arc]
    return survivors, n_reached, length, n_records


@njit(cache=True, nogil=True)
def _best_end(graph, on_arcs, n_active, at_nodes, n_reached):
    """Return status, score and record of the best path to a final node, or else of the best partial path."""
    best = -np.inf
    record = -1
    status = NOT_FOUND
    for i in range(n_reached):
        node = at_nodes.reached[i]
        score = at_nodes.score[node] + graph.final_weight[node]
        if score > best:
            best = score
            record = at_nodes.record[node]
            status = FOUND
    if status == NOT_FOUND:
        for i in range(n_active):
            arc = on_arcs.active[i]
            if on_arcs.score[arc] > best:
                best = on_arcs.score[arc]
                record = on_arcs.record[arc]
                status = CUT_SHORT
    return status, best, record


@njit(cache=True, nogil=True)
def _search(scores, graph, initial, beam, max_active, record_room, lattice_beam, prune_frames):
    """Search all frames; tokens are kept unless the lattice beam is negative."""
    n_frames = scores.shape[0]
    n_nodes = len(graph.final_weight)
    on_arcs, at_nodes = _no_tokens(len(graph.arcs.end), n_nodes)
    queue = np.empty(n_nodes, np.int32)  # reached nodes with jumps
    records = Records(np.empty(record_room, np.int32), np.empty(record_room, np.int32), np.empty(record_room, np.int32))
    room = record_room
    at_nodes.score[initial] = 0.0
    at_nodes.reached[0] = queue[0] = initial
    zero, one = np.int64(0), np.int64(1)  # functions are compiled again for literal integers
    n_active = zero
    n_reached, n_records, queue, records = _follow_jumps(graph.jumps, at_nodes, one, queue, one, zero, records, zero)

    keep = lattice_beam >= 0
    layers = no_layers(graph, n_frames, keep)
    token_room = MAX_TOKENS
    if keep:
        layers = grown_layers(layers, n_reached)
        keep_layer(layers, zero, at_nodes.reached, n_reached, at_nodes.score)

    unit_score = np.empty(len(graph.units.state))  # of a frame; tables by unit are small enough for the cache
    floor = -np.inf
    for frame in range(n_frames):
        if n_records > room:
            n_records = forget_dead_records(
                records, n_records, on_arcs.active, n_active, on_arcs.record, at_nodes.reached, n_reached,
                at_nodes.record,
            )  # fmt: skip
            room = max(record_room, 2 * n_records)
        if keep:
            layers.floor[frame] = floor
        for unit in range(len(unit_score)):
            unit_score[unit] = scores[frame, graph.units.state[unit]]
        n_active, best = _stay_in_arcs(graph.arcs.unit, graph.units.stay, unit_score, on_arcs, n_active)
        n_active, best = _enter_arcs(graph.arcs, unit_score, on_arcs, n_active, at_nodes, n_reached, floor, best, beam)
        floor = _pruning_floor(on_arcs, n_active, best, beam, max_active)
        while n_records + n_active > len(records.arc):  # within the loop over arcs it would triple that loop's time
            records = grown_records(records)
        n_active, n_reached, length, n_records = _prune_and_leave_arcs(
            graph, on_arcs, n_active, at_nodes, queue, floor, frame, records, n_records
        )
        n_reached, n_records, queue, records = _follow_jumps(
            graph.jumps, at_nodes, n_reached, queue, length, frame + 1, records, n_records
        )
        if keep:
            n_tokens = layers.start[2 * frame + 1] + n_active + n_reached
            if n_tokens > len(layers.place):
                layers = grown_layers(layers, n_tokens)
            keep_layer(layers, 2 * frame + 1, on_arcs.active, n_active, on_arcs.score)
            keep_layer(layers, 2 * frame + 2, at_nodes.reached, n_reached, at_nodes.score)
            if (frame + 1) % prune_frames == 0 or layers.start[2 * frame + 3] > token_room:
                lattice_beam = drop_tokens_so_far(layers, frame, lattice_beam, scores, graph)
                token_room = max(MAX_TOKENS, 2 * layers.start[2 * frame + 3])

    status, best, record = _best_end(graph, on_arcs, n_active, at_nodes, n_reached)
    backward = np.empty(0)
    n_tokens = layers.start[2 * n_frames + 1] if keep else 0
    if keep and status == FOUND:
        backward = drop_tokens(layers, zero, 2 * n_frames, lattice_beam, best, np.bool_(True), scores, graph)
        n_tokens = len(backward)
    arcs, frames = traced_back(records, record)
    tokens = layers.start, layers.place[:n_tokens], layers.forward[:n_tokens], backward, layers.floor, lattice_beam
    return status, arcs, frames, best, *tokens
