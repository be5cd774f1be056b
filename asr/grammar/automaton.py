"""A grammar as a weighted finite-state acceptor over words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from asr.util.errors import GrammarError
from asr.util.unicode_text import fault_in_word, nfc

if TYPE_CHECKING:
    import kaldifst

    from asr.grammar.automaton_arrays import AutomatonArrays

IMPOSSIBLE = float("inf")
MAX_COST = 1e6
"""Limit on -ln p; in single precision, larger costs would lose the others in a sum."""


@dataclass(frozen=True)
class Grammar:
    """A weighted automaton that accepts word sequences.

    Attributes
    ----------
    name : str
        Such as "loop", "one", "wordpair", "unigram", "bigram", "4-gram" or "openfst".
    words : tuple of str
        Sorted; label i + 1 is words[i], label 0 is epsilon, label `back_off_label` is the back-off symbol `#0`.
    fst : kaldifst.StdVectorFst
        Costs are natural -ln p. Arcs read and write one word, except back-off arcs, which read `#0` and write nothing
        (no other epsilons). A state has at most one arc per label, and arcs are sorted by input label. Do not modify
        it: copy it before kaldifst's in-place functions such as arcsort and connect.
    left_out : tuple of str
        Words of the file or model that are not in the vocabulary, or in no sentence over it, sorted.

    Notes
    -----
    An exact reading takes a back-off arc only if a state has no arc for the next word (a failure transition), as do the
    functions of `asr.grammar.scoring`. A decoding graph that treats `#0` as an epsilon also allows the back-off path in
    addition to an explicit n-gram, and takes the better of the two (Allauzen, Mohri and Roark 2003).

    Examples
    --------
    >>> from asr.grammar import word_loop
    >>> word_loop(["NO", "YES"]).name
    'loop'
    """

    name: str
    words: tuple[str, ...]
    fst: "kaldifst.StdVectorFst"
    left_out: tuple[str, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, for `pickle` and `copy`, with the automaton as arrays."""
        from asr.grammar.automaton_arrays import automaton_arrays

        fst = automaton_arrays(self.fst)
        return {"name": self.name, "words": self.words, "left_out": self.left_out, "fst": fst}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the fields."""
        vars(self).update(state, fst=_sorted_automaton(state["fst"]))

    @property
    def back_off_label(self) -> int:
        """The label of `#0`."""
        return len(self.words) + 1

    @cached_property
    def arcs(self) -> tuple[dict[int, tuple[int, float]], ...]:
        """The arcs of every state: input label -> (next state, cost)."""
        from asr.grammar.automaton_arrays import automaton_arrays

        found = automaton_arrays(self.fst)
        counts = (found.arc_start[1:] - found.arc_start[:-1]).tolist()
        arcs = zip(found.input_label.tolist(), found.target.tolist(), found.cost.tolist(), strict=True)
        return tuple({label: (target, cost) for label, target, cost in islice(arcs, n_arcs)} for n_arcs in counts)

    @cached_property
    def final_costs(self) -> tuple[float, ...]:
        """Cost of ending in every state; inf if it is not final."""
        return tuple(self.fst.final(state).value for state in range(self.fst.num_states))

    @cached_property
    def labels(self) -> dict[str, int]:
        """Word -> label."""
        return {word: label for label, word in enumerate(self.words, 1)}


@dataclass(frozen=True)
class Arc:
    """One arc of a grammar under construction; `word` None is the back-off symbol."""

    source: int
    word: str | None
    cost: float
    target: int


def build_grammar(
    name: str,
    words: Iterable[str],
    arcs: Iterable[Arc],
    *,
    final_costs: Mapping[int, float],
    n_states: int,
    start: int = 0,
    left_out: Iterable[str] = (),
) -> Grammar:
    """Build an automaton from the states 0 ... n_states - 1 and their arcs, sorted by label.

    Raises GrammarError without words, for an empty word or one with white space or control characters, and for a cost
    that is not finite or beyond `MAX_COST`.
    """
    words, rows = distinct_words(words), list(arcs)
    labels = {word: label for label, word in enumerate(words, 1)}
    back_off = len(words) + 1
    return grammar_of_columns(
        name,
        words,
        [arc.source for arc in rows],
        [back_off if arc.word is None else labels[nfc(arc.word)] for arc in rows],
        [arc.cost for arc in rows],
        [arc.target for arc in rows],
        final_costs=final_costs,
        n_states=n_states,
        start=start,
        left_out=left_out,
    )


def grammar_of_columns(
    name: str,
    words: tuple[str, ...],
    sources: Sequence[int],
    labels: Sequence[int],
    costs: Sequence[float],
    targets: Sequence[int],
    *,
    scale: float = 1.0,
    final_costs: Mapping[int, float],
    n_states: int,
    start: int = 0,
    left_out: Iterable[str] = (),
) -> Grammar:
    """Build an automaton as `build_grammar` does, from columns of arcs and the words of `distinct_words`.

    Costs of arcs are multiplied by `scale`.
    """
    import numpy as np

    from asr.grammar.automaton_arrays import AutomatonArrays

    source, label, target = (np.array(column, np.int32) for column in (sources, labels, targets))
    cost = scale * np.array(costs, np.float64)
    for wrong in np.flatnonzero(~(np.abs(cost) <= MAX_COST))[:1].tolist():
        of = "backing off" if label[wrong] > len(words) else repr(words[label[wrong] - 1])
        raise _no_cost(name, cost[wrong], of)
    final = np.full(n_states, IMPOSSIBLE)
    for state, own in final_costs.items():
        if not abs(own) <= MAX_COST:
            raise _no_cost(name, own, "the end")
        final[state] = own
    order = np.lexsort((label, source))
    label = label[order]
    arrays = AutomatonArrays(
        start=start,
        final_cost=final.astype(np.float32),
        arc_start=np.searchsorted(source[order], np.arange(n_states + 1)),
        input_label=label,
        output_label=np.where(label > len(words), 0, label),
        cost=cost[order].astype(np.float32),
        target=target[order],
    )
    return Grammar(name, words, _sorted_automaton(arrays), tuple(sorted(left_out)))


def _sorted_automaton(arrays: "AutomatonArrays") -> "kaldifst.StdVectorFst":
    import kaldifst

    from asr.grammar.automaton_arrays import automaton_of

    fst = automaton_of(arrays)
    kaldifst.arcsort(fst, sort_type="ilabel")  # marks it as sorted
    return fst


def _no_cost(name: str, cost: float, of: str) -> GrammarError:
    return GrammarError(
        f"Grammar {name!r}: the cost of {of} is {cost:g}. Expected a finite cost, -ln p, within {MAX_COST:g} of 0."
    )


def distinct_words(words: Iterable[str]) -> tuple[str, ...]:
    """Return `words` in Unicode's NFC, without repetition, sorted.

    Raises GrammarError without words, or for an empty word or one with white space or invisible characters.
    """
    distinct = tuple(sorted(set(map(nfc, words))))
    if not distinct:
        raise GrammarError("A grammar needs at least one word.")
    for word in distinct:
        fault = fault_in_word(word)
        if fault is not None:
            raise GrammarError(f"{word!r} cannot be a word of a grammar: it {fault}.")
    return distinct
