"""Acoustic fit of single words: even without a better word in the lattice, a word may be wrong."""

from collections.abc import Sequence

import numpy as np

from asr.decode.path_segments import Segment
from asr.lattices.lattice import Lattice


def word_fits(lattice: Lattice, segments: Sequence[Segment], posterior: np.ndarray) -> np.ndarray:
    """Return the acoustic score per frame of words with times, minus that of no state in particular, float64 (n,).

    The arc of the word with the largest overlap is used, and of several the most probable. It includes a pause before
    the word. `posterior`, float64 (n_arcs,), comes from `arc_posteriors`. Raises ValueError if the lattice was read
    from a file, which lacks scores of frames.
    """
    if lattice.any_state is None:
        raise ValueError("the lattice has no scores of states, because it was read from a file")
    before = np.concatenate([[0.0], np.cumsum(lattice.any_state)])
    start, end = lattice.node_frame[lattice.source], lattice.node_frame[lattice.target]
    fit = (lattice.acoustic - (before[end] - before[start])) / np.maximum(end - start, 1)
    number = {word: index for index, word in enumerate(lattice.words)}
    found = np.zeros(len(segments))
    for place, segment in enumerate(segments):
        same = np.flatnonzero(lattice.word == number.get(segment.label, -1))
        if len(same):
            shared = np.minimum(end[same], segment.end) - np.maximum(lattice.begin[same], segment.start)
            found[place] = fit[same[np.lexsort((posterior[same], shared))[-1]]]
    return found
