"""Anchors between a transcript and recognized words."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from asr.alignment.anchors import anchors
from asr.alignment.passages import GAP_WORDS, Anchor, gaps, passages

words = st.lists(st.sampled_from("abcdefgh"), max_size=60)


@st.composite
def edited(draw):
    """Return a text of distinct words, a copy with words left out, replaced and inserted, and the copied pairs."""
    text = [f"w{number}" for number in range(draw(st.integers(0, 60)))]
    copy, pairs = [], []
    for place, word in enumerate(text):
        edit = draw(st.sampled_from(["keep"] * 5 + ["delete", "replace", "insert"]))
        if edit in ("keep", "insert"):
            pairs.append((place, len(copy)))
            copy.append(word)
        if edit in ("replace", "insert"):
            copy.append(f"x{place}")
    return text, copy, pairs


@given(words, words)
def test_anchors_any_words_equal_and_increasing(reference, hypothesis):
    found = anchors(reference, hypothesis)
    assert all(reference[one.reference] == hypothesis[one.hypothesis] for one in found)
    assert all(one.reference < other.reference and one.hypothesis < other.hypothesis for one, other in pairwise(found))


@given(words)
def test_anchors_exact_copy_lie_on_the_diagonal(reference):
    assert all(one.reference == one.hypothesis for one in anchors(reference, reference))


@given(edited())
def test_anchors_edited_text_are_copied_words(script):
    text, copy, pairs = script
    assert set(anchors(text, copy)) <= set(pairs)


def test_anchors_distinct_words_find_all():
    text = [f"w{number}" for number in range(20)]
    assert len(anchors(text, [*text[:8], "x", *text[9:]])) == 19


def test_anchors_phrase_repeated_between_anchors_is_found():
    text = "one two three a b c four five six a b c seven eight nine".split()
    assert [one.reference for one in anchors(text, text)] == list(range(len(text)))


def _anchored(numbers, seconds_each=1.0):
    before = None
    for number in numbers:
        start = round(100 * seconds_each * number)
        yield Anchor(number, start, start + 80, before is not None and number == before + 1)
        before = number


@given(st.sets(st.integers(0, 199)), st.integers(200, 260))
def test_passages_any_anchors_cover_all_in_order(numbers, n_words):
    found = passages(list(_anchored(sorted(numbers))), n_words, 100 * n_words, 0.01)
    assert (found[0].first, found[0].start) == (0, 0)
    assert (found[-1].last, found[-1].end) == (n_words, 100 * n_words)
    assert all(one.last == other.first and one.end == other.start for one, other in pairwise(found))


def test_passages_large_gap_is_not_anchored():
    numbers = [*range(40), *range(60, 100)]
    found = gaps(list(_anchored(numbers, 0.2)), 100, 2000, 0.01)
    assert [(one.first, one.last) for one in found] == [(40, 60)]
    assert found[0].last - found[0].first > GAP_WORDS
