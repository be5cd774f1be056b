"""Token passing (Young, Russell and Thornton 1989): the best path through a state graph, frame by frame.

A token sits on every active arc and remembers how it came there through a chain of records, one for each arc entered
and each word jumped over. With an infinite beam the path found is exactly the best one; equal scores are decided by
the order of the arcs, so the result does not depend on anything but its inputs.
"""

from dataclasses import dataclass

import numpy as np

from asr.decode.kth_largest import kth_largest
from asr.errors import DecodeError
from asr.hmm.state_graph import StateGraph
from discriminants.compiled import njit

RECORD_ROOM = 1 << 16
TOKEN_ROOM = 1 << 10
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
    if np.isnan(scores).any():
        frame, state = np.argwhere(np.isnan(scores))[0]
        raise DecodeError(f"the score of state {state} at frame {frame} is no number; check the features")
    with np.errstate(divide="ignore"):
        stay, leave = np.log(self_loops), np.log1p(-self_loops)
    status, arcs, frames, score = _search(
        np.ascontiguousarray(scores, np.float32),
        graph.arc_start,
        graph.arc_end,
        graph.arc_unit,
        graph.arc_weight,
        graph.arc_word,
        unit_state,
        stay,
        leave,
        graph.jump_start,
        graph.jump_end,
        graph.jump_weight,
        graph.jump_word,
        graph.final_weight,
        graph.initial,
        float(lm_scale),
        float(insertion_penalty),
        float(beam),
        int(max_active),
        RECORD_ROOM,
        # Pages of these are made when they are first touched: a short utterance sees little of a large graph.
        np.zeros(graph.n_arcs, np.int32),
        np.zeros(graph.n_nodes, np.int32),
    )
    if status == NOT_FOUND:
        return None
    return BestPath(arcs, frames, len(scores), score, status == FOUND)


@njit(cache=True, nogil=True)
def _scaled(weight, word, lm_scale, insertion_penalty):
    """What a weight and a word count; no number, which no comparison lets pass, for -inf at a scale of zero."""
    if word >= 0:
        return weight * lm_scale + insertion_penalty
    return weight * lm_scale


