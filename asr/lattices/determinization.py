"""Determinization over word sequences, best first (Povey et al. 2012).

A subset has every junction that a word sequence reaches within the beam, each with the score of its best path relative
to the best complete path of the subset. Subsets are expanded in the order of their best complete paths, so those left
out for lack of memory are worse than all others. Back pointers of every arc give the best of all paths with the same
words.
"""

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from asr.decode.trellis import SLACK, grown
from asr.lattices.closures import EpsilonPaths
from asr.lattices.links import TraceLinks
from discriminants.util.numba_cache import njit

QUANTUM = 1e-4
"""Scores that differ by less are equal when subsets are compared."""
MAX_ELEMENTS = 8_000_000
"""Limit on junctions of all subsets (12 bytes) plus back pointers of all arcs (16 bytes)."""


@dataclass(frozen=True)
class WordSteps:
    """Words between elements of subsets on the best paths of all word sequences."""

    source: np.ndarray  # int64 (n_steps,); element
    target: np.ndarray  # int64 (n_steps,); element
    link: np.ndarray  # int64 (n_steps,); number of the word's link
    junction: np.ndarray  # int32 (n_elements,); token of every element
    n_first: int  # elements below this are not preceded by a word
    beam: float  # word sequences less than this below the best one are complete


def word_steps(links: TraceLinks, heads: np.ndarray, ways: EpsilonPaths) -> WordSteps:
    """Determinize; `heads` are sorted tokens, including the first of the utterance, and `ways` their ways."""
    spoken = np.flatnonzero(links.word >= 0)  # sorted by token
    n_tokens = len(links.frame)
    sources = np.repeat(np.arange(n_tokens), np.diff(links.start))[spoken]
    head_of_token = np.full(n_tokens, -1, np.int32)
    head_of_token[heads] = np.arange(len(heads))
    source, target, link, junction, n_first, beam = _determinized(
        EpsilonWays(ways.start, ways.junction, ways.total),
        WordLinks(
            np.searchsorted(sources, np.arange(n_tokens + 1)),
            links.word[spoken],
            head_of_token[links.target[spoken]],
            links.total[spoken],
        ),
        links.backward,
        int(head_of_token[links.initial]),
        links.beam,
        MAX_ELEMENTS,
    )
    return WordSteps(source, target, spoken[link], junction, n_first, beam)


@njit(cache=True, nogil=True)
def _hash(tokens, values, n):
    key = np.uint64(1469598103934665603)
    prime = np.uint64(1099511628211)
    for i in range(n):
        key = (key ^ np.uint64(tokens[i])) * prime
        key = (key ^ np.uint64(np.int64(np.floor(values[i] / QUANTUM + 0.5)))) * prime
        key ^= key >> np.uint64(29)
    return key


@njit(cache=True, nogil=True)
def _same(tokens, values, n, element_token, element_score, low, high):
    if high - low != n:
        return False
    for i in range(n):
        if tokens[i] != element_token[low + i]:
            return False
        if np.floor(values[i] / QUANTUM + 0.5) != np.floor(element_score[low + i] / QUANTUM + 0.5):
            return False
    return True


class EpsilonWays(NamedTuple):
    """The best ways without a word from heads to junctions, as in `EpsilonPaths`."""

    start: np.ndarray
    junction: np.ndarray
    total: np.ndarray


class WordLinks(NamedTuple):
    """The links with words, sorted by their junction."""

    start: np.ndarray  # int64 (n_tokens + 1,); links from junction i are `start[i]:start[i + 1]`
    word: np.ndarray  # int32 (n_links,)
    head: np.ndarray  # int32 (n_links,); number of the target head
    total: np.ndarray  # float64 (n_links,); score of the search


class Subsets(NamedTuple):
    """The subsets found so far and a hash table of them; all arrays have room at their ends."""

    start: np.ndarray  # elements of subset i are `start[i]:start[i + 1]`
    deficit: np.ndarray  # score of its best complete path minus the best of all; at most 0
    opened: np.ndarray  # whether the outgoing arcs are known
    next_in_slot: np.ndarray  # next subset in the same hash slot, -1 for none
    junction: np.ndarray  # token of every element
    score: np.ndarray  # of the best path to every element, minus the subset's best complete path
    slot: np.ndarray  # first subset of every hash slot, -1 for none


