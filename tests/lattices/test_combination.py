"""Combination of confusion networks, against brute force over all alignments of small ones."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.decode.path_segments import Segment
from asr.lattices import combination
from asr.lattices.combination import aligned, aligned_pairs, mean_place, voted
from asr.lattices.confusion_network import Bin, spoken_segments
from asr.util.errors import DecodeError

FEW = settings(max_examples=30)
probabilities = st.integers(1, 100).map(lambda part: part / 100)


@st.composite
def networks(draw, most=4):
    """Places one after the other, of one to three words of three, nothing among them."""
    places, time = [], 0
    for _ in range(draw(st.integers(0, most))):
        words = draw(st.lists(st.sampled_from(["A", "B", "C", ""]), min_size=1, max_size=3, unique=True))
        words = words if any(words) else [*words, "A"]
        weights = np.array(draw(st.lists(probabilities, min_size=len(words), max_size=len(words))))
        ranked = sorted(zip(words, (weights / weights.sum()).tolist(), strict=True), key=lambda item: -item[1])
        begin = time + draw(st.integers(0, 150))
        time = begin + draw(st.integers(10, 300))
        places.append(Bin(tuple(ranked), float(begin), float(time)))
    return places


@st.composite
def sentences(draw, most=4):
    """Networks of one word a place, with a confidence."""
    return [
        Bin(((draw(st.sampled_from("ABC")), draw(probabilities)),), place.begin, place.end)
        for place in draw(networks(most))
    ]


def words(places) -> list[str]:
    return [segment.label for segment in spoken_segments(places)]


def pair_cost(one: Bin, other: Bin, apart: float) -> float:
    if max(one.begin - other.end, other.begin - one.end) > apart:
        return np.inf
    left, right = dict(one.words), dict(other.words)
    common = sum(min(left.get(word, 0.0), right.get(word, 0.0)) for word in "ABC") + min(
        left.get("", 0.0), right.get("", 0.0)
    )
    return 1.0 - common + 1e-6 * (abs(one.begin - other.begin) + abs(one.end - other.end))


def cost_of(pairs, one, other, apart) -> float:
    total = 0.0
    for i, j in pairs:
        if i is None or j is None:
            total += 1.0 - dict((one[i] if j is None else other[j]).words).get("", 0.0)
        else:
            total += pair_cost(one[i], other[j], apart)
    return total


def least_cost(one, other, apart) -> float:
    @cache
    def least(i: int, j: int) -> float:
        ways = [0.0] if i == len(one) and j == len(other) else []
        if i < len(one):
            ways.append(cost_of([(i, None)], one, other, apart) + least(i + 1, j))
        if j < len(other):
            ways.append(cost_of([(None, j)], one, other, apart) + least(i, j + 1))
        if i < len(one) and j < len(other):
            ways.append(pair_cost(one[i], other[j], apart) + least(i + 1, j + 1))
        return min(ways)

    return least(0, 0)


@FEW
@given(networks(), networks(), st.sampled_from([0.0, 200.0, 1e9]))
def test_an_alignment_has_the_least_cost_of_all(one, other, apart):
    pairs = aligned_pairs(one, other, apart)
    assert [i for i, _ in pairs if i is not None] == list(range(len(one)))
    assert [j for _, j in pairs if j is not None] == list(range(len(other)))
    assert cost_of(pairs, one, other, apart) == pytest.approx(least_cost(one, other, apart), abs=1e-8)


@FEW
@given(networks(), networks(), st.floats(0.1, 0.9))
def test_a_vote_adds_probabilities_with_the_weights(one, other, weight):
    slots = aligned([one, other])
    for slot in slots:
        mixed = dict(mean_place(slot, [weight, 1 - weight]).words)
        of_one, of_other = ({"": 1.0} if place is None else dict(place.words) for place in slot)
        for word in ("A", "B", "C", ""):
            expected = weight * of_one.get(word, 0.0) + (1 - weight) * of_other.get(word, 0.0)
            assert mixed.get(word, 0.0) == pytest.approx(expected, abs=1e-8)
    for place in voted(slots, [3 * weight, 3 * (1 - weight)]):
        assert place.words[0][1] >= max(share for _, share in place.words) - 1e-8
        assert sum(share for _, share in place.words) == pytest.approx(1.0)


@FEW
@given(networks() | sentences(), st.integers(2, 4))
def test_a_system_with_itself_says_its_own_words(network, times):
    found = voted(aligned([network] * times), [1.0] * times)
    segments = spoken_segments(found)
    alone = spoken_segments(network)
    assert [(part.label, part.start, part.end) for part in segments] == [
        (part.label, part.start, part.end) for part in alone
    ]
    assert [part.confidence for part in segments] == pytest.approx([part.confidence for part in alone])


@FEW
@given(networks() | sentences(), networks() | sentences(), networks())
def test_a_system_of_weight_1_beside_others_of_0_says_its_own_words(one, other, third):
    assert spoken_segments(voted(aligned([one, other, third]), [1, 0, 0])) == spoken_segments(one)
    assert words(voted(aligned([one, other, third]), [0, 0, 1])) == words(third)


@FEW
@given(networks(3), networks(3), st.floats(0.1, 0.9))
def test_the_order_of_two_systems_does_not_matter_unless_alignments_or_votes_are_equal(one, other, weight):
    forth, back = aligned([one, other]), aligned([other, one])
    cost = sum(_cost_of_slot(slot) for slot in forth)
    assert cost == pytest.approx(sum(_cost_of_slot(slot) for slot in back), abs=1e-8)
    if forth == [slot[::-1] for slot in back]:
        first, second = voted(forth, [weight, 1 - weight]), voted(back, [1 - weight, weight])
        for place, same in zip(first, second, strict=True):
            assert dict(place.words) == pytest.approx(dict(same.words))


def _cost_of_slot(slot) -> float:
    one, other = slot
    if one is None or other is None:
        return 1.0 - dict((one or other).words).get("", 0.0)
    return pair_cost(one, other, combination.APART)


def certain(text: str, at: int = 0) -> list[Bin]:
    return [Bin(((word, 1.0),), at + 300.0 * k, at + 300.0 * k + 250.0) for k, word in enumerate(text.split())]


def test_of_three_sentences_the_majority_wins_at_every_place():
    heard = [certain("SHOW ALL SHIPS"), certain("SHOW THE SHIPS"), certain("SLOW ALL CHIPS")]
    assert words(voted(aligned(heard), [1, 1, 1])) == ["SHOW", "ALL", "SHIPS"]
    assert words(voted(aligned(heard), [1, 1, 3])) == ["SLOW", "ALL", "CHIPS"]


def test_what_nothing_weighs_decides_whether_a_word_of_one_system_stands():
    heard = [certain("ONE TWO"), certain("ONE")]
    assert words(voted(aligned(heard), [1, 1], null=1.1)) == ["ONE"]
    assert words(voted(aligned(heard), [1, 1], null=0.9)) == ["ONE", "TWO"]
    assert words(voted(aligned(heard[::-1]), [1, 1], null=0.9)) == ["ONE", "TWO"]


def test_words_far_apart_in_time_are_places_of_their_own_in_order_of_time():
    early, late = certain("ONE"), certain("TWO", at=2000)
    for heard in ([early, late], [late, early]):
        assert [(part.label, part.start) for part in spoken_segments(voted(aligned(heard), [1, 1], null=0.5))] == [
            ("ONE", 0),
            ("TWO", 2000),
        ]
        assert aligned(heard, apart=1e9) != aligned(heard)


def test_times_are_those_of_the_systems_that_have_the_word():
    heard = [[Bin((("A", 1.0),), 0.0, 100.0)], [Bin((("A", 0.5), ("B", 0.5)), 30.0, 160.0)]]
    assert spoken_segments(voted(aligned(heard), [1, 1])) == [Segment("A", 10, 120, 0.75)]


def test_recordings_too_long_to_be_aligned_are_refused(monkeypatch):
    monkeypatch.setattr(combination, "MAX_CELLS", 3)
    with pytest.raises(DecodeError, match="2 and 2 places are too long"):
        aligned([certain("ONE TWO"), certain("ONE TWO")])
