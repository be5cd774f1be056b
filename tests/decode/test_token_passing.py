"""The search against plain enumeration of all paths, and its edge cases."""

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.decode import token_passing
from asr.decode.token_passing import BestPath, best_path
from asr.hmm.state_graph import StateGraph, StateGraphBuilder
from asr.util.errors import DecodeError
from tests.decode.random_graphs import Problem, all_walks, problems

ONE_STATE = np.array([0], np.int32)
HALF = np.array([0.5])


def search(problem: Problem, **options) -> BestPath | None:
    return best_path(problem.scores, problem.graph, problem.unit_state, problem.self_loops, **options)


def steps(path: BestPath) -> tuple[tuple[int, int], ...]:
    return tuple(zip(path.frames.tolist(), path.arcs.tolist(), strict=True))


def one_unit_graph(n_units: int = 1) -> StateGraph:
    builder = StateGraphBuilder(["a"])
    start, end = builder.node(), builder.node()
    builder.chain(start, end, [0] * n_units, word=0, begins_word=True)
    builder.finish(end)
    return builder.build(start)


@pytest.mark.slow
@settings(max_examples=300)
@given(problems(), st.sampled_from([0.0, 0.5, 1.0, 3.0]), st.sampled_from([0.0, -2.0, 1.5]))
def test_an_open_beam_finds_exactly_the_best_of_all_paths(problem, lm_scale, insertion_penalty):
    path = search(problem, lm_scale=lm_scale, insertion_penalty=insertion_penalty)
    final = problem.graph.final_weight
    complete: dict[tuple, float] = {}
    in_arc: dict[tuple, float] = {}
    for walk in all_walks(problem, lm_scale=lm_scale, insertion_penalty=insertion_penalty):
        if walk.node is None:
            found, score = in_arc, walk.score
        elif final[walk.node] > -np.inf:
            found, score = complete, walk.score + lm_scale * final[walk.node]
        else:
            continue
        if score > -np.inf:
            recorded = walk.recorded(problem.graph)
            found[recorded] = max(score, found.get(recorded, -np.inf))
    expected = complete or in_arc
    if not expected:
        assert path is None
        return
    assert path is not None
    assert path.complete is bool(complete)
    assert path.n_frames == len(problem.scores)
    assert path.score == pytest.approx(max(expected.values()), abs=1e-9)
    assert expected[steps(path)] == pytest.approx(path.score, abs=1e-9)


@given(problems(max_frames=12), st.sampled_from([np.inf, 3.0]))
def test_forgetting_dead_records_leaves_the_result_as_it_is(problem, beam):
    plain = search(problem, beam=beam)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_passing, "RECORD_ROOM", 1)
        frugal = search(problem, beam=beam)
    assert (plain is None) == (frugal is None)
    if plain is not None:
        assert steps(plain) == steps(frugal)
        assert plain.score == frugal.score


@given(problems(max_frames=8), st.floats(0.0, 10.0), st.integers(0, 3))
def test_pruning_never_finds_a_better_path_than_there_is(problem, beam, max_active):
    exact, pruned = search(problem), search(problem, beam=beam, max_active=max_active)
    if exact is None:
        assert pruned is None
    elif pruned is not None and exact.complete:
        assert not pruned.complete or pruned.score <= exact.score
    elif pruned is not None:
        assert not pruned.complete
        assert pruned.score <= exact.score


@given(problems(max_frames=8))
def test_the_same_search_twice_gives_the_same_path(problem):
    first, second = search(problem, beam=5.0), search(problem, beam=5.0)
    assert (first is None) == (second is None)
    if first is not None:
        assert all(np.array_equal(a, b) for a, b in zip(astuple(first), astuple(second), strict=True))


