"""A graph of HMM units in flat arrays, compiled from transcripts and grammars for the search.

Nodes carry no time. An *arc* is one HMM unit with its self-loop: entering it costs `weight`, every frame in it adds the
score of the unit's state, leaving it leads to the arc's end node. *Jumps* are arcs without frames; they must not form a
cycle. Words are attached to arcs and jumps.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

NO_WORD = -1
NOT_FILLER, FILLER_PHONE, FILLER_PAUSE = 0, 1, 2


@dataclass(frozen=True)
class StateGraph:
    """Arcs and jumps sorted by start node, with row offsets (CSR)."""

    # int32 (n_nodes + 1,); arcs of node n are `arc_start[n]:arc_start[n + 1]`, and likewise its jumps
    arc_start: np.ndarray
    arc_end: np.ndarray  # end node
    arc_unit: np.ndarray  # HMM unit of every arc
    # natural logarithms of grammar probabilities; `final_weight` is -inf at nodes that are not final
    arc_weight: np.ndarray
    arc_word: np.ndarray  # word number or `NO_WORD`
    arc_begins_word: np.ndarray  # whether the arc is the first unit of a word's pronunciation
    # int32 (n_nodes + 1,); arcs of node n are `arc_start[n]:arc_start[n + 1]`, and likewise its jumps
    jump_start: np.ndarray
    jump_end: np.ndarray  # end node
    # natural logarithms of grammar probabilities; `final_weight` is -inf at nodes that are not final
    jump_weight: np.ndarray
    jump_word: np.ndarray  # word number or `NO_WORD`
    # natural logarithms of grammar probabilities; `final_weight` is -inf at nodes that are not final
    final_weight: np.ndarray
    initial: int  # start node of every path
    words: tuple[str, ...]  # name of every word number
    # `FILLER_PHONE` for the first unit of a filler phone, where the search adds its `filler_penalty`; `FILLER_PAUSE`
    # for pauses inside the filler, which do not end its word; otherwise `NOT_FILLER`. None in a graph without a filler.
    arc_filler: np.ndarray | None = None

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.final_weight)

    @property
    def n_arcs(self) -> int:
        """Number of arcs."""
        return len(self.arc_end)

    def topological_order(self) -> np.ndarray:
        """Return nodes in topological order, int32 (n_nodes,); ValueError if there is a cycle, as in a grammar."""
        entries = np.bincount(np.concatenate([self.arc_end, self.jump_end]), minlength=self.n_nodes)
        order = [int(node) for node in np.flatnonzero(entries == 0)]
        for node in order:
            for starts, ends in ((self.arc_start, self.arc_end), (self.jump_start, self.jump_end)):
                for end in ends[starts[node] : starts[node + 1]].tolist():
                    entries[end] -= 1
                    if entries[end] == 0:
                        order.append(end)
        if len(order) < self.n_nodes:
            raise ValueError("the graph has a cycle")
        return np.asarray(order, np.int32)

    @cached_property
    def most_words(self) -> float:
        """Number of words of the longest sentence; infinite if a cycle has words."""
        try:
            order = self.topological_order().tolist()
        except ValueError:
            return math.inf
        most = [-1] * self.n_nodes  # up to a node; -1 if it is unreachable
        most[self.initial] = 0
        steps = [
            (self.arc_start.tolist(), self.arc_end.tolist(), (self.arc_word != NO_WORD).tolist()),
            (self.jump_start.tolist(), self.jump_end.tolist(), (self.jump_word != NO_WORD).tolist()),
        ]
        for node in order:
            if most[node] < 0:
                continue
            for starts, ends, has_word in steps:
                for step in range(starts[node], starts[node + 1]):
                    most[ends[step]] = max(most[ends[step]], most[node] + has_word[step])
        return max(most[node] for node in np.flatnonzero(np.isfinite(self.final_weight)).tolist())


class StateGraphBuilder:
    """Collects nodes, arcs and jumps in any order; `build` sorts them into a :class:`StateGraph`."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = tuple(words)
        self._arcs: list[tuple[int, int, int, float, int, bool]] = []
        self._jumps: list[tuple[int, int, float, int]] = []
        self._final: dict[int, float] = {}
        self._n_nodes = 0

    def node(self) -> int:
        """Add a node."""
        self._n_nodes += 1
        return self._n_nodes - 1

    def chain(
        self,
        start: int,
        end: int,
        units: Sequence[int],
        *,
        weight: float = 0.0,
        word: int = NO_WORD,
        begins_word: bool = False,
    ) -> None:
        """Connect `start` to `end` through `units`; weight and word are those of the first arc."""
        for position, unit in enumerate(units):
            target = end if position == len(units) - 1 else self.node()
            first = position == 0
            self._arcs.append(
                (
                    start,
                    target,
                    unit,
                    weight if first else 0.0,
                    word if first else NO_WORD,
                    begins_word and first,
                )
            )
            start = target

    def jump(self, start: int, end: int, *, weight: float = 0.0, word: int = NO_WORD) -> None:
        """Connect `start` to `end` without frames."""
        self._jumps.append((start, end, weight, word))

    def finish(self, node: int, weight: float = 0.0) -> None:
        """Make `node` final."""
        self._final[node] = weight

    def build(self, initial: int) -> StateGraph:
        """Return the finished graph."""
        arcs = sorted(self._arcs)
        jumps = sorted(self._jumps)
        final = np.full(self._n_nodes, -np.inf)
        for node, weight in self._final.items():
            final[node] = weight
        starts = np.arange(self._n_nodes + 1)
        arc_from, arc_end, arc_unit, arc_weight, arc_word, begins = zip(*arcs, strict=True) if arcs else ((),) * 6
        jump_from, jump_end, jump_weight, jump_word = zip(*jumps, strict=True) if jumps else ((),) * 4
        return StateGraph(
            arc_start=np.searchsorted(arc_from, starts).astype(np.int32),
            arc_end=np.asarray(arc_end, np.int32),
            arc_unit=np.asarray(arc_unit, np.int32),
            arc_weight=np.asarray(arc_weight, np.float64),
            arc_word=np.asarray(arc_word, np.int32),
            arc_begins_word=np.asarray(begins, np.bool_),
            jump_start=np.searchsorted(jump_from, starts).astype(np.int32),
            jump_end=np.asarray(jump_end, np.int32),
            jump_weight=np.asarray(jump_weight, np.float64),
            jump_word=np.asarray(jump_word, np.int32),
            final_weight=final,
            initial=initial,
            words=self._words,
        )
