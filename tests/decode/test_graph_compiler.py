"""The compiled graph against a naive expansion: every sentence aligned on its own, plus its grammar score."""

from dataclasses import fields
from itertools import product

import kaldifst
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.alignment.transcript_graph import transcript_graph
from asr.decode import graph_compiler
from asr.decode.graph_compiler import compile_graph
from asr.decode.path_segments import frame_states, phone_segments, word_segments
from asr.decode.token_passing import best_path
from asr.grammar import ArpaModel, Grammar, arpa_grammar, estimate_ngram, one_word, score_sentence, word_loop, word_pair
from asr.grammar.automaton import Arc, build_grammar
from asr.grammar.automaton_arrays import automaton_arrays
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon
from asr.util.errors import DecodeError, GrammarError, LexiconError
from benchmarks.decoding_graph.unshared import unshared_graph

TOPOLOGY = Topology(("x", "y"), states_per_phone=2)
WORDS = ("A", "B", "C")
PRONUNCIATIONS = [p for length in (1, 2, 3) for p in product("xy", repeat=length)]
N_FRAMES = 8

variants = st.fixed_dictionaries(
    {word: st.lists(st.sampled_from(PRONUNCIATIONS), min_size=1, max_size=2).map(tuple) for word in WORDS}
)
lexicons = variants.map(Lexicon)
weighted_lexicons = st.builds(
    lambda found, likely: Lexicon(found, probabilities={(word, found[word][0]): likely[word] for word in WORDS}),
    variants,
    st.fixed_dictionaries({word: st.sampled_from([1.0, 0.5, 0.01]) for word in WORDS}),
)
sentences = st.lists(st.lists(st.sampled_from(WORDS), max_size=4), min_size=1, max_size=4)


@st.composite
def grammars(draw: st.DrawFn) -> Grammar:
    kind = draw(st.sampled_from(["loop", "one", "wordpair", "bigram", "trigram"]))
    if kind == "loop":
        return word_loop(WORDS)
    if kind == "one":
        return one_word(WORDS)
    if kind == "wordpair":
        following = {word: draw(st.sets(st.sampled_from(WORDS), max_size=2)) for word in WORDS}
        return word_pair(
            {"SENTENCE-END": WORDS[:2], **{word: [*rest, "SENTENCE-END"] for word, rest in following.items()}}
        )
    model = estimate_ngram(draw(sentences), {"bigram": 2, "trigram": 3}[kind], vocabulary=WORDS)
    return arpa_grammar(model, WORDS)


def best_grammar_score(grammar: Grammar, words: tuple[str, ...]) -> float:
    """Best log score of a sentence when `#0` may be taken anywhere, as in a decoding graph."""
    states = {grammar.fst.start: 0.0}
    for word in (*words, None):
        waiting = list(states)
        while waiting:
            state = waiting.pop()
            if grammar.back_off_label in grammar.arcs[state]:
                target, cost = grammar.arcs[state][grammar.back_off_label]
                if states[state] - cost > states.get(target, -np.inf):
                    states[target] = states[state] - cost
                    waiting.append(target)
        if word is None:
            break
        following: dict[int, float] = {}
        for state, score in states.items():
            if grammar.labels.get(word) in grammar.arcs[state]:
                target, cost = grammar.arcs[state][grammar.labels[word]]
                following[target] = max(score - cost, following.get(target, -np.inf))
        states = following
    return max((score - grammar.final_costs[state] for state, score in states.items()), default=-np.inf)


