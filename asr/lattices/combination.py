"""Words of several systems at once: their confusion networks are aligned, and at every place the systems vote.

Fiscus (1997), ROVER, aligns sentences of one word a place; Evermann and Woodland (2000), confusion network combination,
networks with posteriors. Here the former is the latter of networks with one word a place.

Networks are aligned one after the other with what was aligned before, by dynamic programming. To align two places costs
1 less the probability that both give to the same words, "nothing" included; a place without a counterpart costs what
its being aligned with certain nothing does. Times break ties, and places that lie too far apart are not aligned. What a
vote weighs has no part in this: it can be chosen afterwards.
"""

from collections.abc import Iterable, Sequence
from heapq import merge

import numpy as np

from asr.lattices.confusion_network import Bin
from asr.util.errors import DecodeError

APART = 200.0
"""Milliseconds that two aligned places may lie apart: systems differ by some frames in where a word begins."""
MAX_CELLS = 40_000_000
"""Places of one network times those of another, of 16 bytes each."""
_OF_TIME = 1e-6  # cost of a millisecond between places: it decides where probabilities do not
_EQUAL = 1e-9

Slot = tuple[Bin | None, ...]
"""What each system has at one place; None where it has none."""


def aligned(networks: Sequence[Sequence[Bin]], apart: float = APART) -> list[Slot]:
    """Align networks, each with those before it.

    Two networks give the same slots in either order, unless alignments of equal cost differ; of three and more the
    order may matter, since each is aligned with the mean of those before.

    Parameters
    ----------
    networks : sequence of sequences of Place
        Times in milliseconds. The probabilities of a place may sum to less than 1: the rest belongs to no word. Each
        place has a word that is possible.
    apart : float
        Places with more milliseconds between them are not aligned.

    Raises
    ------
    DecodeError
        For networks so long that their alignment would not fit into memory.
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
    """Numbers of aligned places, with the least sum of costs; between pairs, places without a counterpart by time."""
    n, m = len(one), len(other)
    if n * m > MAX_CELLS:
        raise DecodeError(f"a network of {n} places cannot be aligned with one of {m}; divide the recording")
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
    """Of aligning each place of one network with each of the other, float64 (n, m); infinite where they lie apart."""
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
    """The weighted mean of what the systems have in a slot, the word that wins the vote first.

    Who has no place there is certain of nothing. The time is the mean over the systems of the word that wins, and of
    all words where nothing wins; of equally probable words wins the one that an earlier system has.

    Parameters
    ----------
    weights : sequence of float (n_systems,)
        From 0, one at least above it; divided by their sum.
    null : float
        What the probability of nothing is multiplied by in the vote.
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
    """The network of all systems: of every slot the weighted mean, the word that wins first; see `mean_place`.

    Slots in which no system of a weight above 0 has a word are left out.
    """
    places = (mean_place(slot, weights, null) for slot in slots)
    return [place for place in places if any(word for word, _ in place.words)]
