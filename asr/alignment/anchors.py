"""Anchors between a transcript and recognized words: equal runs of words that occur once in both.

Moreno, Joerg, Van Thong and Glickman (1998) align long recordings between such anchors. Words that occur once in both
sequences form the longest increasing chain, and the search is repeated between the anchors found (patience sorting,
Aldous and Diaconis 1999). So a repeated phrase is an anchor only if the anchors around it leave one place for it.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

LENGTHS = (5, 4, 3, 2)
"""Numbers of words that have to be equal to begin an anchor, tried in turn."""
NEAR = 100  # largest number of transcript words between two anchors in which the shortest length is tried


class Pair(NamedTuple):
    """Positions of the same word in the transcript and in the recognized words."""

    reference: int
    hypothesis: int


def anchors(reference: Sequence[str], hypothesis: Sequence[str]) -> list[Pair]:
    """Return the anchored words, increasing in both positions; words of each pair are equal."""
    found: list[Pair] = []
    spans = [(0, len(reference), 0, len(hypothesis))]
    while spans:
        span = spans.pop()
        own = _within(reference, hypothesis, span)
        found += own
        if own:
            spans += _between(own, span)
    return sorted(found)


def _within(reference: Sequence[str], hypothesis: Sequence[str], span: tuple[int, int, int, int]) -> list[Pair]:
    """Return the anchored words of a span of both sequences; none if no phrase occurs once in both."""
    for length in LENGTHS:
        if length == LENGTHS[-1] and span[1] - span[0] > NEAR:
            break
        ours, theirs = _once(reference, span[0], span[1], length), _once(hypothesis, span[2], span[3], length)
        common = sorted((ours[phrase], theirs[phrase]) for phrase in ours.keys() & theirs.keys())
        if common:
            chain = _increasing(common)
            return _extended(_words(chain, length), reference, hypothesis, span)
    return []


def _once(words: Sequence[str], first: int, last: int, length: int) -> dict[tuple[str, ...], int]:
    """Return the positions of the phrases of `length` words that occur once."""
    phrases = [tuple(words[place : place + length]) for place in range(first, last - length + 1)]
    counts = Counter(phrases)
    return {phrase: place for place, phrase in enumerate(phrases, first) if counts[phrase] == 1}


def _increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest chain with increasing second numbers of pairs with increasing first numbers."""
    ends: list[int] = []  # smallest last number of a chain of each length
    tails: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(tails[length - 1] if length else -1)
        ends[length:], tails[length:] = [place, *ends[length + 1 :]], [number, *tails[length + 1 :]]
    chain = []
    number = tails[-1] if tails else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def _words(chain: Sequence[tuple[int, int]], length: int) -> list[Pair]:
    """Return the pairs of words of phrases; a word in two phrases belongs to the first."""
    found: list[Pair] = []
    for place, other in chain:
        for offset in range(length):
            pair = Pair(place + offset, other + offset)
            if not found or (pair.reference > found[-1].reference and pair.hypothesis > found[-1].hypothesis):
                found.append(pair)
    return found


def _extended(
    pairs: Sequence[Pair], reference: Sequence[str], hypothesis: Sequence[str], span: tuple[int, int, int, int]
) -> list[Pair]:
    """Add equal words after and then before each anchor, up to the next anchor or the end of the span."""
    found: list[Pair] = []
    edges = [Pair(span[0] - 1, span[2] - 1), *pairs, Pair(span[1], span[3])]
    for number, (left, right) in enumerate(pairwise(edges)):
        if number:
            found.append(left)
            found += _equal(reference, hypothesis, left, right, 1)
        if number + 2 < len(edges):
            lower = found[-1] if found else left
            found += _equal(reference, hypothesis, right, lower, -1)[::-1]
    return found


def _equal(reference: Sequence[str], hypothesis: Sequence[str], place: Pair, limit: Pair, step: int) -> list[Pair]:
    """Return the pairs of equal words next to `place`, in steps of 1 or -1, before `limit`."""
    found = []
    for distance in range(1, min(abs(limit.reference - place.reference), abs(limit.hypothesis - place.hypothesis))):
        pair = Pair(place.reference + step * distance, place.hypothesis + step * distance)
        if reference[pair.reference] != hypothesis[pair.hypothesis]:
            break
        found.append(pair)
    return found


def _between(pairs: Sequence[Pair], span: tuple[int, int, int, int]) -> list[tuple[int, int, int, int]]:
    """Return the spans between anchored words that have words in both sequences."""
    edges = [Pair(span[0] - 1, span[2] - 1), *pairs, Pair(span[1], span[3])]
    spans = (
        (left.reference + 1, right.reference, left.hypothesis + 1, right.hypothesis) for left, right in pairwise(edges)
    )
    return [one for one in spans if one[0] < one[1] and one[2] < one[3]]
