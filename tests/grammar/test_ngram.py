"""Estimated n-gram models are proper and agree with their formulas."""

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.grammar import ArpaModel, arpa_grammar, estimate_ngram, perplexity
from asr.grammar.ngram import _modified_discount
from asr.util.errors import GrammarError

TEXTS = st.lists(st.lists(st.sampled_from("abcd"), max_size=6), min_size=1, max_size=12)
SMOOTHINGS = st.sampled_from(["witten-bell", "kneser-ney"])


def histories(model: ArpaModel) -> set[tuple[str, ...]]:
    listed = {ngram[:-1] for section in model.log_probabilities for ngram in section}
    return listed | {("a", "b"), ("e",), ("<s>", "e", "e"), ("<s>",)}


def total(model: ArpaModel, history: tuple[str, ...], vocabulary: set[str]) -> float:
    return sum(10 ** model.log10_probability(history, word) for word in vocabulary | {"</s>"})


@settings(deadline=None, max_examples=200)
@given(text=TEXTS, order=st.integers(1, 4), smoothing=SMOOTHINGS)
def test_the_probabilities_after_every_history_sum_to_one(text: list, order: int, smoothing: str) -> None:
    vocabulary = set("abcde")
    model = estimate_ngram(text, order, smoothing=smoothing, vocabulary=vocabulary)  # type: ignore[arg-type]
    assert model.words == tuple("abcde")
    for history in histories(model):
        assert total(model, history, vocabulary) == pytest.approx(1.0, abs=1e-9)


@settings(deadline=None)
@given(text=TEXTS, order=st.integers(1, 3), smoothing=SMOOTHINGS)
def test_words_outside_the_vocabulary_share_the_unknown_mass(text: list, order: int, smoothing: str) -> None:
    model = estimate_ngram(text, order, smoothing=smoothing, vocabulary=["a", "b", "e"])  # type: ignore[arg-type]
    unknown = {"<unk>"} if any(word in "cd" for sentence in text for word in sentence) else set()
    assert model.words == ("a", "b", "e")
    for history in histories(model):
        assert total(model, history, {"a", "b", "e"} | unknown) == pytest.approx(1.0, abs=1e-9)


def test_witten_bell_agrees_with_a_sum_by_hand() -> None:
    model = estimate_ngram([["a", "b"], ["a", "a"]], 2, smoothing="witten-bell")
    # unigram: a 3, b 1, </s> 2 of 6, three types, vocabulary of three
    p_b = (1 + 3 / 3) / (6 + 3)
    # after a: b, a, </s> once each
    assert 10 ** model.log10_probability(["a"], "b") == pytest.approx((1 + 3 * p_b) / (3 + 3))
    # after b only </s>, so b is left to back-off
    assert 10 ** model.log10_probability(["b"], "b") == pytest.approx(1 / (1 + 1) * p_b)


def test_kneser_ney_takes_the_unigram_from_the_number_of_contexts() -> None:
    model = estimate_ngram([["a", "b"], ["c", "b"], ["d", "d", "d", "d"]], 2, smoothing="kneser-ney")
    contexts = {"a": 1, "b": 2, "c": 1, "d": 2, "</s>": 2}  # of counts 1: a c, of 2: b d </s>
    discount = 2 / (2 + 2 * 3)
    for word, count in contexts.items():
        expected = (count - discount) / 8 + 5 * discount / 8 / 5
        assert 10 ** model.log_probabilities[0][(word,)] == pytest.approx(expected)


def test_three_discounts_are_used_where_the_counts_allow_them() -> None:
    counts = {(str(i),): count for i, count in enumerate([1] * 40 + [2] * 16 + [3] * 8 + [4] * 4 + [9])}
    discount = _modified_discount(counts)
    y = 40 / 72
    assert [discount(count) for count in (0, 1, 2, 3, 9)] == pytest.approx(
        [0, 1 - 2 * y * 16 / 40, 2 - 3 * y * 8 / 16, 3 - 4 * y * 4 / 8, 3 - 4 * y * 4 / 8]
    )


def test_a_stated_discount_stands_in_where_the_counts_vanish() -> None:
    assert _modified_discount({("a",): 1, ("b",): 2})(5) == pytest.approx(1 / 3)
    assert _modified_discount({("a",): 5})(5) == 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sentences": [], "order": 2}, "at least one sentence"),
        ({"sentences": [["a"]], "order": 0}, "order .* is 0"),
        ({"sentences": [["a"]], "order": 2, "smoothing": "good-turing"}, "'good-turing' is unknown"),
        ({"sentences": [["<s>", "a", "</s>"]], "order": 2}, "'<s>' is a sentence mark"),
        ({"sentences": [["a", "</s>"]], "order": 2, "vocabulary": ["a"]}, "'</s>' is a sentence mark"),
        ({"sentences": [[]], "order": 1}, "at least one word"),
        ({"sentences": [["a b"]], "order": 1}, "'a b' cannot be a word"),
    ],
)
def test_what_cannot_be_estimated_is_refused(arguments: dict, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        estimate_ngram(**arguments)


@pytest.mark.corpus
def test_an4_bigrams_predict_the_test_transcripts(speech_data: Path) -> None:
    from asr.lexicon import read_lexicon

    def transcripts(split: str) -> list[list[str]]:
        return [line.split()[1:] for line in (speech_data / "an4" / split / "text").read_text().splitlines()]

    lexicon = read_lexicon(speech_data / "an4" / "lexicon.txt")
    figures = {}
    for smoothing in ("witten-bell", "kneser-ney"):
        for order in (1, 2, 3):
            model = estimate_ngram(transcripts("train"), order, smoothing=smoothing, vocabulary=lexicon.words)  # type: ignore[arg-type]
            figures[smoothing, order] = perplexity(arpa_grammar(model, lexicon.words), transcripts("test"))
            words = sum(len(words) + 1 for words in transcripts("test"))
            direct = -sum(model.log10_sentence(words) for words in transcripts("test")) / words
            assert math.log10(figures[smoothing, order]) == pytest.approx(direct, abs=1e-5)
    assert figures["kneser-ney", 3] < figures["kneser-ney", 2] < 21 < figures["kneser-ney", 1]
    assert figures["witten-bell", 3] < figures["witten-bell", 2] < 21 < figures["witten-bell", 1]
