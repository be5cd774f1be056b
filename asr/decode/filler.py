"""The filler of a graph: one or more phones of the model in any order, with optional pauses between them.

In the automaton of lexicon and grammar the filler is one arc, a single symbol for determinization and minimization.
Here that arc becomes a loop of phones. Arcs to the same states share one loop.
"""

from collections import defaultdict
from dataclasses import replace

import numpy as np

from asr.hmm.state_graph import FILLER_PAUSE, FILLER_PHONE, NO_WORD, NOT_FILLER, StateGraph
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology

FILLER_UNIT = -1
"""Unit of filler arcs until `with_filler` replaces them."""


def with_filler(graph: StateGraph, topology: Topology) -> StateGraph:
    """Replace every arc of `FILLER_UNIT` by a loop of phones.

    Weight and word are on the jump into the loop, and the first phone begins the word. Phones have the units of all
    contexts, so the loop is the same for models with and without context.
    """
    stands_for = graph.arc_unit == FILLER_UNIT
    if not stands_for.any():
        return graph
    source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.arc_start))
    entries: dict[tuple[int, float, int], set[int]] = defaultdict(set)
    for arc in np.flatnonzero(stands_for).tolist():
        entries[int(source[arc]), float(graph.arc_weight[arc]), int(graph.arc_word[arc])].add(int(graph.arc_end[arc]))
    added = _Added(graph.n_nodes, topology)
    for (start, weight, word), ends in sorted(entries.items()):
        added.jumps.append((start, added.loop_to(tuple(sorted(ends))), weight, word))
    return _joined(graph, ~stands_for, source, added)


class _Added:
    """Nodes, arcs and jumps of the loops; arcs as (source, end, unit, whether it begins the word, kind)."""

    def __init__(self, n_nodes: int, topology: Topology) -> None:
        self.arcs: list[tuple[int, int, int, bool, int]] = []
        self.jumps: list[tuple[int, int, float, int]] = []
        self.n_nodes = n_nodes
        self._topology = topology
        self._loops: dict[tuple[int, ...], int] = {}

    def loop_to(self, ends: tuple[int, ...]) -> int:
        """Return the node before the loop that leads to these nodes; each loop is made once."""
        if ends in self._loops:
            return self._loops[ends]
        before, after, next_phone = self._node(), self._node(), self._node()
        self._loops[ends] = before
        for phone in self._topology.phones:
            # The first occurrence of a phone and the later ones share its other units.
            first, *rest = self._topology.alternatives(phone)
            inner = [self._node() for _ in rest]
            for unit in first.tolist():
                for start in (before, next_phone):
                    self.arcs.append((start, (*inner, after)[0], unit, start == before, FILLER_PHONE))
            for start, end, units in zip(inner, [*inner[1:], after], rest, strict=False):
                self.arcs += [(start, end, unit, False, NOT_FILLER) for unit in units.tolist()]
        for pause in (SILENCE, SHORT_PAUSE):
            chain = self._topology.units(pause)
            nodes = [after, *(self._node() for _ in chain[1:]), next_phone]
            self.arcs += [
                (start, end, unit, False, FILLER_PAUSE)
                for start, end, unit in zip(nodes, nodes[1:], chain, strict=False)
            ]
        self.jumps += [(after, end, 0.0, NO_WORD) for end in (next_phone, *ends)]
        return before

    def _node(self) -> int:
        self.n_nodes += 1
        return self.n_nodes - 1


def _joined(graph: StateGraph, kept: np.ndarray, source: np.ndarray, added: _Added) -> StateGraph:
    """Combine the kept arcs, the jumps and the added parts, sorted by start node."""
    start, end, unit, begins, kind = (np.array(column) for column in zip(*added.arcs, strict=True))
    jump_start, jump_end, jump_weight, jump_word = (np.array(column) for column in zip(*added.jumps, strict=True))
    n_added = len(start)
    arc_source = np.concatenate([source[kept], start])
    jump_source = np.concatenate([np.repeat(np.arange(graph.n_nodes), np.diff(graph.jump_start)), jump_start])
    arcs, jumps = np.argsort(arc_source, kind="stable"), np.argsort(jump_source, kind="stable")
    nodes = np.arange(added.n_nodes + 1)
    return replace(
        graph,
        arc_start=np.searchsorted(arc_source[arcs], nodes).astype(np.int32),
        arc_end=np.concatenate([graph.arc_end[kept], end])[arcs].astype(np.int32),
        arc_unit=np.concatenate([graph.arc_unit[kept], unit])[arcs].astype(np.int32),
        arc_weight=np.concatenate([graph.arc_weight[kept], np.zeros(n_added)])[arcs],
        arc_word=np.concatenate([graph.arc_word[kept], np.full(n_added, NO_WORD, np.int32)])[arcs],
        arc_begins_word=np.concatenate([graph.arc_begins_word[kept], begins.astype(np.bool_)])[arcs],
        jump_start=np.searchsorted(jump_source[jumps], nodes).astype(np.int32),
        jump_end=np.concatenate([graph.jump_end, jump_end])[jumps].astype(np.int32),
        jump_weight=np.concatenate([graph.jump_weight, jump_weight])[jumps],
        jump_word=np.concatenate([graph.jump_word, jump_word])[jumps].astype(np.int32),
        final_weight=np.concatenate([graph.final_weight, np.full(added.n_nodes - graph.n_nodes, -np.inf)]),
        arc_filler=np.concatenate([np.full(int(kept.sum()), NOT_FILLER, np.int8), kind.astype(np.int8)])[arcs],
    )
