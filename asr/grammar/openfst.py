"""Reader of OpenFst's binary files, such as Kaldi's `G.fst`, without OpenFst.

All numbers are little-endian; a string is its length (int32) and its bytes. The layout is that of OpenFst's `fst.cc`,
`symbol-table.cc`, `vector-fst.h` and `const-fst.h` (Allauzen, Riley, Schalkwyk, Skut and Mohri 2007).
"""

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from asr.grammar.automaton import MAX_COST, distinct_words
from asr.grammar.openfst_magic import FST_MAGIC
from asr.util.errors import GrammarError
from asr.util.text_lines import read_bytes
from asr.util.unicode_text import nfc

MAX_FST = 1 << 30
"""Bytes."""
_TABLE_MAGIC = 2125658996
_HAS_INPUT_TABLE, _HAS_OUTPUT_TABLE, _IS_ALIGNED = 1, 2, 4
_ALIGNMENT = 16  # bytes
_ARC = np.dtype([("ilabel", "<i4"), ("olabel", "<i4"), ("weight", "<f4"), ("nextstate", "<i4")])
_CONST_STATE = np.dtype(
    [("final", "<f4"), ("first", "<u4"), ("n_arcs", "<u4"), ("n_input_empty", "<u4"), ("n_output_empty", "<u4")]
)

SymbolTable = dict[int, str]


@dataclass(frozen=True)
class OpenFst:
    """A weighted transducer in the tropical semiring; weights are -ln p, inf is impossible."""

    start: int
    final_costs: NDArray[np.float64]  # (n_states,)
    sources: NDArray[np.int64]  # source state of each arc, (n_arcs,)
    arcs: NDArray[np.void]  # (n_arcs,) of ilabel, olabel, weight, nextstate
    positions: NDArray[np.int64]  # position of each arc in the file, (n_arcs,)
    input_symbols: SymbolTable | None
    output_symbols: SymbolTable | None


def read_openfst(path: Path | str) -> OpenFst:
    """Read a transducer of type `vector` or `const` with arcs of type `standard`.

    Raises GrammarError with the position in bytes for another magic number or type, inconsistent sizes or states,
    weights that are not finite (inf is allowed for unused arcs and states), and corrupt symbol tables.
    """
    return parse_openfst(read_bytes(path, GrammarError, largest=MAX_FST), str(path))


def parse_openfst(content: bytes, source: str) -> OpenFst:
    """Parse the bytes of a file as `read_openfst` does; `source` is used in errors."""
    file = _Cursor(content, source)
    if content[: len(FST_MAGIC)] != FST_MAGIC:
        file.fail(0, f"the file begins with {content[:4]!r}. Expected {FST_MAGIC!r}, a binary OpenFst file")
    file.position = len(FST_MAGIC)
    kind_at, kind = file.position, file.text("the type of the transducer")
    arc_at, arc_type = file.position, file.text("the type of its arcs")
    if kind not in ("vector", "const"):
        file.fail(kind_at, f"the transducer has the type {kind!r}. Expected 'vector' or 'const'. Use fstconvert")
    if arc_type != "standard":
        file.fail(arc_at, f"the arcs have the type {arc_type!r}. Expected 'standard'. Use fstmap")
    version_at, version = file.position, file.number("<i", "the version")
    versions = (2,) if kind == "vector" else (1, 2)
    if version not in versions:
        file.fail(
            version_at, f"the {kind} transducer has version {version}. Expected {' or '.join(map(str, versions))}"
        )
    flags = int(file.number("<i", "the flags"))
    file.number("<Q", "the properties")
    start_at, start = file.position, int(file.number("<q", "the start state"))
    states_at, n_states = file.position, int(file.number("<q", "the number of states"))
    arcs_at, n_arcs = file.position, int(file.number("<q", "the number of arcs"))
    inputs = _symbol_table(file) if flags & _HAS_INPUT_TABLE else None
    outputs = _symbol_table(file) if flags & _HAS_OUTPUT_TABLE else None
    if kind == "vector":
        finals, final_positions, counts, arcs, positions = _vector(file, states_at, n_states)
    else:
        aligned = version == 1 or bool(flags & _IS_ALIGNED)
        finals, final_positions, counts, arcs, positions = _const(file, states_at, n_states, arcs_at, n_arcs, aligned)
    if file.position != len(content):
        file.fail(file.position, f"{len(content) - file.position} bytes follow the end of the transducer")
    if not 0 <= start < len(finals):
        file.fail(start_at, f"the start state is {start}. Expected 0 to {len(finals) - 1}")
    _require_costs(file, finals, final_positions, "a final state")
    _require_costs(file, arcs["weight"], positions, "an arc")
    lost = np.flatnonzero((arcs["nextstate"] < 0) | (arcs["nextstate"] >= len(finals)))
    if len(lost):
        target = int(arcs["nextstate"][lost[0]])
        file.fail(int(positions[lost[0]]), f"an arc leads to state {target}. Expected 0 to {len(finals) - 1}")
    sources = np.repeat(np.arange(len(finals), dtype=np.int64), counts)
    return OpenFst(start, finals.astype(np.float64), sources, arcs, positions, inputs, outputs)


