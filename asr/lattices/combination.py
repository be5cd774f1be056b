"""System combination: confusion networks are aligned, and the systems vote in every bin.

Fiscus (1997), ROVER, aligns sentences with one word per bin; Evermann and Woodland (2000), confusion network
combination, aligns networks with posteriors. Here ROVER is the special case of one word per bin.

Each network is aligned with the previous result by dynamic programming. Aligning two bins costs 1 minus the probability
that they have in common, including "no word". A bin without a counterpart costs as much as alignment with certain "no
word". Times break ties, and distant bins are not aligned. The vote's weights do not affect the alignment, so they can
be chosen afterwards.
"""

from collections.abc import Iterable, Sequence
from heapq import merge

import numpy as np

from asr.lattices.confusion_network import Bin
from asr.util.errors import DecodeError

APART = 200.0
"""Maximum milliseconds between aligned bins: systems differ by some frames in word boundaries."""
MAX_CELLS = 40_000_000
"""Bins of one network times those of another, of 16 bytes each."""
_OF_TIME = 1e-6  # cost per millisecond between bins, to break ties
_EQUAL = 1e-9

Slot = tuple[Bin | None, ...]
"""The bin of each system, or None."""


def aligned(networks: Sequence[Sequence[Bin]], apart: float = APART) -> list[Slot]:
    """Align networks, each with those before it.

    For two networks the order does not matter, except for alignments of equal cost. For more it may, because each is
    aligned with the mean of those before. Raises DecodeError if the alignment of long networks would not fit into
    memory.

    Parameters
    ----------
    networks : sequence of sequences of Bin
        Times in milliseconds. Probabilities of a bin may sum to less than 1; the rest belongs to no word. Each bin has
        at least one word.
    apart : float
        Bins further apart, in milliseconds, are not aligned.
    """
    first, *others = networks
    slots: list[Slot] = [(place,) for place in first]
    for number, network in enumerate(others, 1):
        before = [mean_place(slot, np.ones(number)) for slot in slots]
        joined: list[Slot] = []
        for i, j in aligned_pairs(before, network, apart):
            own = (None,) * number if i is None else slots[i]
            joined.append((*own, None if j is None else network[j]))
        slots = joined
    return slots


def aligned_pairs(one: Sequence[Bin], other: Sequence[Bin], apart: float) -> list[tuple[int | None, int | None]]:
    """Return numbers of aligned bins with minimum cost; unpaired bins are sorted by time between the pairs."""
    n, m = len(one), len(other)
    if n * m > MAX_CELLS:
        raise DecodeError(f"networks of {n} and {m} places are too long to align. Divide the recording")
    costs = _costs(one, other, apart)
    alone, alone_other = (np.array([1.0 - _nothing(place) for place in network]) for network in (one, other))
    skipped = np.concatenate(([0.0], np.cumsum(alone_other)))
    total = np.empty((n + 1, m + 1))
    total[0] = skipped
    for i in range(n):
        total[i + 1] = total[i] + alone[i]
        np.minimum(total[i + 1, 1:], total[i, :-1] + costs[i], out=total[i + 1, 1:])
        total[i + 1] = np.minimum.accumulate(total[i + 1] - skipped) + skipped
    pairs: list[tuple[int | None, int | None]] = []
    i, j = n, m
    while i or j:
        until_i, until_j = i, j
        while i or j:
            best = total[i, j] + _EQUAL
            if i and j and total[i - 1, j - 1] + costs[i - 1, j - 1] <= best:
                break
            if i and total[i - 1, j] + alone[i - 1] <= best:
                i -= 1
            else:
                j -= 1
        between = merge(
            ((k, None, one[k]) for k in range(i, until_i)),
            ((None, k, other[k]) for k in range(j, until_j)),
            key=lambda unpaired: (unpaired[2].begin, unpaired[2].end),
        )
        pairs += [(a, b) for a, b, _ in list(between)[::-1]]
        if i and j:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


def _costs(one: Sequence[Bin], other: Sequence[Bin], apart: float) -> np.ndarray:
    """Return the costs of aligning each pair of bins, float64 (n, m); infinite if they are too far apart."""
    begin, end = (np.array([getattr(place, name) for place in other], np.float64) for name in ("begin", "end"))
    costs = np.full((len(one), len(other)), np.inf)
    probability = [dict(place.words) for place in other]
    for i, place in enumerate(one):
        near = np.maximum(begin - place.end, place.begin - end) <= apart
        for j in np.flatnonzero(near).tolist():
            common = sum(min(share, probability[j].get(word, 0.0)) for word, share in place.words)
            distance = abs(place.begin - begin[j]) + abs(place.end - end[j])
            costs[i, j] = 1.0 - common + _OF_TIME * distance
    return costs


def _nothing(place: Bin) -> float:
    return next((share for word, share in place.words if not word), 0.0)


def mean_place(slot: Slot, weights: Sequence[float] | np.ndarray, null: float = 1.0) -> Bin:
    """Return the weighted mean of the bins of a slot, with the winning word first.

    A system without a bin votes for no word. The time is the mean over the systems with the winning word, or over all
    words if no word wins. If probabilities are equal, the word of the earlier system wins. `weights` are at least 0,
    one of them positive, and divided by their sum. `null` is a factor on the probability of no word in the vote.
    """
    total = float(sum(weights))
    shares: dict[str, float] = {}
    begins: dict[str, float] = {}
    ends: dict[str, float] = {}
    for place, weight in zip(slot, weights, strict=True):
        if not weight > 0.0:
            continue
        for word, probability in (("", 1.0),) if place is None else place.words:
            share = float(weight) / total * probability
            shares[word] = shares.get(word, 0.0) + share
            if place is not None:
                begins[word] = begins.get(word, 0.0) + share * place.begin
                ends[word] = ends.get(word, 0.0) + share * place.end
    best, votes = "", -1.0
    for word, share in shares.items():
        own = share if word else null * share
        if own > votes + _EQUAL:
            best, votes = word, own
    which = [best] if best else [word for word in shares if word]
    mass = sum(shares[word] for word in which)
    begin, end = (sum(of[word] for word in which) / mass if which else 0.0 for of in (begins, ends))
    words = sorted(shares.items(), key=lambda item: (item[0] != best, -item[1]))
    return Bin(tuple(words), begin, end)


def voted(slots: Iterable[Slot], weights: Sequence[float], null: float = 1.0) -> list[Bin]:
    """Return the network of all systems: the weighted mean of every slot (see `mean_place`).

    Slots in which no system of positive weight has a word are left out.
    """
    places = (mean_place(slot, weights, null) for slot in slots)
    return [place for place in places if any(word for word, _ in place.words)]
