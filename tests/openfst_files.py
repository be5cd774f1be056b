"""A writer of OpenFst's binary files in pure Python, for tests of what reads them."""

import math
import struct
from collections.abc import Mapping, Sequence

FstArc = tuple[int, int, float, int]
"""ilabel, olabel, weight, nextstate."""
State = tuple[float, Sequence[FstArc]]
"""Final weight (inf: none), arcs."""
_HEADER = "<iiQqqq"


def text(value: str) -> bytes:
    encoded = value.encode()
    return struct.pack("<i", len(encoded)) + encoded


def symbol_table(symbols: Mapping[str, int]) -> bytes:
    head = struct.pack("<i", 2125658996) + text("words") + struct.pack("<qq", 1 + max(symbols.values()), len(symbols))
    return head + b"".join(text(symbol) + struct.pack("<q", number) for symbol, number in symbols.items())


def fst_bytes(
    states: Sequence[State],
    *,
    start: int = 0,
    inputs: Mapping[str, int] | None = None,
    outputs: Mapping[str, int] | None = None,
    kind: str = "vector",
    arc_type: str = "standard",
    version: int = 2,
    n_states: int | None = None,
) -> bytes:
    """A whole file; version 1 of kind "const" is aligned to 16 bytes; `n_states` may tell a lie."""
    flags = (inputs is not None) + 2 * (outputs is not None)
    n_arcs = sum(len(arcs) for _, arcs in states)
    counted = len(states) if n_states is None else n_states
    content = struct.pack("<i", 2125659606) + text(kind) + text(arc_type)
    content += struct.pack(_HEADER, version, flags, 0, start, counted, n_arcs)
    content += b"".join(symbol_table(table) for table in (inputs, outputs) if table is not None)
    if kind == "vector":
        for final, arcs in states:
            content += struct.pack("<fq", final, len(arcs)) + b"".join(struct.pack("<iifi", *arc) for arc in arcs)
        return content
    padded = version == 1
    content += bytes(-len(content) % 16 if padded else 0)
    first = 0
    for final, arcs in states:
        content += struct.pack("<fIIII", final, first, len(arcs), 0, 0)
        first += len(arcs)
    content += bytes(-len(content) % 16 if padded else 0)
    return content + b"".join(struct.pack("<iifi", *arc) for _, arcs in states for arc in arcs)


def word_pair_states(successors: Mapping[str, Sequence[str]], labels: Mapping[str, int]) -> list[State]:
    """A state after each word, successors equally likely, "SENTENCE-END" first, as CMU's RM_G.fst."""
    names = ["SENTENCE-END", *sorted(set(successors) - {"SENTENCE-END"})]
    numbers = {name: number for number, name in enumerate(names)}
    states: list[State] = []
    for name in names:
        following = successors[name]
        cost = math.log(len(following))
        arcs = [(labels[word], labels[word], cost, numbers[word]) for word in following if word != "SENTENCE-END"]
        states.append((cost if "SENTENCE-END" in following else math.inf, arcs))
    return states
