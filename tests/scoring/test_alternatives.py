"""References with alternatives: the best of all their readings, which the tests list one by one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.scoring.alternatives import WordNetwork, mapped, parse_reference
from asr.scoring.wer import align_words, count_errors
from asr.util.errors import CorpusError

word = st.sampled_from("abc")
part = st.recursive(
    word | word.map("({})".format) | st.just("@"),
    lambda inner: st.lists(st.lists(inner, min_size=1, max_size=2).map(" ".join), min_size=2, max_size=3).map(
        lambda choices: "{ " + " / ".join(choices) + " }"
    ),
    max_leaves=4,
)


def readings(network: WordNetwork) -> list[list[str]]:
    """Every path of a network."""
    found = []

    def walk(node: int, words: list[str]) -> None:
        if node == len(network):
            found.append(words)
        for start, end, name in network.arcs:
            if start == node:
                walk(end, [*words, name] if name else words)

    walk(0, [])
    return found


def aligned(reference: str, hypothesis: str):
    return align_words(parse_reference(reference.split(), "ref:1"), hypothesis.split())


@settings(max_examples=40, deadline=None)
@given(st.lists(part, min_size=1, max_size=3).map(" ".join), st.lists(word, max_size=5))
def test_alignment_of_alternatives_is_that_of_the_best_reading(reference, hypothesis):
    network = parse_reference(reference.split(), "ref:1")
    pairs = align_words(network, hypothesis)
    choices = readings(network) if isinstance(network, WordNetwork) else [list(network)]
    assert [hyp for _, hyp in pairs if hyp] == hypothesis
    assert [ref for ref, _ in pairs if ref] in choices
    fewest = min(count_errors(align_words(choice, hypothesis)).errors for choice in choices)
    assert count_errors(pairs).errors == fewest


@pytest.mark.parametrize(
    ("hypothesis", "words", "errors"),
    [
        ("i've um as far", 4, 0),
        ("i've as far", 3, 0),
        ("i've uh uh as far", 5, 0),
        ("i've uh as far", 4, 1),  # one word of "uh uh" is missing, or "uh" replaces "um"
        ("i've oh as far", 3, 1),  # an insertion, or a substitution of "um": the errors are equal
    ],
)
def test_alternatives_are_counted_by_hand(hypothesis, words, errors):
    counts = count_errors(aligned("i've { um / uh uh / @ } as far", hypothesis))
    assert counts.errors == errors
    assert errors or counts.words == words


def test_an_optional_word_is_no_error_if_absent():
    assert aligned("a (b) c", "a c") == (("a", "a"), ("c", "c"))
    assert aligned("a (b) c", "a b c") == (("a", "a"), ("b", "b"), ("c", "c"))
    assert count_errors(aligned("a (b) c", "a x c")).errors == 1


def test_of_equal_errors_the_reading_with_more_correct_words_is_taken():
    assert aligned("{ a b / c } d", "a d") == (("a", "a"), ("b", None), ("d", "d"))


def test_text_without_marks_stays_words():
    assert parse_reference(["and/or", "/", "()"], "ref:1") == ("and/or", "/", "()")


@pytest.mark.parametrize(
    "text", ["{ a / b", "a }", "{ a }", "{ a / }", "{ / a }", "{a / b }", "{ a / b}", "{ }", "a{ b"]
)
def test_marks_that_do_not_match_are_refused(text):
    with pytest.raises(CorpusError, match=r"^ref:7: .*Expected"):
        parse_reference(text.split(), "ref:7")


def test_deep_alternatives_need_no_recursion():
    depth = 2_000
    text = "{ a / " * depth + "b" + " }" * depth
    assert count_errors(aligned(text, "b")).errors == 0
    with pytest.raises(CorpusError, match="Expected at most"):
        parse_reference(["{"] * 60_000, "ref:1")


def test_changed_words_may_become_nothing():
    network = mapped(parse_reference("{ a / b } c".split(), "ref:1"), {"a": "", "b": "x", "c": "y"}.__getitem__)
    assert [*network] == ["x", "y"]
    assert count_errors(align_words(network, ["y"])).errors == 0
    assert mapped(("a", "b"), {"a": "", "b": "x"}.__getitem__) == ("x",)
