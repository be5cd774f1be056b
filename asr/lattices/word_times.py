"""Times of words, from steps between words.

A word's link is at the point where the word is certain. This may be before its first phone (with context-dependent
states) or after its last. Its times come from events: the n-th beginning belongs to the n-th word, which ends at the
next pause or word. Steps are taken in the order of time, and each keeps the open words without an end and beginnings
without a word.
"""

from typing import NamedTuple

import numpy as np

from asr.lattices.lattice import Lattice
from asr.lattices.links import BEGIN, NO_EVENT

_DECIMALS = 6
"""Rounding of scores; smaller differences are ignored."""


class WordPath(NamedTuple):
    """A way between two words: events as (event, frame, acoustic and grammar score before it), and its scores."""

    events: tuple[tuple[int, int, float, float], ...]
    acoustic: float
    grammar: float


class OpenWord(NamedTuple):
    """Open words: the node after the last closed word, words, spans (begin, end or -1), and scores since the node."""

    node: int
    words: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    acoustic: float
    grammar: float


class _ClosedWord(NamedTuple):
    word: int
    begin: int
    end: int
    acoustic: float
    grammar: float


class TimedWords:
    """Collects the steps of all word sequences and builds the lattice."""

    def __init__(self, n_frames: int) -> None:
        self._n_frames = n_frames
        self._pending: dict[int, dict[object, OpenWord]] = {}  # by element
        self._number: dict[object, int] = {}
        self._rank: list[tuple[int, int]] = [(-1, 0)]  # order of the nodes
        self._frame: list[int] = [0]
        self._arcs: dict[tuple[int, int, _ClosedWord], None] = {}
        self._final: dict[int, tuple[float, float]] = {}
        self._block, self._last = 0, -1  # steps to one element form a block

    def begin(self, element: int, way: WordPath, *, at_end: bool) -> None:
        """Add an element that is not preceded by a word."""
        self._take(OpenWord(0, (), (), 0.0, 0.0), element, None, way, at_end)

    def step(
        self,
        source: int,
        element: int,
        word: int,
        event: tuple[int, int],
        scores: tuple[float, float],
        way: WordPath,
        *,
        at_end: bool,
    ) -> None:
        """Add a step from an element over a word's link, with its event and scores, and a way to another element.

        Steps must be sorted by target: all those to an element before any from it.
        """
        if element != self._last:
            self._block, self._last = self._block + 1, element
        for pending in list(self._pending[source].values()):
            self._take(pending, element, (word, event, scores), way, at_end)

    def _take(
        self,
        pending: OpenWord,
        element: int,
        link: tuple[int, tuple[int, int], tuple[float, float]] | None,
        way: WordPath,
        at_end: bool,
    ) -> None:
        words, spans = list(pending.words), list(pending.spans)
        acoustic, grammar = pending.acoustic, pending.grammar
        settled: list[_ClosedWord] = []

        def settle(heard: float, expected: float) -> None:
            nonlocal acoustic, grammar
            while words and spans and spans[0][1] >= 0:
                settled.append(_ClosedWord(words.pop(0), *spans.pop(0), acoustic + heard, grammar + expected))
                acoustic, grammar = -heard, -expected

        def happen(event: int, frame: int) -> None:
            if event == NO_EVENT:
                return
            if spans and spans[-1][1] < 0:
                spans[-1] = (spans[-1][0], frame)
            if event == BEGIN:
                spans.append((frame, -1))

        if link is not None:
            word, (event, frame), heard = link
            words.append(word)
            happen(event, frame)
            settle(0.0, 0.0)
            acoustic, grammar = acoustic + heard[0], grammar + heard[1]
        for event, frame, before, expected in way.events:
            happen(event, frame)
            settle(before, expected)
        acoustic, grammar = acoustic + way.acoustic, grammar + way.grammar
        if at_end:
            if spans and spans[-1][1] < 0:
                spans[-1] = (spans[-1][0], self._n_frames)
            spans += [(self._n_frames, self._n_frames)] * (len(words) - len(spans))
            settle(0.0, 0.0)
        rest = (tuple(words), tuple(spans), round(acoustic, _DECIMALS), round(grammar, _DECIMALS))
        node = pending.node
        key = (element, rest)
        for place, one in enumerate(settled):
            # A node between two words that were closed together depends on what follows.
            own = (key, *(_rounded(later) for later in settled[place + 1 :]), one.end)
            target = self._number.setdefault(own, len(self._frame))
            if target == len(self._frame):
                self._frame.append(one.end)
                self._rank.append((self._block, place - len(settled)))
            self._arcs.setdefault((node, target, one))
            node = target
        if at_end:
            self._final[node] = (acoustic, grammar)
        else:
            self._pending.setdefault(element, {}).setdefault(
                (node, rest), OpenWord(node, tuple(words), tuple(spans), acoustic, grammar)
            )

    def lattice(
        self,
        *,
        words: tuple[str, ...],
        n_frames: int,
        lm_scale: float,
        insertion_penalty: float,
        beam: float,
        first: tuple[str, ...],
    ) -> Lattice:
        """Return the lattice; parameters are those of `Lattice`."""
        number = np.empty(len(self._rank), np.int64)
        order = sorted(range(len(self._rank)), key=self._rank.__getitem__)
        number[order] = np.arange(len(order))
        ends = np.array([(source, target) for source, target, _ in self._arcs], np.int64).reshape(-1, 2)
        table = np.array([one for _, _, one in self._arcs], np.float64).reshape(-1, 5)
        source, target = number[ends[:, 0]], number[ends[:, 1]]
        sequence = np.lexsort((table[:, 1], table[:, 0], target, source))
        final = np.full((len(order), 2), -np.inf)
        for node, scores in self._final.items():
            final[number[node]] = scores
        return Lattice(
            words=words,
            node_frame=np.array(self._frame, np.int32)[order],
            source=source[sequence].astype(np.int32),
            target=target[sequence].astype(np.int32),
            word=table[sequence, 0].astype(np.int32),
            begin=table[sequence, 1].astype(np.int32),
            acoustic=table[sequence, 3],
            grammar=table[sequence, 4],
            final_acoustic=final[:, 0],
            final_grammar=final[:, 1],
            n_frames=n_frames,
            lm_scale=lm_scale,
            insertion_penalty=insertion_penalty,
            beam=beam,
            first=first,
        )


def _rounded(one: _ClosedWord) -> tuple[int, int, int, float, float]:
    return one.word, one.begin, one.end, round(one.acoustic, _DECIMALS), round(one.grammar, _DECIMALS)
