"""N-best sentences of a lattice without repetition, by A* search with exact remaining scores (Nilsson 1971).

The oracle error is that of the best of all sentences.
"""

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from asr.lattices.lattice import Lattice

_DECIMALS = 6
"""Rounding of scores, because sums in another order differ in rounding."""


class Sentence(NamedTuple):
    """A path: its arcs, int64 (n,), and its score in the search."""

    arcs: np.ndarray
    score: float


def n_best(lattice: Lattice, n: int) -> list[Sentence]:
    """Return the best `n` paths, or fewer; the decoder's own path precedes others of the same score."""
    first = lattice.path(lattice.first)
    backward, start = lattice.backward.tolist(), lattice.arc_start.tolist()
    scores, targets, final = lattice.score.tolist(), lattice.target.tolist(), lattice.final_score.tolist()
    found: list[Sentence] = []
    count = 0
    # Paths as chains (arc, chain before). Of equal ones the latest comes first, which is closest to its end: many
    # sentences of long audio have equal scores.
    waiting: list[tuple[float, int, int, Any, float, bool]] = [(-backward[0], 0, 0, None, 0.0, False)]
    while waiting and len(found) < n:
        _, _, node, chain, score, ended = heappop(waiting)
        if ended:
            arcs = []
            while chain is not None:
                arc, chain = chain
                arcs.append(arc)
            found.append(Sentence(np.array(arcs[::-1], np.int64), score))
            continue
        if final[node] > -np.inf:
            count -= 1
            total = score + final[node]
            heappush(waiting, (round(-total, _DECIMALS), count, node, chain, total, True))
        for arc in range(start[node], start[node + 1]):
            count -= 1
            further = score + scores[arc]
            target = targets[arc]
            heappush(
                waiting, (round(-(further + backward[target]), _DECIMALS), count, target, (arc, chain), further, False)
            )
    if first is not None and found:
        own = first.tolist()
        end = int(lattice.target[own[-1]]) if own else 0
        score = float(lattice.score[first].sum() + lattice.final_score[end])
        if score >= found[0].score - 1e-4:
            found = [Sentence(first, score), *(one for one in found if one.arcs.tolist() != own)][:n]
    return found


def oracle_errors(lattice: Lattice, reference: Sequence[str]) -> int:
    """Return the substitutions, deletions and insertions of the path with the fewest of them."""
    numbers = {word: number for number, word in enumerate(lattice.words)}
    said = np.array([numbers.get(word, -1) for word in reference], np.int64)
    places = np.arange(len(said) + 1)
    # errors[node, place]: fewest over all paths to the node against the first `place` words of the reference
    errors = np.full((lattice.n_nodes, len(said) + 1), np.inf)
    errors[0, 0] = 0.0
    fewest = np.inf
    for node in range(lattice.n_nodes):
        own = errors[node] = np.minimum.accumulate(errors[node] - places) + places
        if lattice.final_score[node] > -np.inf:
            fewest = min(fewest, own[-1])
        for arc in range(int(lattice.arc_start[node]), int(lattice.arc_start[node + 1])):
            following = errors[lattice.target[arc]]
            np.minimum(following, own + 1.0, out=following)
            np.minimum(following[1:], own[:-1] + (said != lattice.word[arc]), out=following[1:])
    return int(fewest)
