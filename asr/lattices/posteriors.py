"""Posteriors of the words of a lattice, by forward-backward over its paths, and their acoustic fits."""

from collections.abc import Sequence

import numpy as np

from asr.decode.path_segments import Segment
from asr.lattices.lattice import Lattice
from discriminants.util.numba_cache import njit


def default_scale(lattice: Lattice) -> float:
    """Return the default factor on scores before they become probabilities.

    It is one over the grammar's scale, so that the grammar has weight one (Wessel et al. 2001); at most 1.
    """
    return 1.0 / max(lattice.lm_scale, 1.0)


def arc_posteriors(lattice: Lattice, scale: float | None = None) -> np.ndarray:
    """Return arc posteriors, float64 (n_arcs,), with path weights exp(scale * score); default: `default_scale`."""
    scale = default_scale(lattice) if scale is None else scale
    alpha, beta = _forward_backward(
        lattice.source, lattice.target, scale * lattice.score, np.where(
            lattice.final_score > -np.inf, scale * lattice.final_score, -np.inf
        )
    )  # fmt: skip
    return np.exp(alpha[lattice.source] + scale * lattice.score + beta[lattice.target] - beta[0])


@njit(cache=True, nogil=True)
def _log_sum(a, b):
    high, low = max(a, b), min(a, b)
    return high if low == -np.inf else high + np.log1p(np.exp(low - high))


@njit(cache=True, nogil=True)
def _forward_backward(source, target, score, final):
    alpha = np.full(len(final), -np.inf)
    alpha[0] = 0.0
    for arc in range(len(source)):
        alpha[target[arc]] = _log_sum(alpha[target[arc]], alpha[source[arc]] + score[arc])
    beta = final.copy()
    for arc in range(len(source) - 1, -1, -1):
        beta[source[arc]] = _log_sum(beta[source[arc]], beta[target[arc]] + score[arc])
    return alpha, beta


def word_posteriors(lattice: Lattice, segments: Sequence[Segment], posterior: np.ndarray) -> list[float]:
    """Return the posterior of each word, given with its times.

    For every frame of the word, the posteriors of all arcs with the same word are summed; the largest sum counts (C_max
    of Wessel et al. 2001). So the same word with other times adds to the posterior. `posterior`, float64 (n_arcs,),
    comes from `arc_posteriors`.
    """
    end = lattice.node_frame[lattice.target]
    number = {word: index for index, word in enumerate(lattice.words)}
    found = []
    for segment in segments:
        same = lattice.word == number.get(segment.label, -1)
        same &= (lattice.begin < max(segment.end, segment.start + 1)) & (end > segment.start)
        n_frames = max(1, segment.end - segment.start)
        change = np.zeros(n_frames + 1)
        np.add.at(change, np.maximum(lattice.begin[same] - segment.start, 0), posterior[same])
        np.add.at(change, np.minimum(end[same] - segment.start, n_frames), -posterior[same])
        found.append(float(np.clip(np.cumsum(change)[:-1].max(), 0.0, 1.0)))
    return found


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
