"""Minimum Bayes risk decoding and its confusion network (Xu et al. 2011).

A sentence is improved iteratively. For each place, gamma(place, word) is the probability of the word in an alignment of
the lattice's sentences with the current one, with the fewest edits (algorithms 2 and 3). The most probable word of each
place, or none, forms the next sentence, until nothing changes. The expected number of edits never increases. The final
probabilities form a confusion network.
"""

from dataclasses import dataclass

import numpy as np

from asr.decode.path_segments import Segment
from asr.lattices.confusion_network import Bin, spoken, spoken_segments
from asr.lattices.lattice import Lattice
from asr.lattices.n_best import n_best
from asr.lattices.posteriors import default_scale
from discriminants.util.numba_cache import njit

_MAX_ROUNDS = 20
MAX_CELLS = 40_000_000
"""Nodes times places, of 16 bytes each; larger lattices of long audio are pruned."""
_LEAST = 1e-6
"""Words with a smaller probability are not listed."""
DELTA = 1e-5
"""Added to the cost of an insertion, so that words prefer existing places (section 5.3)."""


@dataclass(frozen=True)
class MbrResult:
    """Result of minimum Bayes risk decoding."""

    places: tuple[Bin, ...]  # the confusion network, including bins between words with possible insertions
    risk: float  # expected word errors

    @property
    def words(self) -> tuple[str, ...]:
        """The most probable words."""
        return tuple(place.words[0][0] for place in spoken(self.places))

    @property
    def segments(self) -> list[Segment]:
        """The most probable words with their probabilities; times are rounded to frames without overlap."""
        return spoken_segments(self.places)


def mbr_decode(lattice: Lattice, scale: float | None = None) -> MbrResult:
    """Minimize the expected word errors, starting from the best path; `scale` as in `arc_posteriors`.

    Memory and time grow with the square of the audio's length. Beyond some minutes only sentences close to the best
    path are used (`MAX_CELLS`).
    """
    scale = default_scale(lattice) if scale is None else scale
    beam = min(lattice.beam, 1e3)
    while lattice.n_nodes * (2 * len(lattice.first) + 2) > MAX_CELLS and beam > 1e-3:
        beam *= 0.8
        lattice = lattice.pruned(beam)
    final = np.where(lattice.final_score > -np.inf, scale * lattice.final_score, -np.inf)
    sentence = lattice.word[n_best(lattice, 1)[0].arcs] + 1  # 0: no word
    word = (lattice.word + 1).astype(np.int64)
    end = lattice.node_frame[lattice.target].astype(np.float64)
    for _ in range(_MAX_ROUNDS):
        places = np.zeros(2 * len(sentence) + 1, np.int64)
        places[1::2] = sentence
        risk, gamma, begins, ends = _expected(
            lattice.source, lattice.target, word, lattice.begin.astype(np.float64), end, scale * lattice.score, final,
            places, len(lattice.words) + 1,
        )  # fmt: skip
        best = gamma.argmax(axis=1)
        # The current word stays if another is equally probable.
        best = np.where(gamma[np.arange(len(places)), places] >= gamma.max(axis=1) - 1e-9, places, best)
        improved = best[best > 0]
        if np.array_equal(improved, sentence):
            break
        sentence = improved
    found = []
    for number in range(len(places)):
        own = int(best[number])
        listed = np.flatnonzero(gamma[number] > _LEAST)
        listed = listed[np.lexsort((listed, listed != own, -gamma[number, listed]))]
        if (listed > 0).any():
            which = [own] if own else listed[listed > 0].tolist()
            weight = gamma[number, which].sum()
            words = tuple((lattice.words[one - 1] if one else "", float(gamma[number, one])) for one in listed.tolist())
            begin, stop = (float(of[number, which].sum() / weight) for of in (begins, ends))
            found.append(Bin(words, begin, min(stop, float(end.max()))))  # rounding may add to the mean of equal ends
    return MbrResult(tuple(found), float(risk))


