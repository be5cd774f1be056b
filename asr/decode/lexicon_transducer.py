"""The lexicon as a transducer from phones to words, with optional pauses: the L of L o G.

The first phone of every word has its own input label. That keeps word boundaries exact through determinization. It also
makes the division of a phone string into words unique, so only homophones need disambiguation symbols.
"""

import math
from collections import Counter
from typing import TYPE_CHECKING

from asr.grammar import Grammar
from asr.grammar.filler import FILLER_WORD
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology
from asr.lexicon import Lexicon
from asr.util.errors import LexiconError

if TYPE_CHECKING:
    import kaldifst


class InputLabels:
    """Input labels: 1 + 2 * phone number, plus 1 if the phone begins a word; higher labels take no frames."""

    def __init__(self, topology: Topology) -> None:
        self._numbers = topology.phone_number
        self.filler = 2 + 2 * len(topology.phone_names)
        """The filler counts as a phone that begins a word, numbered after the model's phones."""
        self.back_off = self.filler + 1
        """The back-off symbol; labels from here on take no frames."""
        self.no_pause = self.back_off + 1

    def of(self, phone: str, begins_word: bool) -> int:
        """Return the label of a phone."""
        return 1 + 2 * self._numbers[phone] + begins_word

    def homophone(self, number: int) -> int:
        """Return the disambiguation label of the number-th (1, 2, ...) homophone."""
        return self.no_pause + number


def uses_filler(lexicon: Lexicon, grammar: Grammar) -> bool:
    """Return whether the grammar has the filler; a word of this name in the lexicon is an ordinary word."""
    return FILLER_WORD in grammar.words and FILLER_WORD not in lexicon.pronunciations


def lexicon_transducer(
    lexicon: Lexicon, grammar: Grammar, topology: Topology, labels: InputLabels
) -> "kaldifst.StdVectorFst":
    """Return the pronunciations of the grammar's words, in a loop, sorted by output label.

    Silence may begin an utterance; a short pause or silence may follow every word, unless the lexicon marks silence. No
    pause has its own label too: as an epsilon, its removal would double every arc that begins a word. The first phone
    of a word has the cost of its pronunciation, the negative logarithm of its probability. Raises LexiconError if a
    pronunciation has an
    unknown phone.
    """
    import kaldifst

    pronunciations = [
        (number, pronunciation)
        for number, word in enumerate(grammar.words, start=1)
        for pronunciation in lexicon.pronunciations.get(word, ())
    ]
    for number, pronunciation in pronunciations:
        for phone in pronunciation:
            if phone != SILENCE and phone not in topology.phones:
                raise LexiconError(
                    f"word {grammar.words[number - 1]!r} uses phone {phone!r}, which is not in the model. Its "
                    f"phones are {' '.join(topology.phones)}"
                )
    homophones = Counter(pronunciation for _, pronunciation in pronunciations)
    seen: Counter[tuple[str, ...]] = Counter()

    fst = kaldifst.StdVectorFst()
    begin, between, after = fst.add_state(), fst.add_state(), fst.add_state()
    fst.start = begin
    fst.set_final(between, 0.0)
    silence = labels.of(SILENCE, False)
    pause = labels.of(SHORT_PAUSE, False)
    n_allowed = 1 if lexicon.marks_silence else 3
    for source, pauses in ((begin, (labels.no_pause, silence)), (after, (labels.no_pause, silence, pause))):
        for label in pauses[:n_allowed]:
            fst.add_arc(source, kaldifst.StdArc(label, 0, 0.0, between))
    fst.add_arc(between, kaldifst.StdArc(labels.back_off, len(grammar.words) + 1, 0.0, between))
    if uses_filler(lexicon, grammar):
        fst.add_arc(between, kaldifst.StdArc(labels.filler, grammar.labels[FILLER_WORD], 0.0, after))
    for number, pronunciation in pronunciations:
        inputs = [labels.of(phone, position == 0) for position, phone in enumerate(pronunciation)]
        cost = 0.0 - math.log(lexicon.probability(grammar.words[number - 1], pronunciation))
        if homophones[pronunciation] > 1:
            seen[pronunciation] += 1
            inputs.append(labels.homophone(seen[pronunciation]))
        source = between
        for position, label in enumerate(inputs):
            target = after if position == len(inputs) - 1 else fst.add_state()
            first = position == 0
            fst.add_arc(source, kaldifst.StdArc(label, number if first else 0, cost if first else 0.0, target))
            source = target
    kaldifst.arcsort(fst, sort_type="olabel")
    return fst
