"""From one word to the next: the best ways through a trellis that carry no word.

A word sits on a link. *Heads* are the tokens that such links lead to, and the first token; *junctions* those that they
leave from, and the end. What lies between is the way from a head to a junction.
"""

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from asr.decode.trellis import SLACK, grown
from asr.lattices.links import NO_EVENT, Links
from discriminants.compiled import njit


@dataclass(frozen=True)
class Ways:
    """The best way from each of some heads to the junctions that it reaches.

    Attributes
    ----------
    start : int64 (n_heads + 1,)
        Ways from head i are `start[i]:start[i + 1]`, in no order.
    junction : int32 (n_ways,)
        Token number.
    total : float64 (n_ways,)
        Score, as the search adds it.
    acoustic, grammar : float64 (n_ways,)
        Its parts. Of no length unless asked for, and so are those that follow.
    last_event : int64 (n_ways,)
        The last event on the way, -1 for none.
    event_link, event_before : int64 (n_events,)
        Of every event the link, and the event before it on the way, -1 for none.
    event_acoustic, event_grammar : float64 (n_events,)
        From the head up to the event.
    """

    start: np.ndarray
    junction: np.ndarray
    total: np.ndarray
    acoustic: np.ndarray
    grammar: np.ndarray
    last_event: np.ndarray
    event_link: np.ndarray
    event_before: np.ndarray
    event_acoustic: np.ndarray
    event_grammar: np.ndarray


def best_ways(links: Links, heads: np.ndarray, *, detailed: bool = False) -> Ways:
    """The best ways without a word from `heads`, int (n,), to junctions."""
    is_junction = np.zeros(len(links.frame), np.bool_)
    is_junction[-1] = True
    sources = np.repeat(np.arange(len(links.frame)), np.diff(links.start))
    is_junction[sources[links.word >= 0]] = True
    return Ways(*_ways(
        np.asarray(heads, np.int64), is_junction, links.start, links.target, links.word, links.event, links.acoustic,
        links.grammar, links.total, links.forward, links.backward, links.beam, detailed,
    ))  # fmt: skip


@njit(cache=True, nogil=True)
def _ways(
    heads, is_junction, start, target, word, event, acoustic, grammar, total, forward, backward, beam, detailed
):  # fmt: skip
    n_tokens = len(forward)
    best = np.full(n_tokens, -np.inf)
    n_fields = n_tokens if detailed else 0
    heard = np.empty(n_fields)
    expected = np.empty(n_fields)
    last = np.empty(n_fields, np.int64)
    room = 1024 if detailed else 0
    way_start = np.zeros(len(heads) + 1, np.int64)
    junction = np.empty(1024, np.int32)
    way_total = np.empty(1024)
    way_acoustic = np.empty(room)
    way_grammar = np.empty(room)
    way_last = np.empty(room, np.int64)
    event_link = np.empty(room, np.int64)
    event_before = np.empty(room, np.int64)
    event_acoustic = np.empty(room)
    event_grammar = np.empty(room)
    n = 0
    n_events = 0
    for number in range(len(heads)):
        head = heads[number]
        best[head] = 0.0
        if detailed:
            heard[head] = expected[head] = 0.0
            last[head] = -1
        waiting = [head]
        touched = [head]
        while len(waiting) > 0:
            token = heappop(waiting)
            so_far = best[token]
            if is_junction[token]:
                if n == len(junction):
                    junction, way_total = grown(junction), grown(way_total)
                    if detailed:
                        way_acoustic, way_grammar, way_last = grown(way_acoustic), grown(way_grammar), grown(way_last)
                junction[n], way_total[n] = token, so_far
                if detailed:
                    way_acoustic[n], way_grammar[n], way_last[n] = heard[token], expected[token], last[token]
                n += 1
            for link in range(start[token], start[token + 1]):
                if word[link] >= 0:
                    continue
                to = np.int64(target[link])
                score = so_far + total[link]
                if score <= best[to] or forward[head] + score + backward[to] < -beam - SLACK:
                    continue
                if best[to] == -np.inf:
                    heappush(waiting, to)
                    touched.append(to)
                best[to] = score
                if not detailed:
                    continue
                heard[to], expected[to] = heard[token] + acoustic[link], expected[token] + grammar[link]
                last[to] = last[token]
                if event[link] != NO_EVENT:
                    if n_events == len(event_link):
                        event_link, event_before = grown(event_link), grown(event_before)
                        event_acoustic, event_grammar = grown(event_acoustic), grown(event_grammar)
                    event_link[n_events], event_before[n_events] = link, last[token]
                    event_acoustic[n_events], event_grammar[n_events] = heard[token], expected[token]
                    last[to] = n_events
                    n_events += 1
        for token in touched:
            best[token] = -np.inf
        way_start[number + 1] = n
    kept = n if detailed else 0
    return (
        way_start, junction[:n].copy(), way_total[:n].copy(), way_acoustic[:kept].copy(), way_grammar[:kept].copy(),
        way_last[:kept].copy(), event_link[:n_events].copy(), event_before[:n_events].copy(),
        event_acoustic[:n_events].copy(), event_grammar[:n_events].copy(),
    )  # fmt: skip