@njit(cache=True, nogil=True)
def _follow_jumps(
    place_of_node, nodes, n_nodes, queue, length, node_score, node_record,
    jump_start, jump_end, jump_weight, jump_word, lm_scale, insertion_penalty, frame,
    record_arc, record_frame, record_previous, n_records,
):  # fmt: skip
    """Relax jumps from the reached nodes that have any, the first `length` of `queue`, until nothing improves.

    Returns the counts of nodes and records, and the arrays that may have grown.
    """
    position = 0
    while position < length:
        source = queue[position]
        node = nodes[source]
        position += 1
        for jump in range(jump_start[node], jump_start[node + 1]):
            target = jump_end[jump]
            score = node_score[source] + _scaled(jump_weight[jump], jump_word[jump], lm_scale, insertion_penalty)
            if not score > -np.inf:
                continue
            place = place_of_node[target] - 1
            if place < 0:
                place = n_nodes
                if n_nodes == len(nodes):
                    nodes, node_score, node_record = _grown(nodes), _grown(node_score), _grown(node_record)
                nodes[place] = target
                place_of_node[target] = place + 1
                n_nodes += 1
            elif score <= node_score[place]:
                continue
            node_score[place] = score
            if jump_word[jump] >= 0:
                if n_records == len(record_arc):
                    record_arc = _grown(record_arc)
                    record_frame = _grown(record_frame)
                    record_previous = _grown(record_previous)
                record_arc[n_records] = -1 - jump
                record_frame[n_records] = frame
                record_previous[n_records] = node_record[source]
                node_record[place] = n_records
                n_records += 1
            else:
                node_record[place] = node_record[source]
            if jump_start[target] < jump_start[target + 1]:
                if length == len(queue):
                    queue = _grown(queue)
                queue[length] = place
                length += 1
    return (
        n_nodes, n_records, nodes, queue, node_score, node_record, record_arc, record_frame, record_previous
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _grown(values):
    larger = np.empty(max(16, 2 * len(values)), values.dtype)
    for i in range(len(values)):  # a slice assignment takes seconds to compile
        larger[i] = values[i]
    return larger


@njit(cache=True, nogil=True)
def _mark(record, new_number, record_previous):
    """Mark a record and those before it as reached."""
    while record >= 0 and new_number[record] < 0:
        new_number[record] = 0
        record = record_previous[record]


@njit(cache=True, nogil=True)
def _forget_dead_records(
    token_record, n_active, node_record, n_nodes, record_arc, record_frame, record_previous, n_records
):  # fmt: skip
    """Keep only the records that some token or reached node can still reach, in place; returns their number."""
    new_number = np.full(n_records, -1, np.int32)
    for i in range(n_active):
        _mark(token_record[i], new_number, record_previous)
    for i in range(n_nodes):
        _mark(node_record[i], new_number, record_previous)
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
        token_record[i] = new_number[token_record[i]]
    for i in range(n_nodes):
        if node_record[i] >= 0:
            node_record[i] = new_number[node_record[i]]
    return kept


@njit(cache=True, nogil=True)
def _search(
    scores, arc_start, arc_end, arc_unit, arc_weight, arc_word, unit_state, unit_stay, unit_leave,
    jump_start, jump_end, jump_weight, jump_word, final_weight, initial, lm_scale, insertion_penalty,
    beam, max_active, record_room, place_of_arc, place_of_node,
):  # fmt: skip
    """`place_of_arc` and `place_of_node`, all zero, will tell where the token of an arc and what is known of a reached
    node stand, counted from 1. What changes from frame to frame lies side by side, however large the graph is.
    """
    n_frames = scores.shape[0]
    token_arc = np.empty(TOKEN_ROOM, np.int32)
    token_score = np.empty(TOKEN_ROOM)
    token_record = np.empty(TOKEN_ROOM, np.int32)
    came_from = np.empty(TOKEN_ROOM, np.int32)  # record before the arc, if it was entered in this frame; else -2
    n_active = 0
    nodes = np.empty(TOKEN_ROOM, np.int32)
    node_score = np.empty(TOKEN_ROOM)
    node_record = np.empty(TOKEN_ROOM, np.int32)
    queue = np.empty(TOKEN_ROOM, np.int32)  # places of reached nodes from which jumps lead
    record_arc = np.empty(record_room, np.int32)
    record_frame = np.empty(record_room, np.int32)
    record_previous = np.empty(record_room, np.int32)
    n_records = 0
    room = record_room

    nodes[0] = initial
    node_score[0] = 0.0
    node_record[0] = -1
    place_of_node[initial] = 1
    queue[0] = 0
    (
        n_nodes, n_records, nodes, queue, node_score, node_record, record_arc, record_frame, record_previous
    ) = _follow_jumps(
        place_of_node, nodes, 1, queue, 1, node_score, node_record,
        jump_start, jump_end, jump_weight, jump_word, lm_scale, insertion_penalty, 0,
        record_arc, record_frame, record_previous, n_records,
    )  # fmt: skip
    unit_score = np.empty(len(unit_state))  # of a frame; tables by unit are small enough to stay in the cache
    floor = -np.inf
    for frame in range(n_frames):
        if n_records > room:
            n_records = _forget_dead_records(
                token_record, n_active, node_record, n_nodes, record_arc, record_frame, record_previous, n_records
            )
            room = max(record_room, 2 * n_records)

        for unit in range(len(unit_state)):
            unit_score[unit] = scores[frame, unit_state[unit]]
        best = -np.inf
        for i in range(n_active):
            unit = arc_unit[token_arc[i]]
            score = token_score[i] + unit_stay[unit] + unit_score[unit]
            token_score[i] = score
            best = max(best, score)
        # What those that stay have reached, no token further below can survive: it is not entered at all.
        at_least = best - beam
        for i in range(n_nodes):
            node = nodes[i]
            entry = node_score[i]
            place_of_node[node] = 0
            if entry < floor:
                continue
            first, end = arc_start[node], arc_start[node + 1]
            while n_active + end - first > len(token_arc):
                token_arc, token_score = _grown(token_arc), _grown(token_score)
                token_record, came_from = _grown(token_record), _grown(came_from)
            for arc in range(first, end):
                score = entry + _scaled(arc_weight[arc], arc_word[arc], lm_scale, insertion_penalty)
                score += unit_score[arc_unit[arc]]
                if score < at_least:
                    continue
                place = place_of_arc[arc] - 1
                if place < 0:
                    if not score > -np.inf:
                        continue
                    place = n_active
                    place_of_arc[arc] = place + 1
                    token_arc[place] = arc
                    n_active += 1
                elif not score > token_score[place]:
                    continue
                token_score[place] = score
                came_from[place] = node_record[i]
                best = max(best, score)
        floor = best - beam
        if 0 < max_active < n_active:
            floor = max(floor, kth_largest(token_score[:n_active].copy(), max_active))

        n_nodes = 0
        length = 0
        survivors = 0
        for i in range(n_active):
            arc = token_arc[i]
            score = token_score[i]
            if score < floor or score == -np.inf:
                place_of_arc[arc] = 0
                continue
            previous = came_from[i]
            record = token_record[i]
            if previous != -2:
                if n_records == len(record_arc):
                    record_arc = _grown(record_arc)
                    record_frame = _grown(record_frame)
                    record_previous = _grown(record_previous)
                record_arc[n_records] = arc
                record_frame[n_records] = frame
                record_previous[n_records] = previous
                record = n_records
                n_records += 1
            if survivors < i:
                place_of_arc[arc] = survivors + 1
                token_arc[survivors] = arc
                token_score[survivors] = score
            token_record[survivors] = record
            came_from[survivors] = -2
            survivors += 1
            score += unit_leave[arc_unit[arc]]
            if not score > -np.inf:
                continue
            node = arc_end[arc]
            place = place_of_node[node] - 1
            if place < 0:
                if n_nodes == len(nodes):
                    nodes, node_score, node_record = _grown(nodes), _grown(node_score), _grown(node_record)
                place = n_nodes
                nodes[place] = node
                place_of_node[node] = place + 1
                n_nodes += 1
                if jump_start[node] < jump_start[node + 1]:
                    if length == len(queue):
                        queue = _grown(queue)
                    queue[length] = place
                    length += 1
            elif score <= node_score[place]:
                continue
            node_score[place] = score
            node_record[place] = record
        n_active = survivors
        (
            n_nodes, n_records, nodes, queue, node_score, node_record, record_arc, record_frame, record_previous
        ) = _follow_jumps(
            place_of_node, nodes, n_nodes, queue, length, node_score, node_record,
            jump_start, jump_end, jump_weight, jump_word, lm_scale, insertion_penalty, frame + 1,
            record_arc, record_frame, record_previous, n_records,
        )  # fmt: skip

    best = -np.inf
    record = -1
    status = NOT_FOUND
    for i in range(n_nodes):
        score = node_score[i] + _scaled(final_weight[nodes[i]], -1, lm_scale, 0.0)
        if score > best:
            best = score
            record = node_record[i]
            status = FOUND
    if status == NOT_FOUND:
        for i in range(n_active):
            if token_score[i] > best:
                best = token_score[i]
                record = token_record[i]
                status = CUT_SHORT
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
    return status, arcs, frames, best
