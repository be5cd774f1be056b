"""Lexicon, grammar and phone models compiled into one static graph: determinised and minimized L o G, then units.

The recipe is that of Mohri, Pereira and Riley (2002), in the tropical semiring through OpenFst: compose, determinise,
minimize. The first phone of every word has an input label of its own. That keeps word boundaries exact through
determinisation (a word starts where such a label is entered), and it makes the division of a phone string into words
unique, so that only homophones need disambiguation symbols.
"""

from collections import Counter
from typing import TYPE_CHECKING

from asr.errors import DecodeError, LexiconError
from asr.grammar import Grammar
from asr.grammar.automaton import IMPOSSIBLE, LARGEST_COST
from asr.hmm.state_graph import NO_WORD, StateGraph, StateGraphBuilder
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology
from asr.lexicon import Lexicon

if TYPE_CHECKING:
    import kaldifst

COST_PRECISION = 1e-5
"""Costs that differ by less count as equal. OpenFst's own 1/1024 changes scores and saves next to nothing."""
MOST_PHONES = 30_000_000
"""Of all pronunciations at all arcs of the grammar, before anything is shared: some ten gigabytes of graph."""


def compile_graph(lexicon: Lexicon, grammar: Grammar, topology: Topology) -> StateGraph:
    """Compile the decoding graph.

    Silence may begin an utterance; nothing, a short pause or a full silence may follow every word.

    Raises
    ------
    LexiconError
        If a word of the grammar has no pronunciation, or one with a phone that the topology lacks.
    DecodeError
        If the grammar accepts no sentence, has a cost that is not finite or beyond `LARGEST_COST`, or the graph would
        be enormous.
    """
    missing = [word for word in grammar.words if word not in lexicon.pronunciations]
    if missing:
        shown = " ".join(missing[:10]) + (" ..." if len(missing) > 10 else "")
        raise LexiconError(
            f"grammar {grammar.name!r} uses {len(missing)} words that the lexicon lacks: {shown}; add pronunciations"
        )
    _check_arcs(lexicon, grammar)
    labels = _PhoneLabels(topology)
    transducer, first_disambiguation = _lexicon_transducer(lexicon, grammar, topology, labels)
    composed = _compose(transducer, grammar)
    if composed.start < 0:
        raise DecodeError(f"grammar {grammar.name!r} accepts no sentence over the lexicon")
    return _expand(composed, grammar.words, topology, labels, first_disambiguation)


def _check_arcs(lexicon: Lexicon, grammar: Grammar) -> None:
    """Determinisation never ends where costs are not finite, and cannot be interrupted."""
    import kaldifst

    n_phones = [0, *(sum(map(len, lexicon.pronunciations[word])) for word in grammar.words), 0]
    total = 0
    for state in range(grammar.fst.num_states):
        final = grammar.fst.final(state).value
        if final != IMPOSSIBLE and not abs(final) <= LARGEST_COST:
            raise _no_cost(grammar, final)
        for arc in kaldifst.ArcIterator(grammar.fst, state):
            if not abs(arc.weight.value) <= LARGEST_COST:
                raise _no_cost(grammar, arc.weight.value)
            total += n_phones[arc.ilabel]
    if total > MOST_PHONES:
        raise DecodeError(
            f"the graph of grammar {grammar.name!r} would have {total} phones, more than {MOST_PHONES}; the grammar "
            "needs fewer n-grams, or the lexicon fewer pronunciations"
        )


def _no_cost(grammar: Grammar, cost: float) -> DecodeError:
    return DecodeError(
        f"grammar {grammar.name!r} has an arc or an end of cost {cost:g}; costs, -ln p, must be finite and within "
        f"{LARGEST_COST:g} of 0"
    )


