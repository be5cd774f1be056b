"""The phones of an alignment, with their neighbors and frames."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from asr.alignment.forced_alignment import path_of_states
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology


class SpokenPhones(NamedTuple):
    """Phones of words in the order in which they were said."""

    contexts: np.ndarray  # int (n, 5), rows of `Context`
    frames: np.ndarray  # int (n, 2), first row of the table and the one after the last


def spoken_phones(
    states: np.ndarray, table: FrameTable, graphs: Mapping[str, StateGraph], topology: Topology
) -> SpokenPhones:
    """Return the spoken phones of an alignment; utterances with state -1 are left out.

    `states`, int32 (n_frames,), has the state of every frame. `graphs` are the transcript graphs that were aligned.
    """
    contexts, frames = [np.zeros((0, 5), np.int64)], [np.zeros((0, 2), np.int64)]
    for name in table.ids:
        rows = table.rows(name)
        own = states[rows]
        if len(own) and own[0] >= 0:
            found = _of_utterance(own, graphs[name], topology)
            contexts.append(found.contexts)
            frames.append(found.frames + rows.start)
    return SpokenPhones(np.concatenate(contexts), np.concatenate(frames))


def _of_utterance(states: np.ndarray, graph: StateGraph, topology: Topology) -> SpokenPhones:
    path = path_of_states(states, graph, topology)
    taken = path.arcs >= 0
    arcs, entered = path.arcs[taken], path.frames[taken]
    units = graph.arc_unit[arcs]
    first = np.flatnonzero(topology.unit_position[units] == 0)
    phone = topology.unit_phone[units[first]].astype(np.int64)
    begins = graph.arc_begins_word[arcs[first]]
    start = entered[first]
    end = np.append(start[1:], len(states))
    is_pause = (phone == 0) | (phone == len(topology.phones) + 1)
    around = np.concatenate([[0], np.where(is_pause, 0, phone), [0]])
    ends = np.append(is_pause[1:] | begins[1:], True)
    contexts = np.stack([phone, around[:-2], around[2:], begins, ends], axis=1)
    return SpokenPhones(contexts[~is_pause], np.stack([start, end], axis=1)[~is_pause])
