"""Context expansion, C o L o G, with merged labels for equal chains of states and merged states with equal futures."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from asr.decode.filler import FILLER_UNIT
from asr.decode.lexicon_transducer import InputLabels
from asr.grammar.automaton_arrays import AutomatonArrays, automaton_arrays
from asr.hmm.state_tying import Context
from asr.hmm.topology import Topology

if TYPE_CHECKING:
    import kaldifst

CONTEXT_WIDTH = 3
PRECISION = 1e-5  # costs that differ by less are equal


def in_context(
    composed: "kaldifst.StdVectorFst", topology: Topology, labels: InputLabels
) -> tuple[AutomatonArrays, list[Sequence[int]]]:
    """Return L o G with every phone in its context, and the chains of units of its labels.

    The context transducer (Mohri, Pereira and Riley 2002) has a state for the last phone and the next. Contexts with
    the same chain get the same label, and states with the same future are then merged.

    Returns
    -------
    automaton : AutomatonArrays
        A label is 1 + 2 * chain, plus 1 if the phone begins a word; 0 takes no frames.
    chains : list of sequences of int
        Units of each chain.
    """
    import kaldifst

    jumps = list(range(labels.back_off, 1 + int(automaton_arrays(composed).input_label.max(initial=labels.back_off))))
    expanded, windows = kaldifst.compose_context(jumps, CONTEXT_WIDTH, CONTEXT_WIDTH // 2, composed)
    spoken = [number for number, window in enumerate(windows) if len(window) == CONTEXT_WIDTH]
    contexts, at = np.unique(
        _contexts(np.array([windows[number] for number in spoken]).reshape(-1, CONTEXT_WIDTH), topology),
        axis=0,
        return_inverse=True,
    )
    chains: dict[tuple[int, ...], int] = {}
    chain = np.array(
        [chains.setdefault(tuple(units), len(chains)) for units in _units(contexts, topology)],
        np.int32,
    )
    meaning = np.zeros(len(windows), np.int32)  # other labels take no frames
    meaning[spoken] = 1 + 2 * chain[at.ravel()] + contexts[at.ravel(), 3]
    automaton = automaton_arrays(expanded)
    return merge_equal_states(replace(automaton, input_label=meaning[automaton.input_label])), list(chains)


def _units(contexts: np.ndarray, topology: Topology) -> list[Sequence[int]]:
    """Return the units of rows of `Context`, with `FILLER_UNIT` for the filler."""
    spoken = contexts[:, 0] < len(topology.phone_names)
    found = iter(topology.units_in([Context(*row) for row in contexts[spoken].tolist()]))
    return [next(found) if is_phone else [FILLER_UNIT] for is_phone in spoken.tolist()]


def _contexts(windows: np.ndarray, topology: Topology) -> np.ndarray:
    """Return rows of `Context` from labels of three successive phones; 0 for none."""
    pause = len(topology.phones) + 1
    number, begins = np.divmod(np.maximum(windows - 1, 0), 2)
    around = np.where(number >= pause, 0, number)  # the filler, numbered after the pause, is not a context either
    ends = (around[:, 2] == 0) | (begins[:, 2] == 1)
    return np.stack([number[:, 1], around[:, 0], around[:, 2], begins[:, 1], ends], axis=1)


def merge_equal_states(automaton: AutomatonArrays) -> AutomatonArrays:
    """Return the smallest automaton whose states each have the arcs of a given state, to the same futures.

    Partition refinement (Moore 1956): states start in classes by their final cost, and a class is split while its
    states' arcs differ in a label, a cost or the class of the target. Paths, labels and costs stay the same; equal arcs
    of a state are merged.
    """
    n_states = len(automaton.final_cost)
    source = np.repeat(np.arange(n_states), np.diff(automaton.arc_start))
    kinds = np.stack([automaton.input_label, automaton.output_label, _rounded(automaton.cost)], axis=1)
    _, kind = np.unique(kinds, axis=0, return_inverse=True)
    kind = kind.ravel().astype(np.int64)
    _, state_class = np.unique(_rounded(automaton.final_cost), return_inverse=True)
    n_classes = int(state_class.max(initial=-1)) + 1
    random = np.random.default_rng(0)
    while n_classes < n_states:
        # A set of arcs is represented by the sum of 64-bit random numbers of its arcs.
        arcs = np.unique(np.stack([source, kind * n_classes + state_class[automaton.target]], axis=1), axis=0)
        _, arc = np.unique(arcs[:, 1], return_inverse=True)
        bits = random.integers(0, 2**63, size=int(arc.max(initial=-1)) + 1, dtype=np.uint64)
        futures = np.zeros(n_states, np.uint64)
        np.add.at(futures, arcs[:, 0], bits[arc.ravel()])
        _, divided = np.unique(np.stack([state_class.astype(np.uint64), futures]), axis=1, return_inverse=True)
        divided = divided.ravel()
        n_divided = int(divided.max(initial=-1)) + 1
        state_class, before, n_classes = divided, n_classes, n_divided
        if n_divided == before:
            break
    return _quotient(automaton, source, kind, state_class, n_classes)


def _rounded(costs: np.ndarray) -> np.ndarray:
    """Round costs to multiples of the precision, int64; infinity has its own number."""
    finite = np.isfinite(costs)
    return np.where(finite, np.rint(np.where(finite, costs, 0.0) / PRECISION), np.iinfo(np.int64).max // 2).astype(
        np.int64
    )


def _quotient(
    automaton: AutomatonArrays, source: np.ndarray, kind: np.ndarray, state_class: np.ndarray, n_classes: int
) -> AutomatonArrays:
    """Keep one state per class, numbered by first occurrence, with the arcs of its first state."""
    _, first = np.unique(state_class, return_index=True)
    order = np.argsort(first)
    number = np.empty(n_classes, np.int64)
    number[order] = np.arange(n_classes)
    first = first[order]
    target = number[state_class[automaton.target]]
    kept = np.zeros(len(automaton.final_cost), bool)
    kept[first] = True
    arcs = np.flatnonzero(kept[source])
    _, once = np.unique(np.stack([source[arcs], kind[arcs], target[arcs]], axis=1), axis=0, return_index=True)
    arcs = arcs[np.sort(once)]
    return AutomatonArrays(
        start=int(number[state_class[automaton.start]]),
        final_cost=automaton.final_cost[first],
        arc_start=np.concatenate([[0], np.cumsum(np.bincount(source[arcs], minlength=len(kept))[first])]),
        input_label=automaton.input_label[arcs],
        output_label=automaton.output_label[arcs],
        cost=automaton.cost[arcs],
        target=target[arcs].astype(np.int32),
    )
