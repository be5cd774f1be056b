"""Lattices against every path of small random graphs, and against the alignment of every sentence."""

from collections import defaultdict
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.alignment.transcript_graph import transcript_graph
from asr.decode import token_passing
from asr.decode.graph_compiler import compile_graph
from asr.decode.path_segments import word_segments
from asr.decode.token_passing import best_path, best_path_and_tokens
from asr.grammar import word_loop
from asr.hmm.state_graph import NO_WORD
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology
from asr.lattices import determinization
from asr.lattices.generation import word_lattice
from asr.lattices.lattice import Lattice
from asr.lattices.n_best import n_best
from asr.lexicon import Lexicon
from tests.decode.random_graphs import Problem, all_walks, problems
from tests.decode.test_context_expansion import topologies
from tests.decode.test_graph_compiler import N_FRAMES, TOPOLOGY, grammars, lexicons, scores_and_self_loops

# The part of a topology that the units of random graphs have, without pauses.
UNITS = SimpleNamespace(
    phone_number={SILENCE: 0, SHORT_PAUSE: 2}, unit_phone=np.ones(3, np.int32), unit_state=np.array([0, 1, 0], np.int32)
)
BEAMS = st.sampled_from([np.inf, 8.0, 3.0, 1.0])


def audio_lattice(
    scores, graph, topology, self_loops, *, beam=np.inf, max_active=0, lattice_beam=np.inf, most_tokens=np.inf,
    **weights,
):  # fmt: skip
    found = best_path_and_tokens(
        scores, graph, topology.unit_state, self_loops, lattice_beam=lattice_beam, beam=beam, max_active=max_active,
        **weights,
    )  # fmt: skip
    if found is None:
        return None
    path, trellis = found
    return word_lattice(path, trellis.narrowed(most_tokens), scores, graph, topology, self_loops, **weights)


def all_paths(lattice: Lattice) -> list[tuple[tuple[str, ...], np.ndarray, float]]:
    """Words, arcs and score of every path."""
    found, waiting = [], [(0, (), 0.0)]
    while waiting:
        node, arcs, score = waiting.pop()
        if lattice.final_score[node] > -np.inf:
            words = tuple(lattice.words[lattice.word[arc]] for arc in arcs)
            found.append((words, np.array(arcs, np.int64), score + lattice.final_score[node]))
        for arc in range(lattice.arc_start[node], lattice.arc_start[node + 1]):
            waiting.append((int(lattice.target[arc]), (*arcs, arc), score + lattice.score[arc]))
    return found


def by_words(problem: Problem, **weights) -> dict[tuple[str, ...], float]:
    """Best score of every word sequence that ends at a final node."""
    graph, best = problem.graph, defaultdict(lambda: -np.inf)
    for walk in all_walks(problem, **weights):
        if walk.node is not None and graph.final_weight[walk.node] > -np.inf:
            taken = (graph.arc_word[step] if step >= 0 else graph.jump_word[-1 - step] for _, step in walk.steps)
            words = tuple(graph.words[word] for word in taken if word != NO_WORD)
            score = walk.score + weights.get("lm_scale", 1.0) * graph.final_weight[walk.node]
            best[words] = max(best[words], score)
    return {words: score for words, score in best.items() if score > -np.inf}


@settings(max_examples=300, deadline=None)
@given(
    problems(), st.sampled_from([0.0, 1.0, 3.0]), st.sampled_from([0.0, -2.0]), BEAMS,
    st.sampled_from([0, 5, 20, np.inf]),
)  # fmt: skip
def test_every_word_sequence_within_the_beam_is_there_once_with_its_best_score(
    problem, scale, penalty, lattice_beam, most_tokens
):
    weights = {"lm_scale": scale, "insertion_penalty": penalty}
    expected = by_words(problem, **weights)
    lattice = audio_lattice(
        problem.scores, problem.graph, UNITS, problem.self_loops, lattice_beam=lattice_beam, most_tokens=most_tokens,
        **weights,
    )  # fmt: skip
    if not expected:
        assert lattice is None
        return
    assert lattice.beam <= lattice_beam
    assert most_tokens < np.inf or lattice.beam == lattice_beam
    lattice_beam = lattice.beam
    paths = all_paths(lattice)
    found = {words: score for words, _, score in paths}
    assert len(found) == len(paths)
    best = max(expected.values())
    assert lattice.best_score == pytest.approx(best, abs=1e-6)
    for words, score in expected.items():
        if score > best - lattice_beam:
            assert found[words] == pytest.approx(score, abs=1e-6)
    assert all(score <= expected[words] + 1e-6 for words, score in found.items())
    assert found[lattice.first] == pytest.approx(best, abs=1e-6)
    np.testing.assert_array_less(lattice.source, lattice.target)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(lexicons, grammars(), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 2.5]), st.booleans())
