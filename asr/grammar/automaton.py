"""A grammar as a weighted finite-state acceptor over words."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from asr.util.errors import GrammarError
from asr.util.unicode_text import fault_in_word, nfc

if TYPE_CHECKING:
    import kaldifst

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
        """Return the fields, for `pickle` and `copy`, with the automaton as numbers."""
        import kaldifst

        arcs = [
            (state, arc.ilabel, arc.olabel, arc.weight.value, arc.nextstate)
            for state in range(self.fst.num_states)
            for arc in kaldifst.ArcIterator(self.fst, state)
        ]
        return {
            "name": self.name,
            "words": self.words,
            "left_out": self.left_out,
            "fst": (self.fst.start, self.final_costs, arcs),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the fields."""
        import kaldifst

        fst = kaldifst.StdVectorFst()
        start, final_costs, arcs = state["fst"]
        for number, cost in enumerate(final_costs):
            fst.add_state()
            if cost < IMPOSSIBLE:
                fst.set_final(number, cost)
        fst.start = start
        for source, read, written, cost, target in arcs:
            fst.add_arc(source, kaldifst.StdArc(read, written, cost, target))
        kaldifst.arcsort(fst, sort_type="ilabel")  # marks it as sorted
        vars(self).update(state, fst=fst)

    @property
    def back_off_label(self) -> int:
        """The label of `#0`."""
        return len(self.words) + 1

    @cached_property
    def arcs(self) -> tuple[dict[int, tuple[int, float]], ...]:
        """The arcs of every state: input label -> (next state, cost)."""
        import kaldifst

        return tuple(
            {arc.ilabel: (arc.nextstate, arc.weight.value) for arc in kaldifst.ArcIterator(self.fst, state)}
            for state in range(self.fst.num_states)
        )

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
    import kaldifst

    words = distinct_words(words)
    labels = {word: label for label, word in enumerate(words, 1)}
    fst = kaldifst.StdVectorFst()
    for _ in range(n_states):
        fst.add_state()
    fst.start = start
    for arc in arcs:
        if not abs(arc.cost) <= MAX_COST:
            raise _no_cost(name, arc.cost, "backing off" if arc.word is None else repr(arc.word))
        label = len(words) + 1 if arc.word is None else labels[nfc(arc.word)]
        fst.add_arc(arc.source, kaldifst.StdArc(label, 0 if arc.word is None else label, arc.cost, arc.target))
    for state, cost in final_costs.items():
        if not abs(cost) <= MAX_COST:
            raise _no_cost(name, cost, "the end")
        fst.set_final(state, cost)
    kaldifst.arcsort(fst, sort_type="ilabel")
    return Grammar(name, words, fst, tuple(sorted(left_out)))


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
