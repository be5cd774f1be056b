"""How many frames a lattice is expected to get right, and how that changes with the scores of the states."""

import numpy as np

from asr.decode.trellis import Trellis
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology
from asr.lattices.links import TraceLinks
from discriminants.util.numba_cache import njit


def token_states(trellis: Trellis, graph: StateGraph, topology: Topology) -> np.ndarray:
    """The state that every token of the links of a trellis is in, int32 (n_tokens + 1,); -1 for nodes and the end."""
    layer = np.repeat(np.arange(len(trellis.layer_start) - 1), np.diff(trellis.layer_start))
    states = np.full(len(layer) + 1, -1, np.int32)
    arcs = np.flatnonzero(layer % 2 == 1)
    states[arcs] = topology.unit_state[graph.arc_unit[trellis.place[arcs]]]
    return states


def expected_accuracy(
    links: TraceLinks, states: np.ndarray, right: np.ndarray, *, scale: float
) -> tuple[float, np.ndarray]:
    """The number of frames that a path is expected to be right in, and its derivative.

    Paths are as probable as their scores times `scale` say. The derivative by the scaled score of state s in frame t
    is gamma_t(s) (A_t(s) - A), with gamma the probability that a path is there, A_t(s) what the paths through it are
    expected to get right, and A what all are (minimum phone error: Povey and Woodland 2002; minimum Bayes risk over
    states: Gibson and Hain 2006).

    Parameters
    ----------
    links : TraceLinks
        Of a trellis.
    states : int32 (n_tokens,)
        As `token_states` gives them.
    right : bool (n_frames, n_states)
        Whether a state counts as right in a frame.
    scale : float
        Of the scores; that of the grammar divides, so that its probabilities are as they were.

    Returns
    -------
    accuracy : float
    slopes : float64 (n_frames, n_states)
        Every row sums to zero.
    """
    return _expected(
        links.start, links.target, links.total, links.initial, links.frame, states, np.asarray(right, np.bool_), scale
    )


@njit(cache=True, nogil=True)
def _mixed(log_weight, value, other_log_weight, other_value):
    """The sum of two weights, by their logarithms, and the mean of the values so weighted."""
    if log_weight == -np.inf:
        return other_log_weight, other_value
    highest = max(log_weight, other_log_weight)
    own, other = np.exp(log_weight - highest), np.exp(other_log_weight - highest)
    return highest + np.log(own + other), (own * value + other * other_value) / (own + other)


@njit(cache=True, nogil=True)
def _expected(start, target, total, initial, frame, state, right, scale):
    n_tokens = len(state)
    forward, before = np.full(n_tokens, -np.inf), np.zeros(n_tokens)  # logarithm; frames right up to the token, it too
    forward[initial] = 0.0
    for i in range(n_tokens):
        if forward[i] == -np.inf:
            continue
        for link in range(start[i], start[i + 1]):
            j = target[link]
            gained = 1.0 if state[j] >= 0 and right[frame[j], state[j]] else 0.0
            forward[j], before[j] = _mixed(forward[j], before[j], forward[i] + scale * total[link], before[i] + gained)
    backward, after = np.full(n_tokens, -np.inf), np.zeros(n_tokens)  # and behind the token
    backward[n_tokens - 1] = 0.0
    for i in range(n_tokens - 1, -1, -1):
        for link in range(start[i], start[i + 1]):
            j = target[link]
            if backward[j] == -np.inf:
                continue
            gained = 1.0 if state[j] >= 0 and right[frame[j], state[j]] else 0.0
            backward[i], after[i] = _mixed(backward[i], after[i], backward[j] + scale * total[link], after[j] + gained)
    whole, accuracy = forward[n_tokens - 1], before[n_tokens - 1]
    slopes = np.zeros(right.shape)
    for i in range(n_tokens):
        if state[i] >= 0 and forward[i] > -np.inf and backward[i] > -np.inf:
            occupied = np.exp(forward[i] + backward[i] - whole)
            slopes[frame[i], state[i]] += occupied * (before[i] + after[i] - accuracy)
    return accuracy, slopes
