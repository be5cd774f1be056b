"""The pronunciation dictionary that the aligner, the graph compiler and the command line share."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from asr.util.errors import LexiconError
from asr.util.unicode_text import fault_in_word, nfc

Pronunciation = tuple[str, ...]

SILENCE, SHORT_PAUSE = "SIL", "SP"
"""Names of the models of silence and of short pauses (`asr.hmm.topology`)."""

MAX_PRONUNCIATION_LENGTH = 1000
"""Phones; a whole sentence misread as a word has a hundred."""
MAX_VARIANTS = 1000
MAX_PHONES = 50_000
"""Different phones; a lexicon with more has words instead of phones."""

STRESSED_PHONE = re.compile(r"(.*\D)[0-2]", re.DOTALL)


def without_stress(phone: str) -> str:
    """Return `phone` without the final stress digit of the CMU phone set: AH0, AH1 and AH2 become AH."""
    match = STRESSED_PHONE.fullmatch(phone)
    return match.group(1) if match else phone


VOWELS = frozenset("AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW".split())
"""Vowels of the CMU phones, an ARPAbet without stress."""
_CONSONANTS = frozenset("B CH D DH F G HH JH K L M N NG P R S SH T TH V W Y Z ZH".split())
_NOISES = frozenset("SIL SP SPN NSN".split())


def marks_stress(phones: Iterable[str]) -> bool:
    """Return whether these are the CMU phones with stress digits 0, 1 or 2, in either letter case.

    At least two thirds of the different vowels must have a digit, so that a few may lack it by mistake.
    """
    speech = {phone.upper() for phone in phones} - _NOISES
    vowels = speech - _CONSONANTS
    bare = vowels & VOWELS
    marked = vowels - bare
    cmu = all(phone[:-1] in VOWELS and phone[-1] in "012" for phone in marked)
    return bool(marked) and cmu and len(marked) >= 2 * len(bare)


@dataclass(frozen=True)
class Lexicon:
    """Words and their pronunciations, in Unicode's NFC; letter case is kept.

    Raises LexiconError if `pronunciations` is empty, a word has no variant, a variant no phones, or a name is empty or
    has white space or invisible characters. Also if a pronunciation is too long, a word has too many variants, or there
    are too many different phones.

    Parameters
    ----------
    pronunciations : mapping from a word to its variants, each a tuple of phones
        The order of the variants is kept; duplicates count once.
    source : str
        Origin of the words, such as a file name, for messages. Ignored when lexicons are compared, as are the
        following.
    silent : tuple of str
        Words that the reader left out, because they are silence.
    stress : str
        Sentence about the handling of stress digits; may be empty.
    numbers : str
        Sentence about the handling of number columns; may be empty.
    graphemes : bool
        Whether the phones are the letters of the words (`asr.lexicon.graphemes`), so that new words can be spelled.
    multigraphs : mapping from letters to phones
        Phones of sequences of letters, for this spelling (`asr.lexicon.multigraphs`).
    probabilities : mapping from (word, variant) to float
        Probabilities of variants, above 0 and at most 1; others have 1. They are divided by the largest of the word, as
        in Kaldi. Probabilities of 1 are then left out. They count when lexicons are compared.

    Examples
    --------
    >>> from asr.lexicon import Lexicon
    >>> lexicon = Lexicon({"ONE": (("W", "AH", "N"),)})
    >>> lexicon.words, lexicon.phones
    (('ONE',), ('AH', 'N', 'W'))
    """

    pronunciations: Mapping[str, tuple[Pronunciation, ...]]
    source: str = field(default="the lexicon", compare=False)
    silent: tuple[str, ...] = field(default=(), compare=False)
    stress: str = field(default="", compare=False)
    numbers: str = field(default="", compare=False)
    graphemes: bool = field(default=False, compare=False)
    multigraphs: Mapping[str, Pronunciation] = field(default_factory=dict, compare=False)
    probabilities: Mapping[tuple[str, Pronunciation], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.pronunciations:
            raise LexiconError(f"{self.source} has no words; give at least one line 'WORD phone phone ...'.")
        checked: dict[str, tuple[Pronunciation, ...]] = {}
        phones: set[str] = set()
        for word, variants in self.pronunciations.items():
            word = nfc(word)
            spoken = (tuple(map(nfc, variant)) for variant in variants)
            checked[word] = tuple(dict.fromkeys((*checked.get(word, ()), *spoken)))
            if len(checked[word]) > MAX_VARIANTS:
                raise LexiconError(
                    f"{self.source}: the word {word!r} has {len(checked[word])} variants. Expected at most "
                    f"{MAX_VARIANTS}."
                )
            for variant in checked[word] or ((),):
                fault = fault_in_entry(word, variant, phones)
                if fault is not None:
                    raise LexiconError(f"{self.source}: {fault}.")
                phones.update(variant)
            if len(phones) > MAX_PHONES:
                raise LexiconError(
                    f"{self.source}: has more than {MAX_PHONES} different phones. Expected a word and its phones on a "
                    "line, not a sentence."
                )
        object.__setattr__(self, "pronunciations", MappingProxyType(checked))
        object.__setattr__(self, "probabilities", MappingProxyType(self._relative()))
        object.__setattr__(self, "multigraphs", MappingProxyType(dict(self.multigraphs)))

    def _relative(self) -> dict[tuple[str, Pronunciation], float]:
        """Return the probabilities divided by the largest of the word, without those of 1 and of other words."""
        given: dict[tuple[str, Pronunciation], float] = {}
        for (word, variant), probability in self.probabilities.items():
            if not 0.0 < probability <= 1.0:
                raise LexiconError(
                    f"{self.source}: the word {word!r} has the probability {probability!r}. Expected a number above 0, "
                    "at most 1."
                )
            key = nfc(word), tuple(map(nfc, variant))
            given[key] = max(probability, given.get(key, 0.0))
        relative = {}
        for word in sorted({word for word, _ in given}.intersection(self.pronunciations)):
            found = {variant: given.get((word, variant), 1.0) for variant in self.pronunciations[word]}
            largest = max(found.values())
            relative.update({(word, one): p / largest for one, p in found.items() if p < largest})
        return relative

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, for `pickle` and `copy`, which do not support read-only mappings."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in values.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the fields."""
        for name, value in state.items():
            object.__setattr__(self, name, MappingProxyType(value) if isinstance(value, dict) else value)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All words, sorted."""
        return tuple(sorted(self.pronunciations))

    @cached_property
    def by_folded(self) -> dict[str, str]:
        """Words of the lexicon by their case-folded form (Unicode)."""
        return {word.casefold(): word for word in self.words}

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the handling of silence, stress and numbers by the reader."""
        silence = f"{self.source}: left out {' '.join(self.silent)}, which is silence and no word"
        return (*([silence] if self.silent else []), *filter(None, (self.stress, self.numbers)))

    @cached_property
    def phones(self) -> tuple[str, ...]:
        """All phones of the words, sorted, without the silence model."""
        return tuple(sorted(self._sounds - {SILENCE}))

    @property
    def marks_silence(self) -> bool:
        """Whether a word is silence, so that there are no optional pauses between words (`asr.lexicon.phone_units`)."""
        return SILENCE in self._sounds

    @cached_property
    def _sounds(self) -> frozenset[str]:
        return frozenset(phone for word in self.pronunciations.values() for variant in word for phone in variant)

    def __contains__(self, word: object) -> bool:
        return word in self.pronunciations

    def __len__(self) -> int:
        return len(self.pronunciations)

    def __getitem__(self, word: str) -> tuple[Pronunciation, ...]:
        try:
            return self.pronunciations[word]
        except KeyError:
            raise LexiconError(f"{self.source} has no word {word!r}; add a line with its pronunciation.") from None

    def probability(self, word: str, variant: Pronunciation) -> float:
        """Return the probability of `variant`, relative to the most likely variant of `word`."""
        return self.probabilities.get((word, variant), 1.0)

    def out_of_vocabulary(self, utterances: Iterable[Iterable[str]]) -> Counter[str]:
        """Count the words of the transcripts `utterances` that the lexicon lacks."""
        return Counter(word for words in utterances for word in words if word not in self.pronunciations)

    def untrained_phones(self, utterances: Iterable[Iterable[str]]) -> tuple[str, ...]:
        """Return the phones that no pronunciation of the words of the transcripts `utterances` has, sorted."""
        said = {word for words in utterances for word in words}
        heard = {phone for word in said for variant in self.pronunciations.get(word, ()) for phone in variant}
        return tuple(phone for phone in self.phones if phone not in heard)

    def subset(self, words: Iterable[str]) -> "Lexicon":
        """Return the lexicon of `words` only; LexiconError for an unknown word."""
        return self.restricted({word: self[word] for word in words})

    def restricted(self, pronunciations: Mapping[str, tuple[Pronunciation, ...]]) -> "Lexicon":
        """Return the lexicon of `pronunciations`, which are some of its own."""
        return replace(self, pronunciations=pronunciations, silent=(), stress="", numbers="")

    def require_phones(self, known: Iterable[str]) -> None:
        """Raise LexiconError, with the word, if a pronunciation has a phone that is not in `known`."""
        inventory = {SILENCE, *known}
        for word in self.words:
            for phone in (phone for variant in self.pronunciations[word] for phone in variant):
                if phone not in inventory:
                    raise LexiconError(
                        f"{self.source}: the word {word!r} uses the phone {phone!r}, which is unknown; "
                        f"the known phones are {' '.join(sorted(inventory - {SILENCE}))}."
                    )

    def digest(self) -> str:
        """Return the SHA-256 (hexadecimal) of words, variants in order, probabilities below 1, and multigraphs."""
        total = hashlib.sha256()
        for word in self.words:
            for variant in self.pronunciations[word]:
                total.update(" ".join((word, *variant)).encode() + b"\n")
                if (word, variant) in self.probabilities:
                    total.update(f"\t{self.probabilities[word, variant]!r}\n".encode())
        for letters, phones in sorted(self.multigraphs.items()):
            total.update(" ".join(("\t\t" + letters, *phones)).encode() + b"\n")
        return total.hexdigest()


