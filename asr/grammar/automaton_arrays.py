"""Weighted automata of OpenFst as flat arrays.

Reading arcs one by one through kaldifst takes minutes for millions of arcs.
"""

import os
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from asr.util.errors import DecodeError
from discriminants.util.paths import is_dir

if TYPE_CHECKING:
    import kaldifst

_MAGIC = 2125659606
_EXPANDED = 3  # properties: expanded, mutable
_STATE = np.dtype([("final", "<f4"), ("first", "<u4"), ("arcs", "<u4"), ("epsilons", "<u4", 2)])
_ARC = np.dtype([("input", "<i4"), ("output", "<i4"), ("cost", "<f4"), ("target", "<i4")])


@dataclass(frozen=True)
class AutomatonArrays:
    """States and arcs in OpenFst's order."""

    start: int  # -1 without a start state
    final_cost: np.ndarray  # float32 (n_states,); inf if not final
    arc_start: np.ndarray  # int64 (n_states + 1,); arcs of state s are `arc_start[s]:arc_start[s + 1]`
    input_label: np.ndarray  # int32 (n_arcs,)
    output_label: np.ndarray  # int32 (n_arcs,)
    cost: np.ndarray  # float32 (n_arcs,)
    target: np.ndarray  # int32 (n_arcs,)


def automaton_arrays(fst: "kaldifst.StdVectorFst") -> AutomatonArrays:
    """Read all states and arcs at once, through OpenFst's format of constant automata (`fst/const-fst.h`).

    If that file exceeds a size limit (which also holds for files in memory), arcs are read one by one. Raises
    DecodeError if kaldifst writes an unknown format.
    """
    import kaldifst

    with _scratch_file() as path:
        content = path.read_bytes() if kaldifst.StdConstFst(fst).write(str(path)) else None
    return _arc_by_arc(fst) if content is None else _parsed(content)


def automaton_of(arrays: AutomatonArrays) -> "kaldifst.StdVectorFst":
    """Return the automaton, through OpenFst's format of vectors (`fst/vector-fst.h`), or arc by arc if it fails."""
    import kaldifst

    n_states, n_arcs = len(arrays.final_cost), len(arrays.cost)
    place = 3 * np.arange(n_states) + 4 * arrays.arc_start[:-1]
    words = np.empty(3 * n_states + 4 * n_arcs, np.int32)
    words[place] = arrays.final_cost.astype(np.float32, copy=False).view(np.int32)
    words[place + 1], words[place + 2] = np.diff(arrays.arc_start), 0  # 64 bits
    arc = 3 * (1 + np.repeat(np.arange(n_states), np.diff(arrays.arc_start))) + 4 * np.arange(n_arcs)
    words[arc], words[arc + 1] = arrays.input_label, arrays.output_label
    words[arc + 2], words[arc + 3] = arrays.cost.astype(np.float32, copy=False).view(np.int32), arrays.target
    header = struct.pack("<ii6si8s", _MAGIC, 6, b"vector", 8, b"standard")
    header += struct.pack("<iiQqqq", 2, 0, _EXPANDED, arrays.start, n_states, n_arcs)
    try:
        with _scratch_file(header + words.tobytes()) as path:
            found = kaldifst.StdVectorFst.read(str(path))
    except OSError:
        found = None
    return _fst_arc_by_arc(arrays) if found is None else found


def _fst_arc_by_arc(arrays: AutomatonArrays) -> "kaldifst.StdVectorFst":
    import kaldifst

    fst = kaldifst.StdVectorFst()
    for state, cost in enumerate(arrays.final_cost.tolist()):
        fst.add_state()
        fst.set_final(state, cost)
    fst.start = arrays.start
    sources = np.repeat(np.arange(len(arrays.final_cost)), np.diff(arrays.arc_start))
    columns = sources, arrays.input_label, arrays.output_label, arrays.cost, arrays.target
    for source, *arc in zip(*(column.tolist() for column in columns), strict=True):
        fst.add_arc(source, kaldifst.StdArc(*arc))
    return fst


def _arc_by_arc(fst: "kaldifst.StdVectorFst") -> AutomatonArrays:
    import kaldifst

    arcs = [
        (state, arc.ilabel, arc.olabel, arc.weight.value, arc.nextstate)
        for state in range(fst.num_states)
        for arc in kaldifst.ArcIterator(fst, state)
    ]
    table = np.array(arcs, np.float64).reshape(-1, 5)
    return AutomatonArrays(
        start=fst.start,
        final_cost=np.array([fst.final(state).value for state in range(fst.num_states)], np.float32),
        arc_start=np.searchsorted(table[:, 0], np.arange(fst.num_states + 1)),
        input_label=table[:, 1].astype(np.int32),
        output_label=table[:, 2].astype(np.int32),
        cost=table[:, 3].astype(np.float32),
        target=table[:, 4].astype(np.int32),
    )


@contextmanager
def _scratch_file(content: bytes = b"") -> Iterator[Path]:
    """Use memory if the system supports it, because a disk may be full or read-only."""
    if hasattr(os, "memfd_create") and is_dir(Path("/proc/self/fd")):
        number = os.memfd_create("automaton")
        try:
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(number, rest) :]
            yield Path(f"/proc/self/fd/{number}")
        finally:
            os.close(number)
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "automaton.fst"
            path.write_bytes(content)
            yield path


def _parsed(content: bytes) -> AutomatonArrays:
    magic, length = struct.unpack_from("<ii", content)
    kind = content[8 : 8 + length]
    position = 8 + length
    (length,) = struct.unpack_from("<i", content, position)
    position += 4 + length
    _version, flags, _properties, start, n_states, n_arcs = struct.unpack_from("<iiQqqq", content, position)
    position += struct.calcsize("<iiQqqq")
    if (magic, kind, flags) != (_MAGIC, b"const", 0):
        raise DecodeError(
            f"kaldifst writes automata of type {kind!r} with flags {flags}, which this version does not support. "
            "Use kaldifst 1.8"
        )
    states = np.frombuffer(content, _STATE, n_states, position)
    arcs = np.frombuffer(content, _ARC, n_arcs, position + states.nbytes)
    return AutomatonArrays(
        start=start,
        final_cost=states["final"].copy(),
        arc_start=np.append(states["first"], n_arcs).astype(np.int64),
        input_label=arcs["input"].copy(),
        output_label=arcs["output"].copy(),
        cost=arcs["cost"].copy(),
        target=arcs["target"].copy(),
    )
