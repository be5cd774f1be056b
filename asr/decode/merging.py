"""Merging of automaton states with the same future."""

import numpy as np

from asr.grammar.automaton_arrays import AutomatonArrays

PRECISION = 1e-5
"""Costs that differ by less are equal. OpenFst's own 1/1024 changes scores and saves almost nothing."""


def merge_equal_states(automaton: AutomatonArrays) -> AutomatonArrays:
    """Return the smallest automaton whose states each have the arcs of a given state, to the same futures.

    Partition refinement (Moore 1956): states start in classes by their final cost, and a class is split while its
    states' arcs differ in a label, a cost or the class of the target. Paths, labels and costs stay the same; equal arcs
    of a state are merged.
    """
    n_states = len(automaton.final_cost)
    source = np.repeat(np.arange(n_states), np.diff(automaton.arc_start))
    kind = hashed(automaton.input_label, automaton.output_label, rounded(automaton.cost))
    _, state_class = np.unique(rounded(automaton.final_cost), return_inverse=True)
    n_classes = int(state_class.max(initial=-1)) + 1
    while n_classes < n_states:
        # A set of arcs is represented by the sum of their hashes.
        arc = hashed(kind, state_class[automaton.target])
        order = np.lexsort((arc, source))
        once = order[_changes(source[order], arc[order])]
        futures = np.zeros(n_states, np.uint64)
        np.add.at(futures, source[once], arc[once])
        _, divided = np.unique(hashed(state_class, futures), return_inverse=True)
        state_class, before, n_classes = divided, n_classes, int(divided.max()) + 1
        if n_classes == before:
            break
    return _quotient(automaton, source, kind, state_class, n_classes)


def hashed(*columns: np.ndarray) -> np.ndarray:
    """Return 64-bit hashes of rows of integers, uint64; equal rows have equal hashes."""
    total = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        total ^= column.astype(np.int64, copy=False).view(np.uint64)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # splitmix64 (Steele et al. 2014)
            total = (total ^ (total >> np.uint64(shift))) * np.uint64(factor)
        total = (total ^ (total >> np.uint64(31))) + np.uint64(0x9E3779B97F4A7C15)
    return total


def rounded(costs: np.ndarray) -> np.ndarray:
    """Round costs to multiples of the precision, int64; infinity has its own number."""
    finite = np.isfinite(costs)
    return np.where(finite, np.rint(np.where(finite, costs, 0.0) / PRECISION), np.iinfo(np.int64).max // 2).astype(
        np.int64
    )


def _changes(*columns: np.ndarray) -> np.ndarray:
    """Return whether each row of sorted columns differs from the one before."""
    changed = np.ones(len(columns[0]), bool)
    if len(changed):
        changed[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return changed


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
    sorted_arcs = arcs[np.lexsort((target[arcs], kind[arcs], source[arcs]))]
    arcs = np.sort(sorted_arcs[_changes(source[sorted_arcs], kind[sorted_arcs], target[sorted_arcs])])
    return AutomatonArrays(
        start=int(number[state_class[automaton.start]]),
        final_cost=automaton.final_cost[first],
        arc_start=np.concatenate([[0], np.cumsum(np.bincount(source[arcs], minlength=len(kept))[first])]),
        input_label=automaton.input_label[arcs],
        output_label=automaton.output_label[arcs],
        cost=automaton.cost[arcs],
        target=target[arcs].astype(np.int32),
    )