class SubsetArcs(NamedTuple):
    """The arcs between subsets, with a back pointer from every element of the target and room at the ends."""

    target: np.ndarray  # subset
    start: np.ndarray  # back pointers of arc i are `start[i]:start[i + 1]`
    element: np.ndarray  # source element
    link: np.ndarray  # link with the word


class BestEntries(NamedTuple):
    """The best path so far to every head or junction: its score (-inf for none), source element and link.

    The first entries of `found` are the numbers that have a path.
    """

    score: np.ndarray
    element: np.ndarray
    link: np.ndarray
    found: np.ndarray


@njit(cache=True, nogil=True)
def _no_subsets():
    return Subsets(
        np.zeros(1024, np.int64), np.empty(1024), np.zeros(1024, np.bool_), np.full(1024, -1, np.int64),
        np.empty(1024, np.int32), np.empty(1024), np.full(4096, -1, np.int64),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _with_room_for_subset(subsets, n_subsets, n_elements):
    """Return the same subsets with room for one more of `n_elements`."""
    start, deficit, opened, next_in_slot, junction, score, slot = subsets
    if n_subsets + 2 >= len(start):
        start, deficit, next_in_slot = grown(start), grown(deficit), grown(next_in_slot)
        opened = grown(opened)
    while start[n_subsets] + n_elements > len(junction):
        junction, score = grown(junction), grown(score)
    return Subsets(start, deficit, opened, next_in_slot, junction, score, slot)


@njit(cache=True, nogil=True)
def _with_more_slots(subsets, n_subsets):
    """Return the same subsets with a larger hash table."""
    start, deficit, opened, next_in_slot, junction, score, slot = subsets
    slot = np.full(4 * len(slot), -1, np.int64)
    for number in range(n_subsets):
        low, size = start[number], start[number + 1] - start[number]
        place = _slot_of(junction[low : low + size], score[low : low + size], size, len(slot))
        next_in_slot[number] = slot[place]
        slot[place] = number
    return Subsets(start, deficit, opened, next_in_slot, junction, score, slot)


@njit(cache=True, nogil=True)
def _slot_of(junctions, scores, n, n_slots):
    return np.int64(_hash(junctions, scores, n) % np.uint64(n_slots))


@njit(cache=True, nogil=True)
def _find_subset(subsets, place, junctions, scores, n):
    """Return the subset with the first `n` of these elements, or -1; `place` is their hash slot."""
    start, _, _, next_in_slot, junction, score, slot = subsets
    number = slot[place]
    while number >= 0 and not _same(junctions, scores, n, junction, score, start[number], start[number + 1]):
        number = next_in_slot[number]
    return number


@njit(cache=True, nogil=True)
def _add_subset(subsets, number, place, junctions, scores, n, deficit):
    """Write subset `number`, for which there is room, and put it into the hash table at `place`."""
    junction, score = subsets.junction, subsets.score
    low = subsets.start[number]
    for i in range(n):
        junction[low + i] = junctions[i]
        score[low + i] = scores[i]
    subsets.start[number + 1] = low + n
    subsets.deficit[number] = deficit
    subsets.opened[number] = False
    subsets.next_in_slot[number] = subsets.slot[place]
    subsets.slot[place] = number


@njit(cache=True, nogil=True)
def _no_arcs():
    return SubsetArcs(
        np.empty(1024, np.int64), np.zeros(1024, np.int64), np.empty(1024, np.int64), np.empty(1024, np.int64)
    )


@njit(cache=True, nogil=True)
def _with_room_for_arc(arcs, n_arcs, n_steps):
    """Return the same arcs with room for one more of `n_steps`."""
    target, start, element, link = arcs
    if n_arcs + 1 >= len(start):
        target, start = grown(target), grown(start)
    while start[n_arcs] + n_steps > len(element):
        element, link = grown(element), grown(link)
    return SubsetArcs(target, start, element, link)


@njit(cache=True, nogil=True)
def _add_arc(arcs, number, target, junctions, n, best):
    """Write arc `number`, for which there is room, with a back pointer from each of the junctions."""
    element, link = arcs.element, arcs.link
    best_element, best_link = best.element, best.link
    arcs.target[number] = target
    low = arcs.start[number]
    for i in range(n):
        element[low + i] = best_element[junctions[i]]
        link[low + i] = best_link[junctions[i]]
    arcs.start[number + 1] = low + n


@njit(cache=True, nogil=True)
def _word_arcs(subsets, subset, links):
    """Return word, link, head, element and score of all links with words from the elements of a subset."""
    first, last = subsets.start[subset], subsets.start[subset + 1]
    junction_of, score_of = subsets.junction, subsets.score
    start, word, head, total = links
    n = 0
    for element in range(first, last):
        junction = junction_of[element]
        n += start[junction + 1] - start[junction]
    words, numbers, elements = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    heads, scores = np.empty(n, np.int64), np.empty(n)
    n = 0
    for element in range(first, last):
        junction = junction_of[element]
        for link in range(start[junction], start[junction + 1]):
            words[n], numbers[n], elements[n], heads[n] = word[link], link, element, head[link]
            scores[n] = score_of[element] + total[link]
            n += 1
    return words, numbers, heads, elements, scores


@njit(cache=True, nogil=True)
def _enter_heads(order, position, words, numbers, heads, elements, scores, at_heads):
    """Keep the best path to each head over the links with the word at `position`.

    Returns the position of the next word and the number of heads found.
    """
    best, best_element, best_link, found = at_heads
    word = words[order[position]]
    n = 0
    while position < len(order) and words[order[position]] == word:
        one = order[position]
        position += 1
        head = heads[one]
        if scores[one] > best[head]:
            if best[head] == -np.inf:
                found[n] = head
                n += 1
            best[head], best_element[head], best_link[head] = scores[one], elements[one], numbers[one]
    return position, n


@njit(cache=True, nogil=True)
def _clear(best, n):
    """Reset the first `n` entries found."""
    score, found = best.score, best.found
    for i in range(n):
        score[found[i]] = -np.inf


@njit(cache=True, nogil=True)
def _follow_ways(at_heads, n_heads, ways, at_junctions, backward):
    """Pass the paths at heads on to junctions, and reset the heads.

    Returns the number of junctions found and the score of the best complete path.
    """
    start, way_junction, total = ways
    head_score, head_element, head_link, heads = at_heads
    best, best_element, best_link, found = at_junctions
    n = 0
    top = -np.inf
    for i in range(n_heads):
        head = heads[i]
        for way in range(start[head], start[head + 1]):
            junction = way_junction[way]
            score = head_score[head] + total[way]
            if score > best[junction]:
                if best[junction] == -np.inf:
                    found[n] = junction
                    n += 1
                best[junction], best_element[junction], best_link[junction] = score, head_element[head], head_link[head]
                top = max(top, score + backward[junction])
        head_score[head] = -np.inf
    return n, top


@njit(cache=True, nogil=True)
def _within_beam(at_junctions, n, backward, common, beam):
    """Return the junctions within the beam, sorted, their scores minus the common part, and their number."""
    best = at_junctions.score
    found = at_junctions.found[:n]
    junctions = found[np.argsort(found, kind="mergesort")]  # one sort is compiled for this and for words
    scores = np.empty(n)
    kept = 0
    for i in range(n):
        junction = junctions[i]
        if best[junction] + backward[junction] >= common - beam - SLACK:
            junctions[kept] = junction
            scores[kept] = best[junction] - common
            kept += 1
    return junctions, scores, kept


@njit(cache=True, nogil=True)
def _arcs_by_target(arcs, n_arcs, n_subsets):
    """Return arcs sorted by target, by counting; those to subset i are `order[start[i]:start[i + 1]]`."""
    start = np.zeros(n_subsets + 1, np.int64)
    for arc in range(n_arcs):
        start[arcs.target[arc] + 1] += 1
    for subset in range(n_subsets):
        start[subset + 1] += start[subset]
    order, filled = np.empty(n_arcs, np.int64), np.zeros(n_subsets, np.int64)
    for arc in range(n_arcs):
        target = arcs.target[arc]
        order[start[target] + filled[target]] = arc
        filled[target] += 1
    return order, start


@njit(cache=True, nogil=True)
def _steps_of_best_paths(subsets, n_subsets, arcs, n_arcs, end):
    """Return source, target and link of the steps on best paths of word sequences, traced back from the ends."""
    into, into_start = _arcs_by_target(arcs, n_arcs, n_subsets)
    n_elements = subsets.start[n_subsets]
    needed = np.zeros(n_elements, np.bool_)
    stack = np.empty(n_elements, np.int64)
    n_stack = 0
    subset_of = np.empty(n_elements, np.int64)
    for number in range(n_subsets):
        for element in range(subsets.start[number], subsets.start[number + 1]):
            subset_of[element] = number
            if subsets.junction[element] == end:
                needed[element] = True
                stack[n_stack] = element
                n_stack += 1
    source, target, link = np.empty(1024, np.int64), np.empty(1024, np.int64), np.empty(1024, np.int64)
    n_steps = 0
    while n_stack > 0:
        n_stack -= 1
        element = stack[n_stack]
        number = subset_of[element]
        for i in range(into_start[number], into_start[number + 1]):
            back = arcs.start[into[i]] + element - subsets.start[number]
            if n_steps == len(source):
                source, target, link = grown(source), grown(target), grown(link)
            before = arcs.element[back]
            source[n_steps], target[n_steps], link[n_steps] = before, element, arcs.link[back]
            n_steps += 1
            if not needed[before]:
                needed[before] = True
                stack[n_stack] = before
                n_stack += 1
    return source[:n_steps].copy(), target[:n_steps].copy(), link[:n_steps].copy()


@njit(cache=True, nogil=True)
def _no_entries(n):
    return BestEntries(np.full(n, -np.inf), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64))


