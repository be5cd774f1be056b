"""Which words of a model can be recognized: those that training says something of."""

import logging
import re
from collections.abc import Collection, Iterable, Sequence

from asr.acoustic.model_file import SpeechModel
from asr.grammar.filler import FILLER_WORD
from asr.grammar.marks import meaning
from asr.lexicon import Lexicon
from asr.lexicon.lexicon import Pronunciation, without_stress
from asr.util.counted_text import count, some
from asr.util.errors import LexiconError, printable
from asr.util.unicode_text import without_punctuation

log = logging.getLogger(__name__)

_NO_WORD = re.compile(r"<.*>")  # <UNK>, <SPOKEN_NOISE>: marks of what was said, and not what was said


def recognizable(model: SpeechModel, *, allow_oov_phones: bool = False) -> Lexicon:
    """The model's lexicon without what cannot be recognized.

    Left out are pronunciations with a phone that training never heard, since the score of such a phone is arbitrary,
    and words in angle brackets; with `allow_oov_phones` nothing is.

    Raises
    ------
    LexiconError
        When no word is left.
    """
    if allow_oov_phones:
        return model.lexicon
    kept, untrained_words, marks = _divided(model)
    if not kept:
        message = _left_out(model, untrained_words, marks)
        raise LexiconError(f"{model.lexicon.source}: no word is left; {message}")
    return Lexicon(kept, model.lexicon.source)


def tell_left_out(model: SpeechModel, lexicon: Lexicon, among: Collection[str] | None = None) -> None:
    """Log in one line which words of the model are not in the lexicon of those that can be recognized, and why.

    `among` are the words of a grammar: of words that it does not have nobody has to know.
    """
    _, *left_out = _divided(model)
    untrained_words, marks = (
        [word for word in words if word not in lexicon and (among is None or word in among)] for words in left_out
    )
    if untrained_words or marks:
        log.warning("%s", printable(_left_out(model, untrained_words, marks)))


def _left_out(model: SpeechModel, untrained_words: Sequence[str], marks: Sequence[str]) -> str:
    reasons = []
    if untrained_words:
        phones = " ".join(model.untrained)
        reasons.append(
            f"{some(untrained_words)} ({count(len(untrained_words), 'word')}), as training never heard {phones}"
        )
    if marks:
        reasons.append(f"{some(marks)}, as a mark and no word")
    remedy = "--allow-oov-phones (allow_oov_phones=True) takes all"
    return f"left out of what can be recognized: {'; '.join(reasons)}; {remedy}"


def require_word(word: str, *, allow_oov_phones: bool = False) -> None:
    """Raise LexiconError, with the reason, for a name that could be added to a model but never be recognized."""
    stands_for = meaning(word)
    if stands_for:
        raise LexiconError(f"{word!r} cannot be added as a word: in grammars it is {stands_for}; take another name")
    if _NO_WORD.fullmatch(word) and not allow_oov_phones:
        raise LexiconError(
            f"{word!r} cannot be added as a word: a name in angle brackets is a mark, which is not recognized; take "
            "another name, or load the model with allow_oov_phones=True"
        )


def warn_untrained_phones(word: str, phones: Iterable[str], untrained: Collection[str]) -> None:
    """Log that a pronunciation serves to align alone, if it has phones that training never heard."""
    untrained_words = [phone for phone in dict.fromkeys(phones) if phone in untrained]
    if untrained_words:
        message = f"{word} with this pronunciation can be aligned, but not recognized, as training never heard "
        remedy = "load the model with allow_oov_phones=True, or take other phones"
        log.warning("%s", printable(f"{message}{' '.join(untrained_words)}; {remedy}"))


def vocabulary_line(model: SpeechModel, transcripts: Iterable[Iterable[str]]) -> str:
    """What training knows of the model's words, in one line: how many it heard, and which cannot be recognized."""
    said = {word for words in transcripts for word in words}
    never = sum(word not in said for word in model.lexicon.words)
    _, untrained_words, _ = _divided(model)
    line = f"lexicon: {count(len(model.lexicon), 'word')}, {never:,} of them not said in training"
    if untrained_words:
        line += (
            f"; {count(len(untrained_words), 'word')} ({some(untrained_words)}) cannot be recognized, as nobody said "
            f"the phones {' '.join(model.untrained)}"
        )
    return printable(line)


def phones_of(word: str, pronunciation: str | Sequence[str], phones: Sequence[str]) -> tuple[str, ...]:
    """A pronunciation as phones of a model; stress digits that the model lacks are left out.

    Raises LexiconError for a phone that it lacks in any case.
    """
    found = tuple(pronunciation.split()) if isinstance(pronunciation, str) else tuple(pronunciation)
    if not set(found) <= set(phones) and set(map(without_stress, found)) <= set(phones):
        found = tuple(map(without_stress, found))  # as training left them out of the lexicon
    unknown = [phone for phone in found if phone not in phones]
    if unknown:
        raise LexiconError(
            f"the pronunciation of {word!r} has {unknown[0]!r}, which is no phone of the model; its phones are "
            f"{' '.join(phones)}"
        )
    return found


def other_case(words: Iterable[str], lexicon: Lexicon, *, of_file: bool = True) -> str:
    """A hint at words that the lexicon has in another letter case, or without the marks at their ends; else empty.

    Words `of_file` may all fit in the letter case of the lexicon: then the command that makes such a copy is told.
    """
    spelt = lexicon.by_folded
    unknown = {word for word in words if word not in lexicon}
    meant = sorted(word for word in unknown if word.casefold() in spelt)
    rest = unknown.difference(meant)
    bare = {word: without_punctuation(word).casefold() for word in rest}
    marked = {word: spelt[bare[word]] for word in rest if bare[word] in spelt}
    hints = []
    if meant:
        pairs = some((f"{word} as {spelt[word.casefold()]}" for word in meant), 3)
        hints.append(f"letter case counts, and {lexicon.source} has {pairs}")
        upper = all(spelt[word.casefold()] == word.upper() for word in meant)
        lower = all(spelt[word.casefold()] == word.lower() for word in meant)
        if of_file and not rest and (upper or lower):
            hints.append(f"a copy made by `tr {'a-z A-Z' if upper else 'A-Z a-z'}` fits")
    if marked:
        without = some((f"{word} for {marked[word]}" for word in sorted(marked)), 3)
        hints.append(f"words have no punctuation marks, as here {without}")
    return "; ".join(hints)


def _divided(model: SpeechModel) -> tuple[dict[str, tuple[Pronunciation, ...]], list[str], list[str]]:
    """The words that can be recognized, those with untrained phones in every variant, and those that are marks."""
    kept, untrained_words, marks, untrained = {}, [], [], set(model.untrained)
    for word in model.lexicon.words:
        variants = tuple(variant for variant in model.lexicon[word] if untrained.isdisjoint(variant))
        if _NO_WORD.fullmatch(word) or word == FILLER_WORD:
            marks.append(word)
        elif variants:
            kept[word] = variants
        else:
            untrained_words.append(word)
    return kept, untrained_words, marks
