"""The best sentences of a lattice, each once: best first, with the exact score of what is left (Nilsson 1971, A*)."""

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from asr.lattices.lattice import Lattice


class Sentence(NamedTuple):
    """A path: its arcs, int64 (n,), and its score as the search adds it."""

    arcs: np.ndarray
    score: float


def n_best(lattice: Lattice, n: int) -> list[Sentence]:
    """The best `n` paths, fewer if there are no more; the decoder's own stands before others of the same score."""
    first = lattice.path(lattice.first)
    own = tuple(first.tolist()) if first is not None else None
    backward, start = lattice.backward, lattice.arc_start.tolist()
    found: list[Sentence] = []
    count = 0
    # Paths as chains (arc, chain before); the key of a path that has ended comes before those that could only be equal.
    waiting: list[tuple[float, int, int, tuple | None, float, bool]] = [(-backward[0], 0, 0, None, 0.0, False)]
    while waiting and len(found) < n:
        _, _, node, chain, score, ended = heappop(waiting)
        if ended:
            arcs = []
            while chain is not None:
                arc, chain = chain
                arcs.append(arc)
            found.append(Sentence(np.array(arcs[::-1], np.int64), score))
            continue
        if lattice.final_score[node] > -np.inf:
            count += 1
            total = score + float(lattice.final_score[node])
            heappush(waiting, (-total, count, node, chain, total, True))
        for arc in range(start[node], start[node + 1]):
            count += 1
            further = score + float(lattice.score[arc])
            target = int(lattice.target[arc])
            heappush(waiting, (-(further + float(backward[target])), count, target, (arc, chain), further, False))
    if own is not None and found:
        score = _score(lattice, np.array(own, np.int64))
        if score >= found[0].score - 1e-4:
            found = [Sentence(np.array(own, np.int64), score), *(s for s in found if tuple(s.arcs.tolist()) != own)][:n]
    return found


def _score(lattice: Lattice, arcs: np.ndarray) -> float:
    end = int(lattice.target[arcs[-1]]) if len(arcs) else 0
    return float(lattice.score[arcs].sum() + lattice.final_score[end])
