"""Expected number of correct frames of a lattice, and its derivative by the states' scores."""

import numpy as np

from asr.decode.trellis import Trellis
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology
from asr.lattices.links import TraceLinks
from discriminants.util.numba_cache import njit


def token_states(trellis: Trellis, graph: StateGraph, topology: Topology) -> np.ndarray:
    """Return the state of every token of a trellis' links, int32 (n_tokens + 1,); -1 for nodes and the end."""
    layer = np.repeat(np.arange(len(trellis.layer_start) - 1), np.diff(trellis.layer_start))
    states = np.full(len(layer) + 1, -1, np.int32)
    arcs = np.flatnonzero(layer % 2 == 1)
    states[arcs] = topology.unit_state[graph.arc_unit[trellis.place[arcs]]]
    return states


def expected_accuracy(
    links: TraceLinks, states: np.ndarray, right: np.ndarray, *, scale: float
) -> tuple[float, np.ndarray]:
    """Return the expected number of correct frames of a path, and its derivative, float64 (n_frames, n_states).

    Path probabilities are proportional to exp(scale * score). The derivative by the scaled score of state s in frame t
    is gamma_t(s) (A_t(s) - A), where gamma is the posterior of the state, A_t(s) the expected accuracy of paths through
    it, and A that of all paths (minimum phone error: Povey and Woodland 2002; minimum Bayes risk over states: Gibson
    and Hain 2006). Its rows sum to zero.

    `links`: of a trellis. `states`, int32 (n_tokens,): from `token_states`. `right`, bool (n_frames, n_states): whether
    a state is correct in a frame. `scale`: factor on the scores; 1 / lm_scale leaves the grammar's probabilities
    unscaled.
    """
    return _expected(
        links.start, links.target, links.total, links.initial, links.frame, states, np.asarray(right, np.bool_), scale
    )


@njit(cache=True, nogil=True)
def _mixed(log_weight, value, other_log_weight, other_value):
    """Add two weights in the log domain, and return the weighted mean of the values."""
    if log_weight == -np.inf:
        return other_log_weight, other_value
    highest = max(log_weight, other_log_weight)
    own, other = np.exp(log_weight - highest), np.exp(other_log_weight - highest)
    return highest + np.log(own + other), (own * value + other * other_value) / (own + other)


@njit(cache=True, nogil=True)
def _expected(start, target, total, initial, frame, state, right, scale):
    n_tokens = len(state)
    # logarithm; correct frames up to and including the token
    forward, before = np.full(n_tokens, -np.inf), np.zeros(n_tokens)
    forward[initial] = 0.0
    for i in range(n_tokens):
        if forward[i] == -np.inf:
            continue
        for link in range(start[i], start[i + 1]):
            j = target[link]
            gained = 1.0 if state[j] >= 0 and right[frame[j], state[j]] else 0.0
            forward[j], before[j] = _mixed(forward[j], before[j], forward[i] + scale * total[link], before[i] + gained)
    backward, after = np.full(n_tokens, -np.inf), np.zeros(n_tokens)  # and after the token
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