def fault_in_entry(word: str, phones: Pronunciation, known: Collection[str] = ()) -> str | None:
    """Return why a word or its pronunciation is invalid; None if valid. `known` are valid phones."""
    fault = fault_in_word(word)
    if fault is not None:
        return f"{word!r} cannot be a word; it {fault}"
    if not phones:
        return f"the word {word!r} has no phones; write them after the word, or remove it"
    if len(phones) > MAX_PRONUNCIATION_LENGTH:
        return f"the word {word!r} has {len(phones)} phones. Expected at most {MAX_PRONUNCIATION_LENGTH}"
    for phone in phones:
        if phone not in known and (fault := fault_in_word(phone)) is not None:
            return f"{phone!r} cannot be a phone of the word {word!r}; it {fault}"
    return None


def with_own_phones(lexicon: Lexicon) -> Lexicon:
    """Return the lexicon with phones that no two words share: `AH` at position 1 of `ONE` is `AH_ONE_1`.

    Positions start at 0; variants of a word share equal phones at the same position. Models trained with it are word
    models, which recognize only words of the training data.

    Parameters
    ----------
    lexicon : Lexicon
        The lexicon.

    Returns
    -------
    Lexicon
        The same words with other phones.

    Examples
    --------
    >>> from asr.lexicon import Lexicon, with_own_phones
    >>> lexicon = Lexicon({"ONE": (("W", "AH", "N"),)})
    >>> with_own_phones(lexicon)["ONE"]
    (('W_ONE_0', 'AH_ONE_1', 'N_ONE_2'),)
    """

    def own(word: str, variant: Pronunciation) -> Pronunciation:
        return tuple(f"{phone}_{word}_{place}" for place, phone in enumerate(variant))

    return Lexicon(
        {word: tuple(own(word, one) for one in variants) for word, variants in lexicon.pronunciations.items()},
        lexicon.source,
        probabilities={(word, own(word, one)): p for (word, one), p in lexicon.probabilities.items()},
    )
