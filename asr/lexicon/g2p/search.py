"""Search for the best pronunciations of a word under an n-gram of graphones.

A forward beam search makes a graph of all surviving hypotheses: a letter position and a history of the n-gram. An A*
search from the end, with the exact forward scores, gives the best pronunciations without repetition (Nilsson 1971).
"""

from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

import numpy as np

from asr.lexicon.g2p.ngram import END, ROOT, START, GraphoneNgram, step
from discriminants.util.numba_cache import njit

BEAM = 12.0
"""Hypotheses this much (natural log) below the best at the same letter are left out."""
MAX_HYPOTHESES = 500
"""Largest number of hypotheses that are extended at a letter."""

Found = tuple[tuple[int, ...], float]
"""Phone numbers and the natural log of the joint probability."""


class Trellis(NamedTuple):
    """Links between hypotheses, sorted by target. Hypothesis 0 is the start of the word."""

    forward: np.ndarray  # float64 (n_hypotheses,); best score from the start
    first_link: np.ndarray  # int64 (n_hypotheses + 1,)
    source: np.ndarray  # int64 (n_links,)
    token: np.ndarray  # int64 (n_links,)
    weight: np.ndarray  # float64 (n_links,)
    final: np.ndarray  # float64 (n_hypotheses,); score of the end of the word; -inf before the last letter


def search(
    ngram: GraphoneNgram,
    candidates: list[list[tuple[int, int]]],
    *,
    beam: float = BEAM,
    max_hypotheses: int = MAX_HYPOTHESES,
) -> Trellis:
    """Search all segmentations of a word.

    `candidates` has for each letter the graphones that begin there: tokens and numbers of letters.
    """
    offsets = np.concatenate([[0], np.cumsum([len(some) for some in candidates], dtype=np.int64)])
    flat = np.array([pair for some in candidates for pair in some], np.int64).reshape(-1, 2)
    arrays = (ngram.token, ngram.first_child, ngram.shorter, ngram.log_probability, ngram.back_off)
    place, state, forward, links, weights = _forward(*arrays, flat, offsets, beam, max_hypotheses)
    final = np.full(len(state), -np.inf)
    for hypothesis in np.flatnonzero(place == len(candidates)):
        final[hypothesis], _ = step(*arrays, state[hypothesis], END)
    order = np.argsort(links[:, 1], kind="stable")
    first_link = np.searchsorted(links[order, 1], np.arange(len(state) + 1))
    return Trellis(forward, first_link, links[order, 0], links[order, 2], weights[order], final)


def best_pronunciations(trellis: Trellis, phones: list[tuple[int, ...]], n: int) -> list[Found]:
    """Return the `n` best different pronunciations that have phones, each with its best segmentation's score.

    `phones` are the phone numbers of every token.
    """
    order = count()
    waiting: list[tuple[float, int, int, tuple[int, ...], float]] = []
    for end in np.flatnonzero(trellis.final > -np.inf).tolist():
        score = float(trellis.final[end])
        heappush(waiting, (-(score + trellis.forward[end]), next(order), end, (), score))
    found: list[Found] = []
    seen: set[tuple[int, tuple[int, ...]]] = set()
    while waiting and len(found) < n:
        _, _, hypothesis, suffix, score = heappop(waiting)
        if (hypothesis, suffix) in seen:
            continue
        seen.add((hypothesis, suffix))
        if hypothesis == 0:
            if suffix:
                found.append((suffix, score))
            continue
        for link in range(trellis.first_link[hypothesis], trellis.first_link[hypothesis + 1]):
            source = int(trellis.source[link])
            longer = phones[trellis.token[link]] + suffix
            if (source, longer) not in seen:
                total = score + float(trellis.weight[link])
                heappush(waiting, (-(total + trellis.forward[source]), next(order), source, longer, total))
    return found


@njit(cache=True, nogil=True)
def _forward(token, first_child, shorter, log_probability, back_off, candidates, offsets, beam, max_hypotheses):
    """Return letter position, history and score of all hypotheses, and the links (source, target, token) with weights.

    Hypotheses of a position are complete when it is reached, because every graphone has a letter.
    """
    n_letters = len(offsets) - 1
    place, state, forward = np.zeros(64, np.int64), np.zeros(64, np.int64), np.zeros(64)
    links, weights = np.zeros((256, 3), np.int64), np.zeros(256)
    _, state[0] = step(token, first_child, shorter, log_probability, back_off, ROOT, START)
    n_hypotheses, n_links = 1, 0
    known = {(np.int64(0), state[0]): np.int64(0)}
    for position in range(n_letters):
        here = np.flatnonzero(place[:n_hypotheses] == position)
        if position == 0:
            here = here[:1]
        if len(here) == 0:
            continue
        here = here[np.argsort(-forward[here], kind="mergesort")][:max_hypotheses]
        least = forward[here[0]] - beam
        for source in here:
            if forward[source] < least:
                break
            for candidate in range(offsets[position], offsets[position + 1]):
                new, n_taken = candidates[candidate]
                weight, after = step(token, first_child, shorter, log_probability, back_off, state[source], new)
                key = (position + n_taken, after)
                target = known[key] if key in known else np.int64(-1)
                score = forward[source] + weight
                if target < 0:
                    if n_hypotheses == len(place):
                        place, state = np.concatenate((place, place)), np.concatenate((state, state))
                        forward = np.concatenate((forward, forward))
                    target = np.int64(n_hypotheses)
                    known[key] = target
                    place[target], state[target], forward[target] = key[0], after, score
                    n_hypotheses += 1
                elif score > forward[target]:
                    forward[target] = score
                if n_links == len(weights):
                    links, weights = np.concatenate((links, links)), np.concatenate((weights, weights))
                links[n_links, 0], links[n_links, 1], links[n_links, 2] = source, target, new
                weights[n_links] = weight
                n_links += 1
    kept = n_hypotheses
    return place[:kept], state[:kept], forward[:kept], links[:n_links], weights[:n_links]