class _Cursor:
    """A position in the bytes of a file, which reading advances, but never past the end."""

    def __init__(self, content: bytes, source: str) -> None:
        self.content, self.source, self.position = content, source, 0

    def fail(self, position: int, why: str) -> NoReturn:
        raise GrammarError(f"{self.source}, byte {position}: {why}.")

    @property
    def left(self) -> int:
        return len(self.content) - self.position

    def number(self, form: str, what: str) -> float:
        size = struct.calcsize(form)
        if size > self.left:
            self.fail(self.position, f"the file ends before {what}")
        (value,) = struct.unpack_from(form, self.content, self.position)
        self.position += size
        return value

    def text(self, what: str) -> str:
        at, length = self.position, int(self.number("<i", what))
        if not 0 <= length <= self.left:
            self.fail(at, f"{what} has {length} bytes, but only {self.left} remain")
        self.position += length
        try:
            return self.content[self.position - length : self.position].decode("utf-8")
        except UnicodeDecodeError as problem:
            self.fail(at + 4 + problem.start, f"{what} is not UTF-8 text")

    def array(self, dtype: np.dtype, count: int, what: str, count_at: int) -> NDArray[np.void]:
        """Read `count` records; the count itself is at `count_at`."""
        if not 0 <= count <= self.left // dtype.itemsize:
            self.fail(count_at, f"expected {count} {what}, but only {self.left} bytes remain")
        found = np.frombuffer(self.content, dtype, count, self.position)
        self.position += found.nbytes
        return found

    def align(self) -> None:
        padding = -self.position % _ALIGNMENT
        if padding > self.left:
            self.fail(self.position, "the file ends in the padding")
        self.position += padding


_Parts = tuple[
    NDArray[np.float32], NDArray[np.int64], NDArray[np.int64], NDArray[np.void], NDArray[np.int64]
]  # final weights, their positions, number of arcs of each state, arcs, their positions


def _vector(file: _Cursor, states_at: int, n_states: int) -> _Parts:
    """Read states, each followed by its arcs; -1 states (written to a pipe) means up to the end."""
    if not -1 <= n_states <= file.left // 12:
        file.fail(states_at, f"expected {n_states} states, but only {file.left} bytes remain")
    finals: list[float] = []
    arcs: list[NDArray[np.void]] = []
    final_positions: list[int] = []
    arc_positions: list[int] = []
    while len(finals) < n_states or (n_states == -1 and file.left):
        final_positions.append(file.position)
        finals.append(file.number("<f", "the final weight of a state"))
        at, count = file.position, int(file.number("<q", "the number of arcs of a state"))
        arc_positions.append(file.position)
        arcs.append(file.array(_ARC, count, "arcs", at))
    counts = np.array([len(some) for some in arcs], np.int64)
    joined = np.concatenate([np.empty(0, _ARC), *arcs])
    return (
        np.array(finals, np.float32),
        np.array(final_positions, np.int64),
        counts,
        joined,
        _positions(np.array(arc_positions, np.int64), counts),
    )


