"""Best paths between words of a trellis.

A word is on a link. *Heads* are the targets of such links and the first token; *junctions* are their sources and the
end. A way leads from a head to a junction without a word.
"""

from dataclasses import dataclass

import numpy as np

from asr.decode.trellis import SLACK, grown
from asr.lattices.links import NO_EVENT, TraceLinks
from discriminants.util.numba_cache import njit


@dataclass(frozen=True)
class EpsilonPaths:
    """The best way from each head to the junctions that it reaches.

    The arrays after `total` are empty unless detailed ways are computed.
    """

    start: np.ndarray  # int64 (n_heads + 1,); ways from head i are `start[i]:start[i + 1]`, unsorted
    junction: np.ndarray  # int32 (n_ways,); token number
    total: np.ndarray  # float64 (n_ways,); score of the search
    acoustic: np.ndarray  # float64 (n_ways,); part of `total`
    grammar: np.ndarray  # float64 (n_ways,); part of `total`
    last_event: np.ndarray  # int64 (n_ways,); last event on the way, -1 for none
    event_link: np.ndarray  # int64 (n_events,)
    event_before: np.ndarray  # int64 (n_events,); previous event on the way, -1 for none
    event_acoustic: np.ndarray  # float64 (n_events,); from the head to the event
    event_grammar: np.ndarray  # float64 (n_events,); from the head to the event


def best_ways(links: TraceLinks, heads: np.ndarray, *, detailed: bool = False) -> EpsilonPaths:
    """Return the best ways without a word from `heads`, int (n,), to junctions."""
    is_junction = np.zeros(len(links.frame), np.bool_)
    is_junction[-1] = True
    sources = np.repeat(np.arange(len(links.frame)), np.diff(links.start))
    is_junction[sources[links.word >= 0]] = True
    tokens = is_junction, links.forward, links.backward, links.beam
    arrays = links.start, links.target, links.word, links.event, links.acoustic, links.grammar, links.total
    return EpsilonPaths(*_ways(np.asarray(heads, np.int64), tokens, arrays, detailed))


@njit(cache=True, nogil=True)
def _ways(heads, tokens, links, detailed):
    n_tokens, n_links = len(tokens[0]), len(links[1])
    n_fields = n_tokens if detailed else 0
    best = np.full(n_tokens, -np.inf)
    scores = np.empty((n_fields, 2))
    last = np.empty(n_fields, np.int64)
    # These arrays have room for one head; the total size is unknown.
    own_junction = np.empty(n_tokens, np.int32)
    own_total = np.empty(n_tokens)
    own_scores = np.empty((n_fields, 2))
    own_last = np.empty(n_fields, np.int64)
    own_event = np.empty((n_links if detailed else 0, 2), np.int64)
    own_event_scores = np.empty((n_links if detailed else 0, 2))
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
        found, events = _ways_of(
            heads[number], tokens, links, detailed, (best, scores, last),
            (own_junction, own_total, own_scores, own_last), (own_event, own_event_scores),
        )  # fmt: skip
        while n + found > len(junction):
            junction, way_total = grown(junction), grown(way_total)
            if detailed:
                way_acoustic, way_grammar, way_last = grown(way_acoustic), grown(way_grammar), grown(way_last)
        for i in range(found):
            junction[n + i], way_total[n + i] = own_junction[i], own_total[i]
        if detailed:
            while n_events + events > len(event_link):
                event_link, event_before = grown(event_link), grown(event_before)
                event_acoustic, event_grammar = grown(event_acoustic), grown(event_grammar)
            for i in range(found):
                way_acoustic[n + i], way_grammar[n + i] = own_scores[i, 0], own_scores[i, 1]
                way_last[n + i] = -1 if own_last[i] < 0 else own_last[i] + n_events
            for i in range(events):
                event_link[n_events + i] = own_event[i, 0]
                event_before[n_events + i] = -1 if own_event[i, 1] < 0 else own_event[i, 1] + n_events
                event_acoustic[n_events + i] = own_event_scores[i, 0]
                event_grammar[n_events + i] = own_event_scores[i, 1]
        n += found
        n_events += events
        way_start[number + 1] = n
    kept = n if detailed else 0
    return (
        way_start, junction[:n].copy(), way_total[:n].copy(), way_acoustic[:kept].copy(), way_grammar[:kept].copy(),
        way_last[:kept].copy(), event_link[:n_events].copy(), event_before[:n_events].copy(),
        event_acoustic[:n_events].copy(), event_grammar[:n_events].copy(),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _ways_of(head, tokens, links, detailed, reached, ways, events_of_ways):
    """Find the ways of one head; `best` is -inf before and after. Returns the numbers of ways and events."""
    is_junction, forward, backward, beam = tokens
    start, target, word, event, acoustic, grammar, total = links
    best, scores, last = reached
    junction, way_total, way_scores, way_last = ways
    events, event_scores = events_of_ways
    n = 0
    n_events = 0
    best[head] = 0.0
    if detailed:
        scores[head, 0] = scores[head, 1] = 0.0
        last[head] = -1
    furthest = np.int64(head)
    token = head - 1
    while token < furthest:  # links lead to higher tokens, most of them near
        token += 1
        so_far = best[token]
        if so_far == -np.inf:
            continue
        best[token] = -np.inf
        if is_junction[token]:
            junction[n], way_total[n] = token, so_far
            if detailed:
                way_scores[n, 0], way_scores[n, 1], way_last[n] = scores[token, 0], scores[token, 1], last[token]
            n += 1
        for link in range(start[token], start[token + 1]):
            if word[link] >= 0:
                continue
            to = target[link]
            score = so_far + total[link]
            if score <= best[to] or forward[head] + score + backward[to] < -beam - SLACK:
                continue
            furthest = max(furthest, np.int64(to))
            best[to] = score
            if detailed:
                scores[to, 0] = scores[token, 0] + acoustic[link]
                scores[to, 1] = scores[token, 1] + grammar[link]
                last[to] = last[token]
                if event[link] != NO_EVENT:
                    events[n_events, 0], events[n_events, 1] = link, last[token]
                    event_scores[n_events, 0], event_scores[n_events, 1] = scores[token, 0], scores[token, 1]
                    last[to] = n_events
                    n_events += 1
    return n, n_events
