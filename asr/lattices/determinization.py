"""Subsets of junctions that say the same words: determinisation over word sequences, best first (Povey et al. 2012).

A subset holds every junction that a word sequence reaches within the beam, each with the score of its best path less
what the best complete path of the subset has in common. Subsets are opened in the order of their best complete paths,
so what stays closed when room runs out is worse than all that was opened. Of all paths with the same words the best is
found by the steps back that are kept with every arc.
"""

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from asr.decode.trellis import SLACK, grown
from asr.lattices.closures import EpsilonPaths
from asr.lattices.links import TraceLinks
from discriminants.util.numba_cache import njit

QUANTUM = 1e-4
"""Scores that differ by less are the same when subsets are compared."""
MAX_ELEMENTS = 8_000_000
"""Junctions of all subsets and steps back along all arcs, of 12 and 16 bytes."""


@dataclass(frozen=True)
class WordSteps:
    """Words between elements of subsets, as the best paths of all word sequences take them.

    Attributes
    ----------
    source, target : int64 (n_steps,)
        Elements.
    link : int64 (n_steps,)
        Number among all links of the one that has the word.
    junction : int32 (n_elements,)
        Token of every element.
    n_first : int
        The elements below are those that no word precedes.
    beam : float
        All word sequences less than this below the best one are there.
    """

    source: np.ndarray
    target: np.ndarray
    link: np.ndarray
    junction: np.ndarray
    n_first: int
    beam: float