class _PhoneLabels:
    """Input labels: 1 + 2 * phone number, plus one where the phone begins a word."""

    def __init__(self, topology: Topology) -> None:
        self._numbers = topology.phone_number
        self.names = topology.phone_names
        self.first_free = 1 + 2 * len(topology.phone_names)

    def label(self, phone: str, begins_word: bool) -> int:
        return 1 + 2 * self._numbers[phone] + begins_word

    def phone(self, label: int) -> tuple[str, bool]:
        return self.names[(label - 1) // 2], bool((label - 1) % 2)


def _lexicon_transducer(
    lexicon: Lexicon, grammar: Grammar, topology: Topology, labels: _PhoneLabels
) -> "tuple[kaldifst.StdVectorFst, int]":
    import kaldifst

    pronunciations = [
        (number, pronunciation)
        for number, word in enumerate(grammar.words, start=1)
        for pronunciation in lexicon.pronunciations[word]
    ]
    for number, pronunciation in pronunciations:
        for phone in pronunciation:
            if phone not in topology.phones:
                raise LexiconError(
                    f"word {grammar.words[number - 1]!r} uses phone {phone!r}, which the model lacks; "
                    f"its phones are {' '.join(topology.phones)}"
                )
    homophones = Counter(pronunciation for _, pronunciation in pronunciations)
    seen: Counter[tuple[str, ...]] = Counter()
    back_off = labels.first_free

    fst = kaldifst.StdVectorFst()
    begin, between, after = fst.add_state(), fst.add_state(), fst.add_state()
    fst.start = begin
    fst.set_final(between, 0.0)
    silence = labels.label(SILENCE, False)
    pause = labels.label(SHORT_PAUSE, False)
    for source, label in ((begin, 0), (begin, silence), (after, 0), (after, silence), (after, pause)):
        fst.add_arc(source, kaldifst.StdArc(label, 0, 0.0, between))
    fst.add_arc(between, kaldifst.StdArc(back_off, len(grammar.words) + 1, 0.0, between))
    for number, pronunciation in pronunciations:
        inputs = [labels.label(phone, position == 0) for position, phone in enumerate(pronunciation)]
        if homophones[pronunciation] > 1:
            seen[pronunciation] += 1
            inputs.append(back_off + seen[pronunciation])
        source = between
        for position, label in enumerate(inputs):
            target = after if position == len(inputs) - 1 else fst.add_state()
            fst.add_arc(source, kaldifst.StdArc(label, number if position == 0 else 0, 0.0, target))
            source = target
    return fst, back_off


def _compose(transducer: "kaldifst.StdVectorFst", grammar: Grammar) -> "kaldifst.StdVectorFst":
    import kaldifst

    kaldifst.arcsort(transducer, sort_type="olabel")
    composed = kaldifst.compose(transducer, grammar.fst)
    kaldifst.determinize_star(composed, delta=COST_PRECISION, use_log=False)
    kaldifst.minimize_encoded(composed, delta=COST_PRECISION)
    return composed


def _expand(
    fst: "kaldifst.StdVectorFst",
    words: tuple[str, ...],
    topology: Topology,
    labels: _PhoneLabels,
    first_disambiguation: int,
) -> StateGraph:
    """Replace every phone label by its chain of units and every other label by a jump."""
    import kaldifst

    units = {phone: topology.units(phone) for phone in topology.phone_names}
    builder = StateGraphBuilder(words)
    nodes = [builder.node() for _ in range(fst.num_states)]
    for state in range(fst.num_states):
        cost = fst.final(state).value
        if cost != float("inf"):
            builder.finish(nodes[state], -cost)
        for arc in kaldifst.ArcIterator(fst, state):
            word = arc.olabel - 1 if 1 <= arc.olabel <= len(words) else NO_WORD
            weight = -arc.weight.value
            start, end = nodes[state], nodes[arc.nextstate]
            if arc.ilabel == 0 or arc.ilabel >= first_disambiguation:
                builder.jump(start, end, weight=weight, word=word)
            else:
                phone, begins_word = labels.phone(arc.ilabel)
                builder.chain(start, end, units[phone], weight=weight, word=word, begins_word=begins_word)
    return builder.build(nodes[fst.start])
