"""Links between the tokens of a trellis, with separate acoustic and grammar scores."""

from dataclasses import dataclass

import numpy as np

from asr.decode.search_graph import filler_penalties, scaled_weights, transitions
from asr.decode.trellis import SLACK, Trellis
from asr.hmm.state_graph import FILLER_PAUSE, StateGraph
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology
from discriminants.util.numba_cache import njit

NO_EVENT, BEGIN, PAUSE = 0, 1, 2


@dataclass(frozen=True)
class TraceLinks:
    """Tokens and links; links lead to higher-numbered tokens, and the highest is the end of the utterance."""

    start: np.ndarray  # int64 (n_tokens + 1,); links of token i are `start[i]:start[i + 1]`
    target: np.ndarray  # int32 (n_links,)
    word: np.ndarray  # int32 (n_links,); -1 for none
    event: np.ndarray  # uint8 (n_links,); `BEGIN` of a word, `PAUSE` for a pause or silence
    acoustic: np.ndarray  # float64 (n_links,); states, transitions and filler penalty
    grammar: np.ndarray  # float64 (n_links,); natural log
    total: np.ndarray  # float64 (n_links,); both as the search adds them
    frame: np.ndarray  # int32 (n_tokens,); frame of an arc; frame after a node
    forward: np.ndarray  # float64 (n_tokens,); see `Trellis`
    backward: np.ndarray  # float64 (n_tokens,); see `Trellis`
    initial: int  # first token of every path
    beam: float  # links only on paths further below the best are left out


