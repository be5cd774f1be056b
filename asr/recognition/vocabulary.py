"""Recognizable words of a model: those whose phones were seen in training."""

import logging
import re
from collections.abc import Collection, Iterable, Sequence

from asr.acoustic.model_file import SpeechModel
from asr.grammar.filler import FILLER_WORD
from asr.grammar.network import meaning
from asr.lexicon import Lexicon
from asr.lexicon.lexicon import Pronunciation, without_stress
from asr.util.counted_text import count, some
from asr.util.errors import LexiconError, printable
from asr.util.unicode_text import without_punctuation

log = logging.getLogger(__name__)

_NO_WORD = re.compile(r"<.*>")  # marks such as <UNK> and <SPOKEN_NOISE>, which are not words


def recognizable(model: SpeechModel, *, allow_oov_phones: bool = False) -> Lexicon:
    """Return the model's lexicon restricted to recognizable words.

    Pronunciations with untrained phones are left out because their scores are arbitrary, as are words in angle
    brackets; `allow_oov_phones` keeps all.

    Raises
    ------
    LexiconError
        If no word remains.
    """
    if allow_oov_phones:
        return model.lexicon
    kept, untrained_words, marks = _divided(model)
    if not kept:
        message = _left_out(model, untrained_words, marks)
        raise LexiconError(f"{model.lexicon.source}: no word can be recognized. {message}")
    return model.lexicon.restricted(kept)


def log_excluded_words(model: SpeechModel, lexicon: Lexicon, among: Collection[str] | None = None) -> None:
    """Log in one line which words of the model, or of a grammar (`among`), cannot be recognized, and why."""
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
            f"{some(untrained_words)} ({count(len(untrained_words), 'word')}), because of the untrained phones {phones}"
        )
    if marks:
        reasons.append(f"{some(marks)}, because of the angle brackets")
    remedy = "Use --allow-oov-phones (allow_oov_phones=True) to recognize all words"
    return f"words that cannot be recognized: {'; '.join(reasons)}. {remedy}"


def require_word(word: str, *, allow_oov_phones: bool = False) -> None:
    """Raise LexiconError, with the reason, for a word that could never be recognized."""
    stands_for = meaning(word)
    if stands_for:
        raise LexiconError(f"{word!r} cannot be added as a word: in grammars it means {stands_for}. Use another name")
    if _NO_WORD.fullmatch(word) and not allow_oov_phones:
        raise LexiconError(
            f"{word!r} cannot be added as a word, because names in angle brackets are marks. Use another name, or "
            "load the model with allow_oov_phones=True"
        )


def warn_untrained_phones(word: str, phones: Iterable[str], untrained: Collection[str]) -> None:
    """Log that a pronunciation with untrained phones can only be used for alignment."""
    untrained_words = [phone for phone in dict.fromkeys(phones) if phone in untrained]
    if untrained_words:
        message = f"This pronunciation of {word} can be aligned but not recognized, because of the untrained phones "
        remedy = "Load the model with allow_oov_phones=True, or use other phones"
        log.warning("%s", printable(f"{message}{' '.join(untrained_words)}. {remedy}"))


def vocabulary_line(model: SpeechModel, transcripts: Iterable[Iterable[str]]) -> str:
    """Describe the model's words in one line: how many occurred in training, and which cannot be recognized."""
    said = {word for words in transcripts for word in words}
    never = sum(word not in said for word in model.lexicon.words)
    _, untrained_words, _ = _divided(model)
    line = f"lexicon: {count(len(model.lexicon), 'word')}, {never:,} of them not in the training transcripts"
    if untrained_words:
        line += (
            f"; {count(len(untrained_words), 'word')} ({some(untrained_words)}) cannot be recognized, because of "
            f"the untrained phones {' '.join(model.untrained)}"
        )
    return printable(line)


def phones_of(word: str, pronunciation: str | Sequence[str], phones: Sequence[str]) -> tuple[str, ...]:
    """Return a pronunciation as phones of a model; stress digits that the model lacks are removed.

    Raises LexiconError for an unknown phone.
    """
    found = tuple(pronunciation.split()) if isinstance(pronunciation, str) else tuple(pronunciation)
    if not set(found) <= set(phones) and set(map(without_stress, found)) <= set(phones):
        found = tuple(map(without_stress, found))  # as in training
    unknown = [phone for phone in found if phone not in phones]
    if unknown:
        raise LexiconError(
            f"the pronunciation of {word!r} has {unknown[0]!r}, which is not a phone of the model. Its phones "
            f"are {' '.join(phones)}"
        )
    return found


def other_case(words: Iterable[str], lexicon: Lexicon, *, of_file: bool = True) -> str:
    """Return a hint if the lexicon has words in another letter case, or without surrounding marks; else "".

    If all words `of_file` fit in the lexicon's letter case, the hint gives the command that makes a converted copy.
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
        hints.append(f"letter case matters, and {lexicon.source} has {pairs}")
        upper = all(spelt[word.casefold()] == word.upper() for word in meant)
        lower = all(spelt[word.casefold()] == word.lower() for word in meant)
        if of_file and not rest and (upper or lower):
            hints.append(f"`tr {('a-z A-Z' if upper else 'A-Z a-z')}` makes a matching copy")
    if marked:
        without = some((f"{word} for {marked[word]}" for word in sorted(marked)), 3)
        hints.append(f"words must not have punctuation marks, as here {without}")
    return "; ".join(hints)


def _divided(model: SpeechModel) -> tuple[dict[str, tuple[Pronunciation, ...]], list[str], list[str]]:
    """Return the recognizable words, those whose variants all have untrained phones, and marks."""
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
