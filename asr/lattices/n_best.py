"""The best sentences of a lattice, each once: best first, with the exact score of what is left (Nilsson 1971, A*)."""

from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from asr.lattices.lattice import Lattice

_DECIMALS = 6
"""Of scores; the sum of the same numbers in another order is no other score."""


class Sentence(NamedTuple):
    """A path: its arcs, int64 (n,), and its score as the search adds it."""

    arcs: np.ndarray
    score: float


def n_best(lattice: Lattice, n: int) -> list[Sentence]:
    """The best `n` paths, fewer if there are no more; the decoder's own stands before others of the same score."""
    first = lattice.path(lattice.first)
    backward, start = lattice.backward.tolist(), lattice.arc_start.tolist()
    scores, targets, final = lattice.score.tolist(), lattice.target.tolist(), lattice.final_score.tolist()
    found: list[Sentence] = []
    count = 0
    # Paths as chains (arc, chain before). Of equal ones the latest goes first, which is the nearest to its end: many
    # sentences of long audio are equally good.
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