def scores_and_self_loops(seed: int, topology: Topology, n_frames: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = rng.normal(scale=4.0, size=(n_frames, topology.n_states)).astype(np.float32)
    return scores, rng.uniform(0.2, 0.8, topology.n_units)


@settings(max_examples=60)
@given(
    weighted_lexicons,
    grammars(),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 1.0, 2.5]),
    st.sampled_from([0.0, -3.0, 2.0]),
)
def test_decoding_finds_the_best_of_all_sentences_pronunciations_and_pauses(
    lexicon, grammar, seed, lm_scale, insertion_penalty
):
    scores, self_loops = scores_and_self_loops(seed, TOPOLOGY, N_FRAMES)
    graph = compile_graph(lexicon, grammar, TOPOLOGY)
    path = best_path(
        scores, graph, TOPOLOGY.unit_state, self_loops, lm_scale=lm_scale, insertion_penalty=insertion_penalty
    )
    totals: dict[tuple[str, ...], float] = {}
    aligned = {}
    for length in range(N_FRAMES // 2 + 1):
        for words in product(grammar.words, repeat=length):
            grammar_score = best_grammar_score(grammar, words)
            transcript = transcript_graph(words, lexicon, TOPOLOGY)
            alone = best_path(scores, transcript, TOPOLOGY.unit_state, self_loops, lm_scale=lm_scale)
            if grammar_score > -np.inf and alone is not None and alone.complete:
                totals[words] = alone.score + lm_scale * grammar_score + insertion_penalty * length
                aligned[words] = word_segments(alone, transcript, TOPOLOGY)
    assert path is not None
    assert path.complete is bool(totals)
    if totals:
        found = word_segments(path, graph, TOPOLOGY)
        words = tuple(segment.label for segment in found)
        assert path.score == pytest.approx(max(totals.values()), abs=2e-4)
        assert totals[words] == pytest.approx(path.score, abs=2e-4)
        assert found == aligned[words]
        assert len(frame_states(path, graph, TOPOLOGY)) == N_FRAMES
        assert phone_segments(path, graph, TOPOLOGY)[-1].end == N_FRAMES


@settings(max_examples=60)
@given(grammars(), sentences)
def test_back_off_beside_an_explicit_ngram_can_only_raise_the_score(grammar, texts):
    for words in texts:
        assert best_grammar_score(grammar, tuple(words)) >= score_sentence(grammar, words) - 1e-6


def test_best_path_follows_pronunciation_probabilities():
    """The frames favor no pronunciation or one of them; its logarithm is added once."""
    pronunciations = {"A": (("x", "x"), ("y", "y"), ("x", "y"))}
    lexicon = Lexicon(
        pronunciations, probabilities={("A", ("x", "x")): 0.1, ("A", ("y", "y")): 0.4, ("A", ("x", "y")): 0.2}
    )
    scores = np.zeros((4, TOPOLOGY.n_states), np.float32)
    self_loops = np.full(TOPOLOGY.n_units, 0.5)
    taken = {"x": TOPOLOGY.units("x"), "y": TOPOLOGY.units("y")}
    for graph in (transcript_graph(("A",), lexicon, TOPOLOGY), compile_graph(lexicon, one_word(("A",)), TOPOLOGY)):
        for favored, variant, relative in (((), "yy", 1.0), (("x", "y"), "xy", 0.5), (("x", "x"), "xx", 0.25)):
            states = [TOPOLOGY.unit_state[unit] for phone in favored for unit in taken[phone]]
            evidence = scores.copy()
            evidence[np.arange(len(states)), states] = 1.0
            path = best_path(evidence, graph, TOPOLOGY.unit_state, self_loops)
            assert "".join(one.label for one in phone_segments(path, graph, TOPOLOGY)) == variant
            assert path.score == pytest.approx(np.log(relative) + 4 * np.log(0.5) + len(states), abs=1e-5)


def test_equal_pronunciation_probabilities_do_not_change_the_graph():
    variants = {"A": (("x",), ("y",)), "B": (("y", "x"),)}
    plain = Lexicon(variants)
    equal = Lexicon(variants, probabilities={("A", ("x",)): 0.3, ("A", ("y",)): 0.3, ("B", ("y", "x")): 0.7})
    assert equal == plain and equal.digest() == plain.digest()
    for build in (
        lambda one: compile_graph(one, word_loop(one.words), TOPOLOGY),
        lambda one: transcript_graph(("A", "B"), one, TOPOLOGY),
    ):
        first, second = build(plain), build(equal)
        for one in fields(first):
            np.testing.assert_array_equal(getattr(first, one.name), getattr(second, one.name))


LEXICON = Lexicon(
    {
        "TO": (("t", "u"),),
        "TWO": (("t", "u"), ("t", "w", "u")),
        "TOO": (("t", "u"),),
        "TOOT": (("t", "u", "t"),),
    }
)


@settings(max_examples=40)
@given(st.lists(st.sampled_from(LEXICON.words), min_size=1, max_size=5).map(tuple), st.integers(0, 2**32 - 1))
def test_words_begin_and_end_where_forced_alignment_puts_them(words, seed):
    """Three states a phone, and a grammar that leaves only the one sentence among homophones and prefixes."""
    topology = Topology(("t", "u", "w"))
    arcs = [Arc(number, word, 0.1, number + 1) for number, word in enumerate(words)]
    grammar = build_grammar("sentence", words, arcs, final_costs={len(words): 0.2}, n_states=len(words) + 1)
    scores, self_loops = scores_and_self_loops(seed, topology, 70)
    transcript = transcript_graph(words, LEXICON, topology)
    forced = best_path(scores, transcript, topology.unit_state, self_loops)
    graph = compile_graph(LEXICON, grammar, topology)
    decoded = best_path(scores, graph, topology.unit_state, self_loops)
    assert decoded.complete and forced.complete
    assert decoded.score == pytest.approx(forced.score - 0.1 * len(words) - 0.2, abs=1e-4)
    assert word_segments(decoded, graph, topology) == word_segments(forced, transcript, topology)
    assert phone_segments(decoded, graph, topology) == phone_segments(forced, transcript, topology)


@settings(max_examples=60, deadline=None)
@given(
    lexicons,
    grammars(),
    st.integers(1, 3),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 1.0, 2.5]),
    st.sampled_from([0.0, -3.0, 2.0]),
)
def test_sharing_ends_of_phones_and_pauses_changes_no_path(
    lexicon, grammar, states_per_phone, seed, lm_scale, insertion_penalty
):
    topology = Topology(("x", "y"), states_per_phone=states_per_phone)
    scores, self_loops = scores_and_self_loops(seed, topology, 20)
    graphs = compile_graph(lexicon, grammar, topology), unshared_graph(lexicon, grammar, topology)
    ours, plain = (
        best_path(
            scores, graph, topology.unit_state, self_loops, lm_scale=lm_scale, insertion_penalty=insertion_penalty
        )
        for graph in graphs
    )
    assert (ours is None) == (plain is None)
    if ours is not None and plain is not None:
        assert ours.score == pytest.approx(plain.score, abs=1e-3)
        assert ours.complete == plain.complete
    if ours is not None and plain is not None and ours.complete:
        assert phone_segments(ours, graphs[0], topology) == phone_segments(plain, graphs[1], topology)
        words = word_segments(ours, graphs[0], topology), word_segments(plain, graphs[1], topology)
        labels = [[segment.label for segment in own] for own in words]
        assert labels[0] != labels[1] or words[0] == words[1]  # homophones may have equal scores


