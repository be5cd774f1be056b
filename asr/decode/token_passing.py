"""Token passing (Young, Russell and Thornton 1989): the best path through a state graph, frame by frame.

A token sits on every active arc and remembers how it came there through a chain of records, one for each arc entered
and each word jumped over. With an infinite beam the path found is exactly the best one; equal scores are decided by
the order of the arcs, so the result does not depend on anything but its inputs.
"""

from dataclasses import dataclass

import numpy as np

from asr.decode.scaled_weights import ScaledWeights, scaled_weights
from asr.decode.trellis import (
    MAX_TOKENS,
    NARROWER,
    PRUNE_FRAMES,
    PRUNE_WINDOW,
    Trellis,
    drop_tokens,
    grown,
    kept_layer,
)
from asr.hmm.state_graph import StateGraph
from asr.util.errors import DecodeError
from discriminants.util.numba_cache import njit

RECORD_ROOM = 1 << 16
MAX_BEAM = 1e4  # from which a lattice beam is narrowed where it holds too much
NOT_FOUND, FOUND, CUT_SHORT = 0, 1, 2


@dataclass(frozen=True)
class BestPath:
    """The arcs of a path in order of time.

    Attributes
    ----------
    arcs : int32 (n,)
        Arc numbers; a jump that carries a word appears as `-1 - jump`.
    frames : int32 (n,)
        Frame at which each was entered.
    n_frames : int
        Frames of the utterance.
    score : float
        Natural log of the path's score, final weight included.
    complete : bool
        Whether the path ends at a final node; if not, it is the best one cut short.
    """

    arcs: np.ndarray
    frames: np.ndarray
    n_frames: int
    score: float
    complete: bool


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
    """Find the best path.

    Parameters
    ----------
    scores : float32 (n_frames, n_states)
        Natural log-likelihoods, scaled as the caller wants them.
    graph : StateGraph
    unit_state : int32 (n_units,)
        Emission state of every unit.
    self_loops : float (n_units,)
        Self-loop probability of every unit.
    lm_scale, insertion_penalty : float
        Graph weights are multiplied by the former; the latter is added for every word.
    filler_penalty : float
        Added for every phone of a filler.
    beam : float
        Tokens further than this below the best one of the frame are dropped.
    max_active : int
        At most about this many tokens survive a frame; 0 for no limit.

    Returns
    -------
    BestPath or None
        None when no token survives (the utterance is shorter than every path and the beam lost the rest).

    Raises
    ------
    DecodeError
        If a score is not a number.
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
    """The best path, and the tokens on all paths of the search that are at most `lattice_beam` worse.

    Parameters and errors as of `best_path`. None where no path ends at a final node.
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
    if np.isnan(scores.max(initial=-np.inf)):  # no array of the scores' size is needed
        frame, state = np.argwhere(np.isnan(scores))[0]
        raise DecodeError(f"the score of state {state} at frame {frame} is no number; check the features")
    stay, leave = transitions(self_loops)
    status, arcs, frames, score, layer_start, place, forward, backward, floor, kept_beam = _search(
        np.ascontiguousarray(scores, np.float32),
        graph.arc_start,
        graph.arc_end,
        graph.arc_unit,
        unit_state,
        stay,
        leave,
        weights.arc,
        graph.jump_start,
        graph.jump_end,
        weights.jump,
        graph.jump_word >= 0,
        weights.final,
        graph.initial,
        float(beam),
        int(max_active),
        RECORD_ROOM,
        float(lattice_beam),
    )
    if status == NOT_FOUND:
        return None
    path = BestPath(arcs, frames, len(scores), score, status == FOUND)
    return path, Trellis(layer_start, place.copy(), forward.copy(), backward, floor, kept_beam, score)


