"""The lexicon as a transducer from phones to words, pauses between them included: the L of L o G.

The first phone of every word has an input label of its own. That keeps word boundaries exact through determinisation
(a word starts where such a label is entered), and it makes the division of a phone string into words unique, so that
only homophones need disambiguation symbols.
"""

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
    """1 + 2 * phone number, plus one where the phone begins a word; above them what takes no time."""

    def __init__(self, topology: Topology) -> None:
        self._numbers = topology.phone_number
        self.filler = 2 + 2 * len(topology.phone_names)
        """Of the filler: it counts as a phone that begins a word, with a number after those of the model's phones."""
        self.back_off = self.filler + 1
        """Of the back-off symbol; from here on labels take no time."""
        self.no_pause = self.back_off + 1

    def of(self, phone: str, begins_word: bool) -> int:
        """The label of a phone."""
        return 1 + 2 * self._numbers[phone] + begins_word

    def homophone(self, number: int) -> int:
        """The label after the number-th (1, 2, ...) of words that sound alike."""
        return self.no_pause + number


def uses_filler(lexicon: Lexicon, grammar: Grammar) -> bool:
    """Return whether the grammar has the filler; a word of this name in the lexicon is an ordinary word."""
    return FILLER_WORD in grammar.words and FILLER_WORD not in lexicon.pronunciations


def lexicon_transducer(
    lexicon: Lexicon, grammar: Grammar, topology: Topology, labels: InputLabels
) -> "kaldifst.StdVectorFst":
    """The pronunciations of the grammar's words, in a loop, sorted by output label.

    Silence may begin an utterance; nothing, a short pause or a full silence may follow every word. That there is no
    pause has a label of its own too: were it an epsilon, its removal would double every arc that begins a word, one
    for what follows a pause and one for what does not.

    Raises
    ------
    LexiconError
        If a pronunciation has a phone that the topology lacks.
    """
    import kaldifst

    pronunciations = [
        (number, pronunciation)
        for number, word in enumerate(grammar.words, start=1)
        for pronunciation in lexicon.pronunciations.get(word, ())
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

    fst = kaldifst.StdVectorFst()
    begin, between, after = fst.add_state(), fst.add_state(), fst.add_state()
    fst.start = begin
    fst.set_final(between, 0.0)
    silence = labels.of(SILENCE, False)
    pause = labels.of(SHORT_PAUSE, False)
    for source, pauses in ((begin, (labels.no_pause, silence)), (after, (labels.no_pause, silence, pause))):
        for label in pauses:
            fst.add_arc(source, kaldifst.StdArc(label, 0, 0.0, between))
    fst.add_arc(between, kaldifst.StdArc(labels.back_off, len(grammar.words) + 1, 0.0, between))
    if uses_filler(lexicon, grammar):
        fst.add_arc(between, kaldifst.StdArc(labels.filler, grammar.labels[FILLER_WORD], 0.0, after))
    for number, pronunciation in pronunciations:
        inputs = [labels.of(phone, position == 0) for position, phone in enumerate(pronunciation)]
        if homophones[pronunciation] > 1:
            seen[pronunciation] += 1
            inputs.append(labels.homophone(seen[pronunciation]))
        source = between
        for position, label in enumerate(inputs):
            target = after if position == len(inputs) - 1 else fst.add_state()
            fst.add_arc(source, kaldifst.StdArc(label, number if position == 0 else 0, 0.0, target))
            source = target
    kaldifst.arcsort(fst, sort_type="olabel")
    return fst