def test_a_phone_that_leads_to_one_place_from_many_is_there_once_but_for_its_first_unit():
    words = [f"{first}{second}" for first in "abcd" for second in "efgh"]
    lexicon = Lexicon({word: ((*word, "z"),) for word in words})
    topology = Topology(tuple("abcdefghz"))
    graph, plain = (make(lexicon, word_loop(words), topology) for make in (compile_graph, unshared_graph))
    last = topology.units("z")
    for unit in last[1:]:
        assert np.count_nonzero(graph.arc_unit == unit) == 1
    for unit in topology.units("e")[1:]:
        assert np.count_nonzero(graph.arc_unit == unit) == 1
    assert graph.n_arcs < 0.7 * plain.n_arcs


def test_words_begin_once_whether_a_pause_came_before_or_not():
    graph = compile_graph(Lexicon({"A": (("x",),), "B": (("y",),)}), word_loop(["A", "B"]), TOPOLOGY)
    assert np.count_nonzero(graph.arc_begins_word) == 2


def test_an_automaton_is_read_at_once_as_arc_by_arc():
    grammar = arpa_grammar(estimate_ngram([["A", "B", "A"], ["C"]], 3, vocabulary=WORDS))
    arrays = automaton_arrays(grammar.fst)
    assert arrays.start == grammar.fst.start
    assert arrays.final_cost.tolist() == [grammar.fst.final(state).value for state in range(grammar.fst.num_states)]
    for state in range(grammar.fst.num_states):
        own = slice(arrays.arc_start[state], arrays.arc_start[state + 1])
        columns = (arrays.input_label, arrays.output_label, arrays.cost, arrays.target)
        assert list(zip(*(column[own].tolist() for column in columns), strict=True)) == [
            (arc.ilabel, arc.olabel, arc.weight.value, arc.nextstate)
            for arc in kaldifst.ArcIterator(grammar.fst, state)
        ]


