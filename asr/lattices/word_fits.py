"""How well words fit what was heard, by themselves: where a lattice has no better word, it may still be a bad one."""

from collections.abc import Sequence

import numpy as np

from asr.decode.path_segments import Segment
from asr.lattices.lattice import Lattice


def word_fits(lattice: Lattice, segments: Sequence[Segment], posterior: np.ndarray) -> np.ndarray:
    """Acoustic score a frame of words given with their times, less that of no state in particular, float64 (n,).

    Of the arcs with the word that which shares most frames with it counts, of several the most probable, from the end
    of the word before: a pause before the word is part of it.

    Parameters
    ----------
    posterior : float64 (n_arcs,)
        Of the arcs, from `arc_posteriors`.

    Raises
    ------
    ValueError
        If the lattice was read from a file, which has no scores of frames.
    """
    if lattice.any_state is None:
        raise ValueError("the lattice does not tell what frames score in any state; it was read from a file")
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
