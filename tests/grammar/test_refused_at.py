"""Where a sentence leaves a grammar: at a word that cannot follow, or at its end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.grammar import arpa_grammar, estimate_ngram, score_sentence, word_loop, word_pair, word_string
from asr.grammar.automaton import Arc, build_grammar
from asr.grammar.scoring import refused_at

PAIRS = word_pair({"SENTENCE-END": ["a"], "a": ["b"], "b": ["a", "c", "SENTENCE-END"], "c": ["SENTENCE-END"]})


@pytest.mark.parametrize(
    ("sentence", "place"),
    [("a b", None), ("a b c", None), ("b", 0), ("a c", 1), ("a b a", 3), ("a b x", 2), ("", 0)],
)
def test_the_first_word_that_cannot_follow_is_named_or_the_end(sentence: str, place: int | None) -> None:
    assert refused_at(PAIRS, [sentence.split()]) == [place]


def test_loops_and_n_grams_accept_whatever_they_have_words_for() -> None:
    model = arpa_grammar(estimate_ngram([("a", "b"), ("b", "a", "c")], 2))
    sentences = [("c", "c", "a"), ("a",), ("a", "x")]
    assert refused_at(model, sentences) == refused_at(word_loop("abc"), sentences) == [None, None, 1]
    assert refused_at(word_string("abc", 2), sentences) == [2, 1, 1]


def test_backing_off_is_possible_beside_an_arc_as_in_a_decoding_graph() -> None:
    arcs = [Arc(0, "a", 0.0, 1), Arc(0, None, 0.0, 2), Arc(2, "a", 0.0, 3), Arc(3, "b", 0.0, 3)]
    grammar = build_grammar("slf", "ab", arcs, final_costs={1: 0.0, 3: 0.0}, n_states=4)
    assert score_sentence(grammar, ("a", "b")) == -float("inf")
    assert refused_at(grammar, [("a", "b"), ("b",)]) == [None, 0]


@given(st.lists(st.sampled_from("abcx"), max_size=6))
def test_without_backing_off_what_is_refused_is_what_has_no_probability(words: list[str]) -> None:
    (place,) = refused_at(PAIRS, [words])
    assert (place is None) == (score_sentence(PAIRS, words) > -float("inf"))