def test_an_automaton_is_read_where_the_system_has_no_files_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    fst = word_loop(WORDS).fst
    expected = automaton_arrays(fst)
    monkeypatch.delattr("os.memfd_create", raising=False)
    found = automaton_arrays(fst)
    for name in vars(expected):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


def test_an_automaton_is_read_where_no_file_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    fst = word_loop(WORDS).fst
    expected = automaton_arrays(fst)
    monkeypatch.setattr("kaldifst.StdConstFst.write", lambda *_: False)
    found = automaton_arrays(fst)
    for name in vars(expected):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


@given(lexicons, grammars())
def test_the_same_lexicon_and_grammar_compile_to_the_same_graph(lexicon, grammar):
    first, second = (compile_graph(lexicon, grammar, TOPOLOGY) for _ in range(2))
    for name in vars(first):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name


def test_a_word_without_pronunciation_is_refused_by_name():
    with pytest.raises(LexiconError, match="1 words that are missing in the lexicon: D"):
        compile_graph(Lexicon({"A": (("x",),)}), word_loop(["A", "D"]), TOPOLOGY)


def test_a_phone_that_the_model_lacks_is_refused_with_its_word():
    with pytest.raises(LexiconError, match="word 'A' uses phone 'q'"):
        compile_graph(Lexicon({"A": (("q",),)}), word_loop(["A"]), TOPOLOGY)


def test_a_grammar_that_never_ends_a_sentence_is_refused():
    endless = build_grammar("endless", ["A"], [Arc(0, "A", 0.0, 0)], final_costs={}, n_states=1)
    with pytest.raises(DecodeError, match="has no sentence"):
        compile_graph(Lexicon({"A": (("x",),)}), endless, TOPOLOGY)


@pytest.mark.parametrize("cost", [np.inf, -np.inf, np.nan, 1e7, -1e38])
def test_a_cost_that_determinisation_cannot_bear_is_refused(cost: float) -> None:
    with pytest.raises(GrammarError, match="Expected a finite cost"):
        build_grammar("g", ["A"], [Arc(0, "A", cost, 1)], final_costs={1: 0.0}, n_states=2)
    with pytest.raises(GrammarError, match="the cost of the end"):
        build_grammar("g", ["A"], [Arc(0, "A", 0.0, 1)], final_costs={1: cost}, n_states=2)
    grammar = word_loop(["A"])
    grammar.fst.add_arc(0, kaldifst.StdArc(1, 1, cost, 1))
    with pytest.raises(DecodeError, match="'loop' has an arc or final state with cost"):
        compile_graph(Lexicon({"A": (("x",),)}), grammar, TOPOLOGY)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(-99, 99), min_size=12, max_size=12), st.integers(0, 2**32 - 1))
def test_any_weights_that_the_format_allows_give_a_graph_of_finite_weights(weights: list[float], seed: int) -> None:
    take = iter(weights)
    unigrams = {(word,): -abs(next(take)) for word in ("<s>", "</s>", *WORDS)}
    bigrams = {("A", "B"): -abs(next(take)), ("B", "B"): -abs(next(take)), ("<s>", "C"): -abs(next(take))}
    model = ArpaModel((unigrams, bigrams), {(word,): next(take) for word in ("<s>", *WORDS)})
    lexicon = Lexicon({"A": (("x",), ("x", "y")), "B": (("x",), ("y",)), "C": (("x", "y"),)})
    graph = compile_graph(lexicon, arpa_grammar(model), TOPOLOGY)
    assert np.isfinite(graph.arc_weight).all() and np.isfinite(graph.jump_weight).all()
    scores, self_loops = scores_and_self_loops(seed, TOPOLOGY, 5)
    assert best_path(scores, graph, TOPOLOGY.unit_state, self_loops) is not None


def test_a_graph_that_would_fill_the_memory_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_compiler, "MAX_PHONES", 8)
    lexicon = Lexicon({"A": (("x", "y", "x"),), "B": (("y",) * 6, ("x",))})
    with pytest.raises(DecodeError, match=r"would have 10 phones. Expected at most 8"):
        compile_graph(lexicon, word_loop(["A", "B"]), TOPOLOGY)