def test_a_long_utterance_outgrows_the_first_room_for_records_and_keeps_its_whole_path(monkeypatch):
    monkeypatch.setattr(token_passing, "RECORD_ROOM", 64)
    builder = StateGraphBuilder(["a", "b"])
    node = builder.node()
    builder.chain(node, node, [0], word=0, begins_word=True)
    builder.chain(node, node, [1], word=1, begins_word=True)
    builder.finish(node)
    wanted = np.random.default_rng(3).integers(0, 2, 5000)
    scores = np.where(wanted[:, None] == np.arange(2), 0.0, -50.0).astype(np.float32)
    path = best_path(scores, builder.build(node), np.arange(2, dtype=np.int32), np.full(2, 1e-9))
    assert path.arcs.tolist() == wanted.tolist()
    assert path.frames.tolist() == list(range(5000))


@given(
    st.lists(st.sampled_from([-np.inf, -2.5, 0.0, 1.0]) | st.floats(-5, 5), min_size=1, max_size=40),
    st.data(),
)
def test_the_rank_limit_is_that_of_sorting(values, data):
    k = data.draw(st.integers(1, len(values)))
    assert token_passing._kth_largest(np.array(values), k) == sorted(values, reverse=True)[k - 1]


def test_a_limit_of_one_active_token_follows_the_best_score_of_each_frame():
    builder = StateGraphBuilder(["a", "b"])
    start, end = builder.node(), builder.node()
    builder.chain(start, end, [0], word=0)
    builder.chain(start, end, [1], word=1)
    builder.finish(end)
    graph = builder.build(start)
    scores = np.array([[0.0, -1.0], [-9.0, 0.0]], np.float32)
    states = np.arange(2, dtype=np.int32)
    assert best_path(scores, graph, states, np.full(2, 0.5)).arcs.tolist() == [1]
    assert best_path(scores, graph, states, np.full(2, 0.5), max_active=1).arcs.tolist() == [0]
    assert best_path(scores, graph, states, np.full(2, 0.5), beam=0.5).arcs.tolist() == [0]


def test_too_few_frames_give_the_path_cut_short_without_the_final_weight():
    path = best_path(np.full((2, 1), -1.0, np.float32), one_unit_graph(3), ONE_STATE, np.array([0.25]))
    assert not path.complete
    assert path.arcs.tolist() == [0, 1]
    assert path.score == pytest.approx(-2.0 + np.log(0.75))


def test_no_frames_give_no_path_unless_the_start_is_final():
    no_frames = np.zeros((0, 1), np.float32)
    assert best_path(no_frames, one_unit_graph(), ONE_STATE, HALF) is None
    builder = StateGraphBuilder([])
    start, end = builder.node(), builder.node()
    builder.jump(start, end, weight=-0.25)
    builder.finish(end, -0.5)
    graph = builder.build(start)
    path = best_path(no_frames, graph, ONE_STATE, HALF, lm_scale=2.0)
    assert (path.complete, path.score, len(path.arcs)) == (True, -1.5, 0)
    assert best_path(np.zeros((1, 1), np.float32), graph, ONE_STATE, HALF) is None


def test_a_score_of_minus_infinity_is_a_state_that_cannot_be():
    scores = np.zeros((3, 1), np.float32)
    scores[1] = -np.inf
    assert best_path(scores, one_unit_graph(), ONE_STATE, HALF) is None


def test_a_unit_without_self_loop_lasts_one_frame():
    builder = StateGraphBuilder(["a"])
    node = builder.node()
    builder.chain(node, node, [0], word=0, begins_word=True)
    builder.finish(node)
    path = best_path(np.zeros((4, 1), np.float32), builder.build(node), ONE_STATE, np.zeros(1))
    assert path.frames.tolist() == [0, 1, 2, 3]
    assert path.score == 0.0
    assert best_path(np.zeros((2, 1), np.float32), one_unit_graph(), ONE_STATE, np.zeros(1)) is None


def test_a_scale_of_zero_leaves_ends_that_are_none_impossible():
    path = best_path(np.zeros((2, 1), np.float32), one_unit_graph(3), ONE_STATE, HALF, lm_scale=0.0)
    assert not path.complete


def test_a_score_that_is_not_a_number_is_refused_with_its_place():
    scores = np.zeros((3, 1), np.float32)
    scores[2] = np.nan
    with pytest.raises(DecodeError, match="state 0 at frame 2"):
        best_path(scores, one_unit_graph(), ONE_STATE, HALF)
