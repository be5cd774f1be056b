"""N-best sentences of a lattice without repetition, by A* search with exact remaining scores (Nilsson 1971)."""

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
