"""Records of tokens: the arcs entered and the word jumps.

Each record points to the previous one, so a token needs only its latest record for its whole path.
"""

from typing import NamedTuple

import numpy as np

from asr.decode.trellis import grown
from discriminants.util.numba_cache import njit


class Records(NamedTuple):
    """Records of tokens, int32 arrays of equal length with room at their ends."""

    arc: np.ndarray  # arc entered, or `-1 - jump`
    frame: np.ndarray
    previous: np.ndarray  # record before this one, -1 for none


@njit(cache=True, nogil=True)
def grown_records(records):
    """Return the same records in arrays of twice the length."""
    return Records(grown(records.arc), grown(records.frame), grown(records.previous))


@njit(cache=True, nogil=True)
def traced_back(records, last):
    """Return arcs and frames of the path that ends with record `last`, in order of time; empty for -1."""
    length = 0
    record = last
    while record >= 0:
        length += 1
        record = records.previous[record]
    arcs = np.empty(length, np.int32)
    frames = np.empty(length, np.int32)
    record = last
    while record >= 0:
        length -= 1
        arcs[length] = records.arc[record]
        frames[length] = records.frame[record]
        record = records.previous[record]
    return arcs, frames


@njit(cache=True, nogil=True)
def _mark(record, new_number, previous):
    """Mark a record and those before it as reached."""
    while record >= 0 and new_number[record] < 0:
        new_number[record] = 0
        record = previous[record]


@njit(cache=True, nogil=True)
def forget_dead_records(records, n_records, active, n_active, arc_record, nodes, n_nodes, node_record):
    """Keep only records that a token or reached node can still reach, in place; return their number."""
    new_number = np.full(n_records, -1, np.int32)
    for i in range(n_active):
        _mark(arc_record[active[i]], new_number, records.previous)
    for i in range(n_nodes):
        _mark(node_record[nodes[i]], new_number, records.previous)
    kept = 0
    for record in range(n_records):
        if new_number[record] == 0:
            new_number[record] = kept
            previous = records.previous[record]
            records.arc[kept] = records.arc[record]
            records.frame[kept] = records.frame[record]
            records.previous[kept] = new_number[previous] if previous >= 0 else -1
            kept += 1
    for i in range(n_active):
        arc_record[active[i]] = new_number[arc_record[active[i]]]
    for i in range(n_nodes):
        if node_record[nodes[i]] >= 0:
            node_record[nodes[i]] = new_number[node_record[nodes[i]]]
    return kept