def word_steps(links: TraceLinks, heads: np.ndarray, ways: EpsilonPaths) -> WordSteps:
    """Determinise. `heads` are sorted tokens, the first one of the utterance among them, and `ways` their ways."""
    spoken = np.flatnonzero(links.word >= 0)  # sorted by token
    n_tokens = len(links.frame)
    sources = np.repeat(np.arange(n_tokens), np.diff(links.start))[spoken]
    head_of_token = np.full(n_tokens, -1, np.int32)
    head_of_token[heads] = np.arange(len(heads))
    source, target, link, junction, n_first, beam = _determinized(
        ways.start,
        ways.junction,
        ways.total,
        np.searchsorted(sources, np.arange(n_tokens + 1)),
        links.word[spoken],
        head_of_token[links.target[spoken]],
        links.total[spoken],
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


@njit(cache=True, nogil=True)
def _determinized(
    way_start, way_junction, way_total, link_start, link_word, link_head, link_total, backward, first_head, beam,
    most_elements,
):  # fmt: skip
    n_tokens = len(backward)
    end = n_tokens - 1
    element_token = np.empty(1024, np.int32)
    element_score = np.empty(1024)
    subset_start = np.zeros(1024, np.int64)
    deficit = np.empty(1024)  # of the best complete path through the subset, at most 0
    opened = np.zeros(1024, np.bool_)
    bucket = np.full(4096, -1, np.int64)
    chained = np.full(1024, -1, np.int64)
    n_subsets = 0
    n_elements = 0
    arc_source = np.empty(1024, np.int64)
    arc_target = np.empty(1024, np.int64)
    back_start = np.zeros(1024, np.int64)
    back_element = np.empty(1024, np.int64)
    back_link = np.empty(1024, np.int64)
    n_arcs = 0
    n_back = 0

    best = np.full(n_tokens, -np.inf)  # by junction
    best_element = np.empty(n_tokens, np.int64)
    best_link = np.empty(n_tokens, np.int64)
    head_best = np.full(len(way_start) - 1, -np.inf)
    head_element = np.empty(len(way_start) - 1, np.int64)
    head_link = np.empty(len(way_start) - 1, np.int64)
    heads = np.empty(len(way_start) - 1, np.int64)
    tokens = np.empty(n_tokens, np.int64)
    waiting: list[tuple[float, np.int64]] = [(0.0, np.int64(-1))]  # -1: before the first subset
    reached_beam = beam
    while len(waiting) > 0:
        negative, subset = heappop(waiting)
        if subset >= 0:
            if opened[subset] or -negative < deficit[subset]:
                continue
            if n_elements + n_back > most_elements:
                reached_beam = negative
                break
            opened[subset] = True
        if subset < 0:
            n_candidates = 1
            words = np.zeros(1, np.int64)
            links = np.full(1, -1, np.int64)
            elements = np.full(1, -1, np.int64)
            entry = np.zeros(1)
        else:
            n_candidates = 0
            for element in range(subset_start[subset], subset_start[subset + 1]):
                token = element_token[element]
                n_candidates += link_start[token + 1] - link_start[token]
            words = np.empty(n_candidates, np.int64)
            links = np.empty(n_candidates, np.int64)
            elements = np.empty(n_candidates, np.int64)
            entry = np.empty(n_candidates)
            n = 0
            for element in range(subset_start[subset], subset_start[subset + 1]):
                token = element_token[element]
                for link in range(link_start[token], link_start[token + 1]):
                    words[n], links[n], elements[n] = link_word[link], link, element
                    entry[n] = element_score[element] + link_total[link]
                    n += 1
        order = np.argsort(words, kind="mergesort")
        position = 0
        while position < n_candidates:
            word = words[order[position]]
            n_heads = 0
            while position < n_candidates and words[order[position]] == word:
                one = order[position]
                position += 1
                head = first_head if subset < 0 else link_head[links[one]]
                if entry[one] > head_best[head]:
                    if head_best[head] == -np.inf:
                        heads[n_heads] = head
                        n_heads += 1
                    head_best[head], head_element[head], head_link[head] = entry[one], elements[one], links[one]
            n = 0
            top = -np.inf
            for i in range(n_heads):
                head = heads[i]
                for way in range(way_start[head], way_start[head + 1]):
                    token = way_junction[way]
                    score = head_best[head] + way_total[way]
                    if score > best[token]:
                        if best[token] == -np.inf:
                            tokens[n] = token
                            n += 1
                        best[token], best_element[token], best_link[token] = score, head_element[head], head_link[head]
                        top = max(top, score + backward[token])
                head_best[head] = -np.inf
            below = 0.0 if subset < 0 else deficit[subset] + top
            common = 0.0 if subset < 0 else top
            found = np.sort(tokens[:n])
            values = np.empty(n)
            kept = 0
            for i in range(n):
                token = found[i]
                if best[token] + backward[token] >= common - beam - SLACK:
                    found[kept] = token
                    values[kept] = best[token] - common
                    kept += 1
            if kept > 0 and below >= -beam - SLACK:
                slot = np.int64(_hash(found, values, kept) % np.uint64(len(bucket)))
                number = bucket[slot]
                while number >= 0 and not _same(
                    found, values, kept, element_token, element_score, subset_start[number], subset_start[number + 1]
                ):
                    number = chained[number]
                if number < 0:
                    number = n_subsets
                    n_subsets += 1
                    if n_subsets + 1 >= len(subset_start):
                        subset_start, deficit, chained = grown(subset_start), grown(deficit), grown(chained)
                        opened = grown(opened)
                    while n_elements + kept > len(element_token):
                        element_token, element_score = grown(element_token), grown(element_score)
                    for i in range(kept):
                        element_token[n_elements] = found[i]
                        element_score[n_elements] = values[i]
                        n_elements += 1
                    subset_start[number + 1] = n_elements
                    deficit[number] = below
                    opened[number] = False
                    chained[number] = bucket[slot]
                    bucket[slot] = number
                    heappush(waiting, (-below, np.int64(number)))
                    if n_subsets > len(bucket):
                        bucket = np.full(4 * len(bucket), -1, np.int64)
                        for one in range(n_subsets):
                            low, size = subset_start[one], subset_start[one + 1] - subset_start[one]
                            key = _hash(element_token[low : low + size], element_score[low : low + size], size)
                            slot = np.int64(key % np.uint64(len(bucket)))
                            chained[one] = bucket[slot]
                            bucket[slot] = one
                elif below > deficit[number]:
                    deficit[number] = below
                    if not opened[number]:
                        heappush(waiting, (-below, number))
                if subset >= 0:
                    if n_arcs + 1 >= len(back_start):
                        arc_source, arc_target, back_start = grown(arc_source), grown(arc_target), grown(back_start)
                    while n_back + kept > len(back_element):
                        back_element, back_link = grown(back_element), grown(back_link)
                    arc_source[n_arcs], arc_target[n_arcs] = subset, number
                    for i in range(kept):
                        back_element[n_back] = best_element[found[i]]
                        back_link[n_back] = best_link[found[i]]
                        n_back += 1
                    n_arcs += 1
                    back_start[n_arcs] = n_back
            for i in range(n):
                best[tokens[i]] = -np.inf

    # From the ends back to the first subset, only by what the best path of some word sequence takes.
    into = np.argsort(arc_target[:n_arcs], kind="mergesort")
    into_start = np.searchsorted(arc_target[:n_arcs][into], np.arange(n_subsets + 1))
    needed = np.zeros(n_elements, np.bool_)
    stack = np.empty(n_elements, np.int64)
    n_stack = 0
    subset_of = np.empty(n_elements, np.int64)
    for number in range(n_subsets):
        for element in range(subset_start[number], subset_start[number + 1]):
            subset_of[element] = number
            if element_token[element] == end:
                needed[element] = True
                stack[n_stack] = element
                n_stack += 1
    step_source = np.empty(1024, np.int64)
    step_target = np.empty(1024, np.int64)
    step_link = np.empty(1024, np.int64)
    n_steps = 0
    while n_stack > 0:
        n_stack -= 1
        element = stack[n_stack]
        number = subset_of[element]
        for i in range(into_start[number], into_start[number + 1]):
            back = back_start[into[i]] + element - subset_start[number]
            if n_steps == len(step_source):
                step_source, step_target, step_link = grown(step_source), grown(step_target), grown(step_link)
            before = back_element[back]
            step_source[n_steps], step_target[n_steps], step_link[n_steps] = before, element, back_link[back]
            n_steps += 1
            if not needed[before]:
                needed[before] = True
                stack[n_stack] = before
                n_stack += 1
    return (
        step_source[:n_steps].copy(), step_target[:n_steps].copy(), step_link[:n_steps].copy(),
        element_token[:n_elements].copy(), subset_start[1], reached_beam,
    )  # fmt: skip