def _positions(first: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the position of every arc from the position and number of each state's arcs."""
    before = np.cumsum(counts) - counts
    return np.repeat(first - _ARC.itemsize * before, counts) + _ARC.itemsize * np.arange(counts.sum(), dtype=np.int64)


def _const(file: _Cursor, states_at: int, n_states: int, arcs_at: int, n_arcs: int, aligned: bool) -> _Parts:
    """Read all states, then all arcs; both are aligned to 16 bytes in aligned files."""
    if aligned:
        file.align()
    first_state = file.position
    states = file.array(_CONST_STATE, n_states, "states", states_at)
    if aligned:
        file.align()
    first_arc = file.position
    arcs = file.array(_ARC, n_arcs, "arcs", arcs_at)
    counts = states["n_arcs"].astype(np.int64)
    where = first_state + _CONST_STATE.itemsize * np.arange(n_states, dtype=np.int64)
    wrong = np.flatnonzero((counts > 0) & (states["first"] != np.cumsum(counts) - counts))
    if len(wrong):
        file.fail(int(where[wrong[0]]), f"the arcs of state {wrong[0]} do not follow those of the states before it")
    if counts.sum() != n_arcs:
        file.fail(arcs_at, f"the header has {n_arcs} arcs, but the states have {counts.sum()}")
    return states["final"], where, counts, arcs, first_arc + _ARC.itemsize * np.arange(n_arcs, dtype=np.int64)


def _require_costs(file: _Cursor, costs: NDArray[np.float32], positions: NDArray[np.int64], of: str) -> None:
    """Check that costs are inf or at most `MAX_COST` in absolute value."""
    wrong = np.flatnonzero(~((np.abs(costs) <= MAX_COST) | (costs == math.inf)))
    if len(wrong):
        file.fail(
            int(positions[wrong[0]]),
            f"{of} has the cost {costs[wrong[0]]:g}. Expected a cost, -ln p, within {MAX_COST:g} of 0, or inf",
        )


def _symbol_table(file: _Cursor) -> SymbolTable:
    at, magic = file.position, file.number("<i", "the symbol table")
    if magic != _TABLE_MAGIC:
        file.fail(at, f"the symbol table begins with {magic}. Expected {_TABLE_MAGIC}")
    file.text("the name of the symbol table")
    file.number("<q", "the next key of the symbol table")
    at, size = file.position, int(file.number("<q", "the size of the symbol table"))
    if not 0 <= size <= file.left // 12:
        file.fail(at, f"expected {size} symbols in the symbol table, but only {file.left} bytes remain")
    return unambiguous(_symbols(file, size))


def _symbols(file: _Cursor, size: int) -> Iterator[tuple[int, str, str]]:
    for _ in range(size):
        at, symbol = file.position, file.text("a symbol")
        yield int(file.number("<q", "the number of a symbol")), symbol, f"{file.source}, byte {at}"


def unambiguous(symbols: Iterator[tuple[int, str, str]]) -> SymbolTable:
    """Return the table of (number, symbol, position).

    Raises GrammarError for a repeated number or symbol, or a symbol that cannot be a word.
    """
    table: SymbolTable = {}
    seen: set[str] = set()
    for number, written, where in symbols:
        symbol = nfc(written)
        if number in table or symbol in seen:
            raise GrammarError(f"{where}: the symbol {symbol!r} or its number {number} appears twice.")
        try:
            distinct_words([symbol])
        except GrammarError as error:
            raise GrammarError(f"{where}: {error}.") from error
        table[number] = symbol
        seen.add(symbol)
    return table
