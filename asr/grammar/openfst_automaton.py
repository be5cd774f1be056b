"""Grammars from OpenFst transducers: Kaldi's `G.fst`, CMU's word pairs of Resource Management."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from asr.grammar.automaton import IMPOSSIBLE, Arc, Grammar, build_grammar
from asr.grammar.determinization import determinize, ranks_or_cycle
from asr.grammar.openfst import OpenFst, SymbolTable, read_openfst, unambiguous
from asr.util.errors import GrammarError
from asr.util.text_lines import read_text_lines
from discriminants.util.paths import exists

BACK_OFF = "#0"
_UNHEARD = re.compile(r"<eps>|<s>|</s>|#\d+")


def openfst_grammar(
    path: Path | str, *, vocabulary: Iterable[str] | None = None, symbols: SymbolTable | None = None
) -> Grammar:
    """Read an OpenFst file whose labels are words.

    Label names come from the file, from `words.txt` next to it (as in Kaldi), or from `symbols`. The label 0, `<eps>`,
    `<s>`, `</s>` and the disambiguation labels `#1`, `#2`, ... are epsilons. `#0` becomes the back-off arc of
    `Grammar`. Other epsilon arcs are removed, and the automaton is determinized with the same sentence costs. An n-gram
    keeps its back-off arcs, even if they are epsilons (see `asr.grammar.determinization`).

    `path`: file for `asr.grammar.openfst.read_openfst`. `vocabulary`: other words, and words that are then in no
    sentence, are left out without renormalizing. `symbols`: label names if neither the file nor `words.txt` has them.
    Raises GrammarError if the file is malformed, a label has no name, an arc reads one word and writes another, there
    is a cycle of epsilons, or no sentence remains.
    """
    fst = read_openfst(path)
    given = _arcs(fst, _words_of_arcs(fst, path, symbols))
    _refuse_empty_cycles(given, fst, path)
    known = {arc.word for arc in given if arc.word is not None} - {BACK_OFF}
    allowed = known if vocabulary is None else known & set(vocabulary)
    end = len(fst.final_costs)
    usable = [arc for arc in given if arc.cost != IMPOSSIBLE and (arc.word in (None, BACK_OFF) or arc.word in allowed)]
    ending = [Arc(state, None, cost, end) for state, cost in enumerate(fst.final_costs.tolist()) if cost != IMPOSSIBLE]
    arcs, final_costs, n_states = determinize(
        str(path), usable + ending, start=fst.start, end=end, back_off=not any(arc.word == BACK_OFF for arc in usable)
    )
    kept = {arc.word for arc in arcs if arc.word is not None} - {BACK_OFF}
    if not kept or not final_costs:
        raise GrammarError(
            f"{path} has no sentence of one or more words" + ("." if vocabulary is None else " over the vocabulary.")
        )
    return build_grammar(
        "openfst",
        kept,
        (replace(arc, word=None) if arc.word == BACK_OFF else arc for arc in arcs),
        final_costs=final_costs,
        n_states=n_states,
        left_out=known - kept,
    )


def read_words(path: Path | str) -> SymbolTable:
    """Read Kaldi's `words.txt`: `WORD number`, one per line.

    Raises GrammarError with file and line for a malformed line, or a repeated word or number.
    """
    return unambiguous(_rows(path))


def _rows(path: Path | str) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(read_text_lines(path, GrammarError), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 2 or not re.fullmatch(r"[0-9]{1,18}", fields[1]):
            raise GrammarError(f"{path}, line {number}: {line!r} is not a symbol. Expected a word and its number.")
        yield int(fields[1]), fields[0], f"{path}, line {number}"


def _words_of_arcs(fst: OpenFst, path: Path | str, symbols: SymbolTable | None) -> list[str | None]:
    """Return the word of every arc, `BACK_OFF`, or None for an epsilon."""
    inputs, outputs = fst.input_symbols, fst.output_symbols
    if inputs is None and outputs is None:
        beside = Path(path).with_name("words.txt")
        if exists(beside):
            inputs = read_words(beside)
        elif symbols is not None:
            inputs = symbols
        else:
            raise GrammarError(
                f"{path} has no symbol table, and {beside} with the numbers of the words does not exist. Add it, "
                "or write the tables into the file (fstsymbols --isymbols=words.txt --osymbols=words.txt)."
            )
    read = _named(fst.arcs["ilabel"], inputs or outputs or {}, fst.positions, path)
    written = _named(fst.arcs["olabel"], outputs or inputs or {}, fst.positions, path)
    for word, other, position in zip(read, written, fst.positions, strict=True):
        if word != other and not {word, other} <= {None, BACK_OFF}:
            raise GrammarError(
                f"{path}, byte {position}: an arc has the input {word or '<eps>'!r} and the "
                f"output {other or '<eps>'!r}. Expected equal labels in a grammar. Use fstproject."
            )
    return read


def _named(
    labels: NDArray[np.int32], table: SymbolTable, positions: NDArray[np.int64], path: Path | str
) -> list[str | None]:
    names: dict[int, str | None] = {0: None}
    distinct, first = np.unique(labels, return_index=True)
    for label, index in zip(distinct.tolist(), first, strict=True):
        if label == 0:
            continue
        if label not in table:
            raise GrammarError(f"{path}, byte {positions[index]}: the label {label} is not in the symbol table.")
        word = table[label]
        names[label] = None if word != BACK_OFF and _UNHEARD.fullmatch(word) else word
    return [names[label] for label in labels.tolist()]


def _arcs(fst: OpenFst, words: Sequence[str | None]) -> list[Arc]:
    columns = (fst.sources.tolist(), words, fst.arcs["weight"].tolist(), fst.arcs["nextstate"].tolist())
    return [Arc(*values) for values in zip(*columns, strict=True)]


def _refuse_empty_cycles(arcs: Sequence[Arc], fst: OpenFst, path: Path | str) -> None:
    """Raise GrammarError for a cycle of epsilons or back-off arcs, which would never end."""
    empty: dict[int, list[Arc]] = {}
    for arc in arcs:
        if arc.word in (None, BACK_OFF):
            empty.setdefault(arc.source, []).append(arc)
    _, cycle = ranks_or_cycle(empty)
    if cycle:
        first, second = cycle[0], cycle[1 % len(cycle)]
        position = next(
            position
            for arc, position in zip(arcs, fst.positions, strict=True)
            if (arc.source, arc.target) == (first, second) and arc.word in (None, BACK_OFF)
        )
        raise GrammarError(
            f"{path}, byte {position}: this arc is part of a cycle of empty arcs, through state {second}. "
            "Expected a word in every cycle."
        )