def test_scores_and_times_are_those_of_aligning_each_sentence(lexicon, grammar, seed, lm_scale, in_context):
    topology = topologies(seed) if in_context else TOPOLOGY
    scores, self_loops = scores_and_self_loops(seed, topology, N_FRAMES)
    graph = compile_graph(lexicon, grammar, topology)
    lattice = audio_lattice(scores, graph, topology, self_loops, lm_scale=lm_scale, insertion_penalty=-0.5)
    aligned = {}
    for length in range(N_FRAMES // 2 + 1):
        for words in product(grammar.words, repeat=length):
            transcript = transcript_graph(words, lexicon, topology)
            alone = best_path(scores, transcript, topology.unit_state, self_loops)
            if alone is not None and alone.complete:
                aligned[words] = alone.score, word_segments(alone, transcript, topology)
    if lattice is None:
        return
    for words, arcs, score in all_paths(lattice):
        acoustic, segments = aligned[words]
        end = lattice.target[arcs[-1]] if len(arcs) else 0
        assert lattice.acoustic[arcs].sum() + lattice.final_acoustic[end] == pytest.approx(acoustic, abs=2e-4)
        grammar_score = lattice.grammar[arcs].sum() + lattice.final_grammar[end]
        assert score == pytest.approx(acoustic + lm_scale * grammar_score - 0.5 * len(words), abs=2e-4)
        assert lattice.segments(arcs) == segments
    assert lattice.segments(lattice.path(lattice.first)) == aligned[lattice.first][1]


def phones_heard(seed: int, n_frames: int = 300) -> tuple[np.ndarray, np.ndarray, Topology]:
    topology = Topology(("x", "y"))
    rng = np.random.default_rng(seed)
    heard = np.repeat(rng.integers(topology.n_states, size=n_frames // 5), 5)
    scores = rng.normal(size=(n_frames, topology.n_states)) + 3.0 * (heard[:, None] == np.arange(topology.n_states))
    return scores.astype(np.float32), np.full(topology.n_units, 0.6), topology


LEXICON = Lexicon({"A": (("x",),), "AB": (("x", "y"),), "B": (("y",),), "BEE": (("y",),)})
ARRAYS = ("node_frame", "source", "target", "word", "begin", "acoustic", "grammar", "final_acoustic", "final_grammar")


@pytest.mark.parametrize("seed", range(3))
def test_tokens_dropped_on_the_way_leave_the_lattice_as_it_is(seed, monkeypatch):
    scores, self_loops, topology = phones_heard(seed)
    graph = compile_graph(LEXICON, word_loop(LEXICON.words), topology)
    options = {"lattice_beam": 6.0, "beam": 40.0, "insertion_penalty": -2.0}
    plain = best_path_and_tokens(scores, graph, topology.unit_state, self_loops, **options)
    monkeypatch.setattr(token_passing, "PRUNE_FRAMES", 10**9)
    late = best_path_and_tokens(scores, graph, topology.unit_state, self_loops, **options)
    assert len(late[1].place) == len(plain[1].place)
    np.testing.assert_array_equal(late[1].place, plain[1].place)
    np.testing.assert_allclose(late[1].forward, plain[1].forward)


def test_room_that_runs_out_narrows_the_beam_and_keeps_the_best(monkeypatch):
    scores, self_loops, topology = phones_heard(5)
    graph = compile_graph(LEXICON, word_loop(LEXICON.words), topology)
    options = {"lattice_beam": 8.0, "insertion_penalty": -2.0}
    wide = audio_lattice(scores, graph, topology, self_loops, **options)
    monkeypatch.setattr(determinization, "MAX_ELEMENTS", 30 * len(scores))
    narrow = audio_lattice(scores, graph, topology, self_loops, **options)
    assert 0 < narrow.beam < wide.beam
    assert narrow.best_score == pytest.approx(wide.best_score)
    assert narrow.n_arcs < wide.n_arcs
    again = wide.pruned(narrow.beam * 0.999)
    assert again.n_arcs <= narrow.n_arcs


def test_a_dense_lattice_is_narrowed_to_the_best_of_the_wide_one():
    scores, self_loops, topology = phones_heard(5)
    graph = compile_graph(LEXICON, word_loop(LEXICON.words), topology)
    options = {"lattice_beam": 8.0, "insertion_penalty": -2.0}
    wide = audio_lattice(scores, graph, topology, self_loops, **options)
    narrow = audio_lattice(scores, graph, topology, self_loops, most_tokens=4 * len(scores), **options)
    assert 0 < narrow.beam < wide.beam
    assert narrow.n_arcs < wide.n_arcs
    best = [
        (sentence.score, tuple(lattice.word[sentence.arcs]))
        for lattice in (wide, narrow)
        for sentence in n_best(lattice, 50)
    ]
    assert best[:50] == best[50:]


def test_the_same_search_gives_the_same_lattice():
    scores, self_loops, topology = phones_heard(7)
    graph = compile_graph(LEXICON, word_loop(LEXICON.words), topology)
    first, second = (audio_lattice(scores, graph, topology, self_loops, lattice_beam=5.0) for _ in range(2))
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
