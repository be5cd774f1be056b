"""Oracle error of a lattice: the fewest word errors of any path."""

from collections.abc import Sequence

import numpy as np

from asr.lattices.lattice import Lattice


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