def transitions(self_loops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Natural logs of staying in a unit and of leaving it, float64 (n_units,)."""
    self_loops = np.asarray(self_loops, np.float64)  # the one type that the search is compiled for
    with np.errstate(divide="ignore"):
        return np.log(self_loops), np.log1p(-self_loops)


@njit(cache=True, nogil=True)
def _follow_jumps(
    nodes, n_nodes, queue, length, node_score, node_record, jump_start, jump_end, jump_weight, jump_is_word, frame,
    record_arc, record_frame, record_previous, n_records,
):  # fmt: skip
    """Relax jumps from the reached nodes that have any, the first `length` of `queue`, until nothing improves.

    Returns the counts of nodes and records, and the arrays that may have grown.
    """
    position = 0
    while position < length:
        node = queue[position]
        position += 1
        for jump in range(jump_start[node], jump_start[node + 1]):
            target = jump_end[jump]
            score = node_score[node] + jump_weight[jump]
            if score <= node_score[target]:
                continue
            if node_score[target] == -np.inf:
                nodes[n_nodes] = target
                n_nodes += 1
            node_score[target] = score
            if jump_is_word[jump]:
                if n_records == len(record_arc):
                    record_arc = grown(record_arc)
                    record_frame = grown(record_frame)
                    record_previous = grown(record_previous)
                record_arc[n_records] = -1 - jump
                record_frame[n_records] = frame
                record_previous[n_records] = node_record[node]
                node_record[target] = n_records
                n_records += 1
            else:
                node_record[target] = node_record[node]
            if jump_start[target] < jump_start[target + 1]:
                if length == len(queue):
                    queue = grown(queue)
                queue[length] = target
                length += 1
    return n_nodes, n_records, queue, record_arc, record_frame, record_previous


@njit(cache=True, nogil=True)
def _kth_largest(values, k):
    """The value with k - 1 larger or equal ones before it, by Hoare's selection (1961); reorders `values`."""
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
def _mark(record, new_number, record_previous):
    """Mark a record and those before it as reached."""
    while record >= 0 and new_number[record] < 0:
        new_number[record] = 0
        record = record_previous[record]


@njit(cache=True, nogil=True)
def _forget_dead_records(
    active, n_active, arc_record, nodes, n_nodes, node_record, record_arc, record_frame, record_previous, n_records
):  # fmt: skip
    """Keep only the records that some token or reached node can still reach, in place; returns their number."""
    new_number = np.full(n_records, -1, np.int32)
    for i in range(n_active):
        _mark(arc_record[active[i]], new_number, record_previous)
    for i in range(n_nodes):
        _mark(node_record[nodes[i]], new_number, record_previous)
    kept = 0
    for record in range(n_records):
        if new_number[record] == 0:
            new_number[record] = kept
            previous = record_previous[record]
            record_arc[kept] = record_arc[record]
            record_frame[kept] = record_frame[record]
            record_previous[kept] = new_number[previous] if previous >= 0 else -1
            kept += 1
    for i in range(n_active):
        arc_record[active[i]] = new_number[arc_record[active[i]]]
    for i in range(n_nodes):
        if node_record[nodes[i]] >= 0:
            node_record[nodes[i]] = new_number[node_record[nodes[i]]]
    return kept


@njit(cache=True, nogil=True)
def _search(
    scores, arc_start, arc_end, arc_unit, unit_state, unit_stay, unit_leave, arc_weight,
    jump_start, jump_end, jump_weight, jump_is_word, final_weight, initial, beam, max_active, record_room, lattice_beam,
):  # fmt: skip
    n_frames = scores.shape[0]
    n_arcs = len(arc_end)
    n_nodes_all = len(final_weight)
    arc_score = np.full(n_arcs, -np.inf)
    arc_record = np.full(n_arcs, -1, np.int32)
    came_from = np.full(n_arcs, -2, np.int32)  # record before the arc, if it was entered in this frame; else -2
    active = np.empty(n_arcs, np.int32)
    n_active = 0
    node_score = np.full(n_nodes_all, -np.inf)
    node_record = np.full(n_nodes_all, -1, np.int32)
    nodes = np.empty(n_nodes_all, np.int32)
    queue = np.empty(n_nodes_all, np.int32)  # reached nodes from which jumps lead
    record_arc = np.empty(record_room, np.int32)
    record_frame = np.empty(record_room, np.int32)
    record_previous = np.empty(record_room, np.int32)
    n_records = 0
    room = record_room

    node_score[initial] = 0.0
    nodes[0] = queue[0] = initial
    n_nodes, n_records, queue, record_arc, record_frame, record_previous = _follow_jumps(
        nodes, 1, queue, 1, node_score, node_record, jump_start, jump_end, jump_weight, jump_is_word, 0,
        record_arc, record_frame, record_previous, n_records,
    )  # fmt: skip
    # Tokens are kept if there is a lattice beam; without one these are empty, and nothing more is done.
    keep = lattice_beam >= 0
    layer_start = np.zeros(2 * n_frames + 2 if keep else 0, np.int64)
    floors = np.full(n_frames if keep else 0, -np.inf)
    place = np.empty(0, np.int32)
    forward = np.empty(0)
    arc_beta = np.full(n_arcs if keep else 0, -np.inf)
    node_beta = np.full(n_nodes_all if keep else 0, -np.inf)
    backward = np.empty(0)
    n_tokens = 0
    token_room = MAX_TOKENS
    if keep:
        place, forward, n_tokens = kept_layer(place, forward, n_tokens, nodes, n_nodes, node_score)
        layer_start[1] = n_tokens

    unit_score = np.empty(len(unit_state))  # of a frame; tables by unit are small enough to stay in the cache
    floor = -np.inf
    for frame in range(n_frames):
        if n_records > room:
            n_records = _forget_dead_records(
                active, n_active, arc_record, nodes, n_nodes, node_record,
                record_arc, record_frame, record_previous, n_records,
            )  # fmt: skip
            room = max(record_room, 2 * n_records)

        if keep:
            floors[frame] = floor
        for unit in range(len(unit_state)):
            unit_score[unit] = scores[frame, unit_state[unit]]
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
        n_active = staying
        # What those that stay have reached, no token further below can survive: it is not entered at all.
        at_least = best - beam
        for i in range(n_nodes):
            node = nodes[i]
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
                    came_from[arc] = node_record[node]
                    best = max(best, score)
        floor = best - beam
        if 0 < max_active < n_active:
            ranked = np.empty(n_active)
            for i in range(n_active):
                ranked[i] = arc_score[active[i]]
            floor = max(floor, _kth_largest(ranked, max_active))

        while n_records + n_active > len(record_arc):  # within the loop it would triple the loop's time
            record_arc = grown(record_arc)
            record_frame = grown(record_frame)
            record_previous = grown(record_previous)
        n_nodes = 0
        length = 0
        survivors = 0
        for i in range(n_active):
            arc = active[i]
            score = arc_score[arc]
            previous = came_from[arc]
            came_from[arc] = -2
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
                    nodes[n_nodes] = node
                    n_nodes += 1
                    if jump_start[node] < jump_start[node + 1]:
                        queue[length] = node
                        length += 1
                node_score[node] = score
                node_record[node] = arc_record[arc]
        n_active = survivors
        n_nodes, n_records, queue, record_arc, record_frame, record_previous = _follow_jumps(
            nodes, n_nodes, queue, length, node_score, node_record, jump_start, jump_end, jump_weight, jump_is_word,
            frame + 1, record_arc, record_frame, record_previous, n_records,
        )  # fmt: skip
        if keep:
            place, forward, n_tokens = kept_layer(place, forward, n_tokens, active, n_active, arc_score)
            layer_start[2 * frame + 2] = n_tokens
            place, forward, n_tokens = kept_layer(place, forward, n_tokens, nodes, n_nodes, node_score)
            layer_start[2 * frame + 3] = n_tokens
            if (frame + 1) % PRUNE_FRAMES == 0 or n_tokens > token_room:
                first = max(0, 2 * (frame + 1 - PRUNE_WINDOW))
                while True:
                    drop_tokens(
                        place, forward, layer_start, first, 2 * frame + 2, floors, lattice_beam, 0.0, final_weight,
                        False, arc_beta, node_beta, scores, arc_start, arc_end, arc_unit, unit_state, unit_stay,
                        unit_leave, arc_weight, jump_start, jump_end, jump_weight,
                    )  # fmt: skip
                    n_tokens = layer_start[2 * frame + 3]
                    if n_tokens <= MAX_TOKENS or lattice_beam < 1.0:
                        break
                    lattice_beam = min(lattice_beam, MAX_BEAM) * NARROWER
                    first = 0
                token_room = max(MAX_TOKENS, 2 * n_tokens)

    best = -np.inf
    record = -1
    status = NOT_FOUND
    for i in range(n_nodes):
        score = node_score[nodes[i]] + final_weight[nodes[i]]
        if score > best:
            best = score
            record = node_record[nodes[i]]
            status = FOUND
    if status == NOT_FOUND:
        for i in range(n_active):
            if arc_score[active[i]] > best:
                best = arc_score[active[i]]
                record = arc_record[active[i]]
                status = CUT_SHORT
    if keep and status == FOUND:
        backward = drop_tokens(
            place, forward, layer_start, 0, 2 * n_frames, floors, lattice_beam, best, final_weight, True, arc_beta,
            node_beta, scores, arc_start, arc_end, arc_unit, unit_state, unit_stay, unit_leave, arc_weight,
            jump_start, jump_end, jump_weight,
        )  # fmt: skip
        n_tokens = len(backward)
    length = 0
    step = record
    while step >= 0:
        length += 1
        step = record_previous[step]
    arcs = np.empty(length, np.int32)
    frames = np.empty(length, np.int32)
    while record >= 0:
        length -= 1
        arcs[length] = record_arc[record]
        frames[length] = record_frame[record]
        record = record_previous[record]
    tokens = layer_start, place[:n_tokens], forward[:n_tokens], backward, floors, lattice_beam
    return status, arcs, frames, best, *tokens