def trellis_links(
    trellis: Trellis,
    scores: np.ndarray,
    graph: StateGraph,
    topology: Topology,
    self_loops: np.ndarray,
    *,
    lm_scale: float,
    insertion_penalty: float,
    filler_penalty: float = 0.0,
) -> TraceLinks:
    """Return the links of a trellis; the other arguments are those of its search."""
    n_layers = len(trellis.layer_start) - 1
    order = _in_order(
        trellis.layer_start, trellis.place, graph.jump_start, graph.jump_end, np.full(graph.n_nodes, -1, np.int32)
    )
    place, forward, backward = trellis.place[order], trellis.forward[order], trellis.backward[order]
    frame = np.repeat(np.arange(n_layers, dtype=np.int32) // 2, np.diff(trellis.layer_start))
    stay, leave = transitions(self_loops)
    pauses = [topology.phone_number[phone] for phone in (SILENCE, SHORT_PAUSE)]
    event = np.where(np.isin(topology.unit_phone[graph.arc_unit], pauses), PAUSE, NO_EVENT)
    if graph.arc_filler is not None:
        event = np.where(graph.arc_filler == FILLER_PAUSE, NO_EVENT, event)
    event = np.where(graph.arc_begins_word, BEGIN, event).astype(np.uint8)
    weights = scaled_weights(graph, lm_scale, insertion_penalty, filler_penalty)
    penalty = np.zeros(graph.n_arcs) + filler_penalties(graph, filler_penalty)
    start, target, word, events, acoustic, grammar, total = _links(
        (trellis.layer_start, place, forward, np.append(backward, -trellis.best), trellis.floor, trellis.beam),
        np.ascontiguousarray(scores, np.float32),
        (graph.arc_start, graph.arc_end, graph.arc_unit, graph.arc_word, event, graph.arc_weight, weights.arc, penalty),
        (topology.unit_state, stay, leave),
        (graph.jump_start, graph.jump_end, graph.jump_word, graph.jump_weight, weights.jump),
        (graph.final_weight, weights.final),
    )
    first = place[: trellis.layer_start[1]]
    return TraceLinks(
        start, target, word, events, acoustic, grammar, total,
        np.append(frame, np.int32((n_layers - 1) // 2)),
        np.append(forward, trellis.best),
        np.append(backward, -trellis.best),
        int(np.flatnonzero(first == graph.initial)[0]),
        trellis.beam,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _in_order(layer_start, place, jump_start, jump_end, depth):
    """Sort the nodes of each layer so that jumps lead forward; all of `depth` is -1."""
    order = np.arange(len(place))
    for layer in range(0, len(layer_start) - 1, 2):
        low, high = layer_start[layer], layer_start[layer + 1]
        for i in range(low, high):
            depth[place[i]] = 0
        deepest = 0
        changed = True
        while changed:
            changed = False
            for i in range(low, high):
                node = place[i]
                for jump in range(jump_start[node], jump_start[node + 1]):
                    target = jump_end[jump]
                    if 0 <= depth[target] <= depth[node]:
                        depth[target] = depth[node] + 1
                        deepest = max(deepest, depth[target])
                        changed = True
        if deepest > 0:
            position = low
            for level in range(deepest + 1):
                for i in range(low, high):
                    if depth[place[i]] == level:
                        order[position] = i
                        position += 1
        for i in range(low, high):
            depth[place[i]] = -1
    return order


@njit(cache=True, nogil=True)
def _number_tokens(token_at, place, low, high):
    """Write the numbers of the tokens `low` to `high` of a layer to their nodes or arcs."""
    for i in range(low, high):
        token_at[place[i]] = i


@njit(cache=True, nogil=True)
def _forget_tokens(token_at, place, low, high):
    """Undo `_number_tokens`: write -1."""
    for i in range(low, high):
        token_at[place[i]] = -1


@njit(cache=True, nogil=True)
def _links(tokens, scores, graph_arcs, units, jumps, finals):
    layer_start, place, forward, backward, floor, beam = tokens
    arc_start, arc_end, arc_unit, arc_word, arc_event, arc_weight, arc_scaled, arc_penalty = graph_arcs
    unit_state, unit_stay, unit_leave = units
    jump_start, jump_end, jump_word, jump_weight, jump_scaled = jumps
    final_weight, final_scaled = finals
    n_tokens = len(place)
    arc_token = np.full(len(arc_end), -1, np.int32)
    node_token = np.full(len(final_weight), -1, np.int32)
    last = len(layer_start) - 2
    start = np.zeros(n_tokens + 2, np.int64)
    room = 0
    for filling in range(2):  # first the links are counted
        target = np.empty(room, np.int32)
        word = np.empty(room, np.int32)
        event = np.empty(room, np.uint8)
        acoustic = np.empty(room)
        grammar = np.empty(room)
        total = np.empty(room)
        n = 0
        for layer in range(last + 1):
            frame = layer // 2
            nodes = layer if layer % 2 == 0 else layer + 1
            arcs = layer + 1 if layer % 2 == 0 else layer + 2
            _number_tokens(node_token, place, layer_start[nodes], layer_start[nodes + 1])
            if arcs < last:
                _number_tokens(arc_token, place, layer_start[arcs], layer_start[arcs + 1])
            for i in range(layer_start[layer], layer_start[layer + 1]):
                start[i] = n
                least = -beam - SLACK - forward[i]
                if layer % 2 == 1:
                    arc = place[i]
                    unit = arc_unit[arc]
                    for leaves in range(2):
                        if leaves:
                            to = node_token[arc_end[arc]]
                            heard = unit_leave[unit]
                        else:
                            to = arc_token[arc]
                            if to < 0:
                                continue
                            heard = unit_stay[unit] + scores[frame + 1, unit_state[unit]]
                        if to >= 0 and heard + backward[to] >= least:
                            if filling:
                                target[n], word[n], event[n] = to, -1, NO_EVENT
                                acoustic[n], grammar[n], total[n] = heard, 0.0, heard
                            n += 1
                    continue
                node = place[i]
                for jump in range(jump_start[node], jump_start[node + 1]):
                    to = node_token[jump_end[jump]]
                    if to >= 0 and jump_scaled[jump] + backward[to] >= least:
                        if filling:
                            target[n], word[n], event[n] = to, jump_word[jump], NO_EVENT
                            acoustic[n], grammar[n], total[n] = 0.0, jump_weight[jump], jump_scaled[jump]
                        n += 1
                if layer == last:
                    if final_scaled[node] + backward[n_tokens] >= least:
                        if filling:
                            target[n], word[n], event[n] = n_tokens, -1, NO_EVENT
                            acoustic[n], grammar[n], total[n] = 0.0, final_weight[node], final_scaled[node]
                        n += 1
                elif forward[i] >= floor[frame]:
                    for arc in range(arc_start[node], arc_start[node + 1]):
                        to = arc_token[arc]
                        if to < 0:
                            continue
                        heard = float(scores[frame, unit_state[arc_unit[arc]]])
                        if arc_scaled[arc] + heard + backward[to] >= least:
                            if filling:
                                target[n], word[n], event[n] = to, arc_word[arc], arc_event[arc]
                                acoustic[n], grammar[n] = heard + arc_penalty[arc], arc_weight[arc]
                                total[n] = arc_scaled[arc] + heard
                            n += 1
            _forget_tokens(node_token, place, layer_start[nodes], layer_start[nodes + 1])
            if arcs < last:
                _forget_tokens(arc_token, place, layer_start[arcs], layer_start[arcs + 1])
        start[n_tokens] = start[n_tokens + 1] = n
        room = n
    return start, target, word, event, acoustic, grammar, total
