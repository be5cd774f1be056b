"""What a lattice is expected to get right, against every path of small random graphs."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from asr.decode.token_passing import best_path_and_tokens
from asr.hmm.topology import SHORT_PAUSE, SILENCE
from asr.lattices.expected_accuracy import expected_accuracy, token_states
from asr.lattices.links import trellis_links
from tests.decode.random_graphs import Problem, all_walks, problems

# The part of a topology that the units of random graphs have, without pauses.
UNITS = SimpleNamespace(
    phone_number={SILENCE: 0, SHORT_PAUSE: 2}, unit_phone=np.ones(3, np.int32), unit_state=np.array([0, 1, 0], np.int32)
)


def measured(problem: Problem, right: np.ndarray, scale: float, **weights) -> tuple[float, np.ndarray] | None:
    found = best_path_and_tokens(
        problem.scores, problem.graph, UNITS.unit_state, problem.self_loops, lattice_beam=np.inf, **weights
    )
    if found is None:
        return None
    trellis = found[1]
    links = trellis_links(trellis, problem.scores, problem.graph, UNITS, problem.self_loops, **weights)
    return expected_accuracy(links, token_states(trellis, problem.graph, UNITS), right, scale=scale)


def enumerated(problem: Problem, right: np.ndarray, scale: float, **weights) -> tuple[float, np.ndarray]:
    """The same from a list of all paths: the mean of what they get right, and its covariance with where they are."""
    graph, totals, gains, places = problem.graph, [], [], []
    for walk in all_walks(problem, **weights):
        if walk.node is None or graph.final_weight[walk.node] == -np.inf:
            continue
        entered = [(frame, arc) for frame, arc in walk.steps if arc >= 0]
        lengths = np.diff([*(frame for frame, _ in entered), len(problem.scores)])
        arcs = np.array([arc for _, arc in entered], int)
        states = np.repeat(UNITS.unit_state[graph.arc_unit[arcs]], lengths)
        where = np.zeros(right.shape)
        where[np.arange(len(states)), states] = 1.0
        totals.append(walk.score + weights["lm_scale"] * graph.final_weight[walk.node])
        gains.append(float((where * right).sum()))
        places.append(where)
    total = scale * np.array(totals)
    probable = np.exp(total - total.max())
    probable /= probable.sum()
    mean = float(probable @ gains)
    return mean, np.tensordot(probable * (np.array(gains) - mean), np.array(places), axes=1)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    problems(), st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0]), st.sampled_from([0.5, 3.0]),
    st.sampled_from([0.0, -2.0]),
)  # fmt: skip
def test_accuracy_and_slopes_are_those_of_all_paths(problem, seed, scale, lm_scale, penalty):
    weights = {"lm_scale": lm_scale, "insertion_penalty": penalty}
    right = np.random.default_rng(seed).random(problem.scores.shape) < 0.5
    found = measured(problem, right, scale, **weights)
    assume(found is not None)
    accuracy, slopes = found
    expected, expected_slopes = enumerated(problem, right, scale, **weights)
    assert accuracy == pytest.approx(expected, abs=1e-5)
    np.testing.assert_allclose(slopes, expected_slopes, atol=1e-5)
    np.testing.assert_allclose(slopes.sum(axis=1), 0.0, atol=1e-5)
