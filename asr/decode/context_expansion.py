"""Context expansion, C o L o G, with merged labels for equal chains of states."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from asr.decode.filler import FILLER_UNIT
from asr.decode.lexicon_transducer import InputLabels
from asr.decode.merging import merge_equal_states
from asr.grammar.automaton_arrays import AutomatonArrays, automaton_arrays
from asr.hmm.state_tying import Context
from asr.hmm.topology import Topology

if TYPE_CHECKING:
    import kaldifst

CONTEXT_WIDTH = 3


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