@njit(cache=True, nogil=True)
def _expected(source, target, word, begin, end, score, final, places, n_words):
    """Return expected edits, word probabilities (n_places, n_words), and sums of begins and ends weighted by them.

    Nodes are in topological order; all final nodes lead to an additional last node without a word.
    """
    n_nodes = len(final)
    n_places = len(places)
    n_arcs = len(source)
    # Forward log probabilities, and then the share of each arc and end in its target.
    alpha = np.full(n_nodes + 1, -np.inf)
    alpha[0] = 0.0
    for arc in range(n_arcs):
        a, b = alpha[target[arc]], alpha[source[arc]] + score[arc]
        high, low = max(a, b), min(a, b)
        alpha[target[arc]] = high if low == -np.inf else high + np.log1p(np.exp(low - high))
    for node in range(n_nodes):
        a, b = alpha[n_nodes], alpha[node] + final[node]
        high, low = max(a, b), min(a, b)
        alpha[n_nodes] = high if low == -np.inf else high + np.log1p(np.exp(low - high))

    into = np.argsort(target, kind="mergesort")
    into_start = np.searchsorted(target[into], np.arange(n_nodes + 1))
    # Expected edits of all paths to a node against the first places: cost[node, place], place 0 before the first.
    cost = np.zeros((n_nodes + 1, n_places + 1))
    for place in range(n_places):
        cost[0, place + 1] = cost[0, place] + (0.0 if places[place] == 0 else 1.0)
    row = np.zeros(n_places + 1)
    for node in range(1, n_nodes + 1):
        if node < n_nodes:
            for i in range(into_start[node], into_start[node + 1]):
                arc = into[i]
                _edits(cost[source[arc]], word[arc], places, row)
                share = np.exp(alpha[source[arc]] + score[arc] - alpha[node])
                for place in range(n_places + 1):
                    cost[node, place] += share * row[place]
        else:
            for one in range(n_nodes):
                if final[one] > -np.inf:
                    share = np.exp(alpha[one] + final[one] - alpha[n_nodes])
                    for place in range(n_places + 1):
                        cost[node, place] += share * cost[one, place]

    gamma = np.zeros((n_places, n_words))
    begins = np.zeros((n_places, n_words))
    ends = np.zeros((n_places, n_words))
    back = np.zeros((n_nodes + 1, n_places + 1))
    back[n_nodes, n_places] = 1.0
    for one in range(n_nodes):
        if final[one] > -np.inf:
            back[one, n_places] += np.exp(alpha[one] + final[one] - alpha[n_nodes])
    mass = np.zeros(n_places + 1)
    for node in range(n_nodes - 1, 0, -1):
        for i in range(into_start[node], into_start[node + 1]):
            arc = into[i]
            before = source[arc]
            _edits(cost[before], word[arc], places, row)
            share = np.exp(alpha[before] + score[arc] - alpha[node])
            for place in range(n_places + 1):
                mass[place] = share * back[node, place]
            for place in range(n_places, 0, -1):
                if mass[place] == 0.0:
                    continue
                own = places[place - 1]
                match = cost[before, place - 1] + (0.0 if word[arc] == own else 1.0)
                insert = cost[before, place] + 1.0 + DELTA
                delete = row[place - 1] + (0.0 if own == 0 else 1.0)
                if match <= insert and match <= delete:
                    back[before, place - 1] += mass[place]
                    gamma[place - 1, word[arc]] += mass[place]
                    begins[place - 1, word[arc]] += mass[place] * begin[arc]
                    ends[place - 1, word[arc]] += mass[place] * end[arc]
                elif insert < delete:
                    back[before, place] += mass[place]
                else:
                    mass[place - 1] += mass[place]
                    gamma[place - 1, 0] += mass[place]
                mass[place] = 0.0
            back[before, 0] += mass[0]
    for place in range(1, n_places + 1):  # the rest at the first node is aligned with no word
        for later in range(place, n_places + 1):
            gamma[place - 1, 0] += back[0, later]
    return cost[n_nodes, n_places], gamma, begins, ends


@njit(cache=True, nogil=True)
def _edits(before, word, places, row):
    """Compute the edits after one more word against the first places, given those `before` it."""
    row[0] = before[0] + 1.0 + DELTA
    for place in range(1, len(row)):
        own = places[place - 1]
        match = before[place - 1] + (0.0 if word == own else 1.0)
        insert = before[place] + 1.0 + DELTA
        delete = row[place - 1] + (0.0 if own == 0 else 1.0)
        row[place] = min(match, min(insert, delete))