@njit(cache=True, nogil=True)
def _determinized(ways, links, backward, first_head, beam, most_elements):
    """Expand subsets, best first, until all are expanded or memory runs out; then trace back their arcs.

    Subset -1 is before the first one: a single arc leads from it to `first_head`.
    """
    subsets, n_subsets = _no_subsets(), np.int64(0)
    arcs, n_arcs = _no_arcs(), np.int64(0)
    at_heads, at_junctions = _no_entries(len(ways.start) - 1), _no_entries(len(backward))
    waiting: list[tuple[float, np.int64]] = [(0.0, np.int64(-1))]
    reached_beam = beam
    while len(waiting) > 0:
        negative, subset = heappop(waiting)
        if subset < 0:
            words, elements, numbers = np.zeros(1, np.int64), np.full(1, -1, np.int64), np.full(1, -1, np.int64)
            heads, scores = np.full(1, first_head, np.int64), np.zeros(1)
        else:
            if subsets.opened[subset] or -negative < subsets.deficit[subset]:
                continue
            if subsets.start[n_subsets] + arcs.start[n_arcs] > most_elements:
                reached_beam = negative
                break
            subsets.opened[subset] = True
            words, numbers, heads, elements, scores = _word_arcs(subsets, subset, links)
        order = np.argsort(words, kind="mergesort")
        position = np.int64(0)  # one type, so that the functions are compiled once
        while position < len(order):
            position, n_heads = _enter_heads(order, position, words, numbers, heads, elements, scores, at_heads)
            n_found, top = _follow_ways(at_heads, n_heads, ways, at_junctions, backward)
            deficit = 0.0 if subset < 0 else subsets.deficit[subset] + top
            common = 0.0 if subset < 0 else top
            junctions, values, n = _within_beam(at_junctions, n_found, backward, common, beam)
            if n > 0 and deficit >= -beam - SLACK:
                place = _slot_of(junctions, values, n, len(subsets.slot))
                target = _find_subset(subsets, place, junctions, values, n)
                if target < 0:
                    target = n_subsets
                    if target + 2 >= len(subsets.start) or subsets.start[target] + n > len(subsets.junction):
                        subsets = _with_room_for_subset(subsets, n_subsets, n)
                    _add_subset(subsets, target, place, junctions, values, n, deficit)
                    n_subsets += 1
                    if n_subsets > len(subsets.slot):
                        subsets = _with_more_slots(subsets, n_subsets)
                    heappush(waiting, (-deficit, target))
                elif deficit > subsets.deficit[target]:
                    subsets.deficit[target] = deficit
                    if not subsets.opened[target]:
                        heappush(waiting, (-deficit, target))
                if subset >= 0:
                    if n_arcs + 1 >= len(arcs.start) or arcs.start[n_arcs] + n > len(arcs.element):
                        arcs = _with_room_for_arc(arcs, n_arcs, n)
                    _add_arc(arcs, n_arcs, target, junctions, n, at_junctions)
                    n_arcs += 1
            _clear(at_junctions, n_found)
    steps = _steps_of_best_paths(subsets, n_subsets, arcs, n_arcs, len(backward) - 1)
    return *steps, subsets.junction[: subsets.start[n_subsets]].copy(), subsets.start[1], reached_beam
