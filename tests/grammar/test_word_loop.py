"""Free loops and single words."""

import math

import numpy as np
import pytest

from asr.grammar import one_word, sample_sentence, score_sentence, word_loop, word_string
from asr.util.errors import GrammarError


def test_a_loop_takes_any_words_but_not_none() -> None:
    grammar = word_loop(["b", "a", "c", "a"])
    assert grammar.words == ("a", "b", "c")
    assert score_sentence(grammar, ["c", "a", "a", "b"]) == pytest.approx(-4 * math.log(3))
    assert score_sentence(grammar, ["c"]) == pytest.approx(-math.log(3))
    assert score_sentence(grammar, []) == -math.inf
    assert score_sentence(grammar, ["d"]) == -math.inf


def test_counts_weigh_the_words_of_a_loop() -> None:
    grammar = word_loop(["a", "b"], counts={"a": 3, "b": 1, "other": 10})
    assert score_sentence(grammar, ["a", "b"]) == pytest.approx(math.log(3 / 4) + math.log(1 / 4))


@pytest.mark.parametrize(
    "counts",
    [{"a": 1}, {"a": 1, "b": 0}, {"a": 1, "b": -1}, {"a": 1, "b": math.inf}, {"a": 1, "b": math.nan}],
)
def test_a_word_without_a_proper_count_is_refused(counts: dict) -> None:
    with pytest.raises(GrammarError, match="'b'"):
        word_loop(["a", "b"], counts)


def test_one_word_takes_exactly_one() -> None:
    grammar = one_word(["yes", "no"])
    assert score_sentence(grammar, ["yes"]) == pytest.approx(-math.log(2))
    assert score_sentence(grammar, []) == -math.inf
    assert score_sentence(grammar, ["yes", "no"]) == -math.inf
    drawn = {sample_sentence(grammar, np.random.default_rng(seed)) for seed in range(30)}
    assert drawn == {("yes",), ("no",)}


def test_a_string_takes_exactly_so_many_words() -> None:
    grammar = word_string(["yes", "no"], 3)
    assert grammar.name == "3"
    assert score_sentence(grammar, ["yes", "no", "no"]) == pytest.approx(-3 * math.log(2))
    for length in (0, 1, 2, 4):
        assert score_sentence(grammar, ["no"] * length) == -math.inf
    for length in (0, -1, 1001):
        with pytest.raises(GrammarError, match=f"exactly {length} words"):
            word_string(["yes", "no"], length)


@pytest.mark.parametrize("words", [[], ["a b"], [""]])
def test_impossible_vocabularies_are_refused(words: list[str]) -> None:
    with pytest.raises(GrammarError):
        word_loop(words)
    with pytest.raises(GrammarError):
        one_word(words)
