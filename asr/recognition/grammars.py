"""Grammars of the Python API: by name, as a file, as sentences, or as an automaton.

Models whose phones are letters (`asr.lexicon.graphemes`) spell the new words of a grammar.
"""

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import TypeAlias, TypeGuard

from asr.acoustic.model_file import SpeechModel
from asr.grammar import Grammar, arpa_grammar, one_word, read_grammar, word_loop, word_string
from asr.grammar.added_words import with_added_words
from asr.grammar.arpa_file import parse_arpa
from asr.grammar.filler import FILLER_WORD, SPELLING, is_misspelt_filler, without_filler
from asr.grammar.hparse import is_hparse
from asr.grammar.sentences import read_sentences, sentence_list
from asr.grammar.word_loop import MAX_STRING_LENGTH
from asr.lexicon import Lexicon
from asr.lexicon.graphemes import spell, with_spelled_words
from asr.lexicon.lexicon import Pronunciation
from asr.recognition.vocabulary import log_excluded_words, other_case
from asr.util.counted_text import count, some
from asr.util.errors import GrammarError, LexiconError, printable
from asr.util.text_lines import read_text_lines
from asr.util.unicode_text import nfc
from discriminants.util.paths import is_file

log = logging.getLogger(__name__)

_NAMED = 20
"""Maximum number of unknown words of a grammar in a message."""

GrammarChoice: TypeAlias = str | int | os.PathLike[str] | Iterable[str | Sequence[str]] | Grammar | None
"""None for the model's own grammar, "loop", "one", a number of words, a grammar file, sentences, or an `asr.grammar`
automaton.
"""


def settled(choice: GrammarChoice) -> GrammarChoice:
    """Return the choice in a form that can be read repeatedly: sentences as a tuple of tuples of words.

    Raises GrammarError for invalid grammars: an invalid number of words, a table, or no sentences.
    """
    if isinstance(choice, Integral) and not isinstance(choice, bool) and 1 <= choice <= MAX_STRING_LENGTH:
        return str(int(choice))
    if choice is None or isinstance(choice, str | os.PathLike | Grammar):
        return choice
    given: object = choice  # not checked by the type
    if not isinstance(given, Iterable) or isinstance(given, Mapping | bytes) or hasattr(given, "read"):
        raise GrammarError(f"{_shown(given)} is not a grammar. {_GRAMMARS}")
    sentences = []
    for sentence in given:
        words = tuple(sentence.split()) if isinstance(sentence, str) else sentence
        if not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
            raise GrammarError(f"{_shown(sentence)} is not a sentence. Expected text or a list of words")
        sentences.append(tuple(map(nfc, words)))
    return tuple(sentences)


_GRAMMARS = (
    f"Expected a list of sentences, 'loop', 'one', a number of words from 1 to {MAX_STRING_LENGTH}, the path of a "
    "grammar file, an automaton of asr.grammar, or None for the model's own grammar"
)


def _shown(value: object) -> str:
    return f"{value!r} ({type(value).__name__})"


def grammar_for(model: SpeechModel, lexicon: Lexicon, choice: GrammarChoice, added: Iterable[str] = ()) -> Grammar:
    """Return the grammar of a settled choice over the model's recognizable words.

    In the model's own n-gram, `added` words are as likely as its rarest word.

    Raises
    ------
    GrammarError
        If the file is missing or not a grammar, or a sentence has an unknown word.
    """
    if isinstance(choice, Grammar):
        return choice
    if choice is None and model.arpa is not None and added:
        log_excluded_words(model, lexicon)
        own = parse_arpa(model.arpa.splitlines(), "the model's own grammar")
        return arpa_grammar(with_added_words(own, added), lexicon.words)
    if choice is None or isinstance(choice, str | os.PathLike):
        return chosen_grammar(model, lexicon, choice)
    assert not isinstance(choice, int)  # settled
    sentences = [tuple(sentence) for sentence in choice]
    log_excluded_words(model, lexicon, {word for sentence in sentences for word in sentence})
    return _sentences(lexicon, sentences)


def _sentences(lexicon: Lexicon, listed: Sequence[tuple[str, ...]]) -> Grammar:
    """Return the grammar of all sentences; an unknown word is an error."""
    unknown = sorted({word for sentence in listed for word in without_filler(sentence) if word not in lexicon})
    if unknown:
        hint = _spelling(unknown, lexicon, of_file=False)
        remedy = f"; {hint}" if hint else ". Use add_word for each of them first"
        raise GrammarError(f"the model has no pronunciation for {', '.join(unknown)} in the sentences{remedy}")
    return sentence_list(listed)


def chosen_grammar(model: SpeechModel, lexicon: Lexicon, wanted: str | os.PathLike[str] | None) -> Grammar:
    """Return a command line's grammar: "loop", "one", a number of words, a file, or None for the model's own.

    `lexicon` has the recognizable words (`asr.recognition.vocabulary`); other words of the grammar are logged. Raises
    GrammarError if the file is not a grammar or shares no word with the lexicon.
    """
    words = lexicon.words
    if wanted in (None, "loop", "one") or is_number(wanted):
        log_excluded_words(model, lexicon)
    if wanted is None:
        return (
            word_loop(words)
            if model.arpa is None
            else arpa_grammar(parse_arpa(model.arpa.splitlines(), "the model's own grammar"), words)
        )
    if wanted == "loop":
        return word_loop(words)
    if wanted == "one":
        return one_word(words)
    if is_number(wanted):
        return word_string(words, int(wanted))
    _require_grammar_file(wanted)
    try:
        found = read_grammar(Path(wanted), vocabulary=words)
    except GrammarError as error:
        there = _words_of(Path(wanted))
        log_excluded_words(model, lexicon, there)
        # Errors of the grammar with this vocabulary do not name its file.
        named = str(error) if str(wanted) in str(error) else f"{wanted}: {error}"
        hint = _spelling(there, model.lexicon, of_file=FILLER_WORD not in there)
        raise GrammarError(f"{named}; {hint}" if hint else named) from error
    log_excluded_words(model, lexicon, found.left_out)
    unknown = [word for word in found.left_out if word not in model.lexicon]  # the others have been logged
    if not without_filler(found.words):
        hint = _spelling(unknown, model.lexicon, of_file=FILLER_WORD not in found.words)
        raise GrammarError(f"{wanted} and the model's lexicon have no word in common{hint and '; '}{hint}")
    reasons = []
    if unknown:
        reasons.append(f"the model has no pronunciation for {some(unknown, _NAMED)}")
        bare = found.name == "network" and FILLER_WORD[1:-1] in unknown  # [unk] is an optional word there
        plain = FILLER_WORD not in found.words  # whose spelling a change of all letters would change too
        reasons.append(SPELLING if bare else _spelling(unknown, model.lexicon, of_file=plain))
    if found.name == "sentences":
        reasons.insert(0, _left_out_sentences(Path(wanted), {*words, FILLER_WORD}))
    message = "; ".join(filter(None, reasons))
    if message:
        log.warning("%s", printable(f"{wanted}: {message}"))
    return found


def _spelling(unknown: Iterable[str], lexicon: Lexicon, *, of_file: bool = True) -> str:
    """Return a hint at the intended spelling of unknown words; may be empty."""
    unknown = set(unknown)
    fillers = {word for word in unknown if is_misspelt_filler(word)}
    hint = f"{SPELLING}, but the file has {some(sorted(fillers), 3)}" if fillers else ""
    return "; ".join(filter(None, (hint, other_case(unknown - fillers, lexicon, of_file=of_file))))


def is_number(wanted: str | os.PathLike[str] | None) -> TypeGuard[str]:
    """Whether a grammar is a number of words; a file with such a name is written `./7`."""
    return isinstance(wanted, str) and wanted.isascii() and wanted.isdecimal() and len(wanted) < 5


def _require_grammar_file(wanted: str | os.PathLike[str]) -> None:
    """Raise GrammarError unless the file exists, with a hint if it looks like a sentence."""
    if os.path.exists(wanted):  # noqa: PTH110 (of any text, also invalid paths)
        return
    if isinstance(wanted, str):
        shown = printable(repr(wanted), 300)
        raise GrammarError(
            f"the grammar {shown} is not the path of an existing file. Expected 'loop', 'one', a number of words, "
            "or the path of a grammar file (for example sentences, one per line). In Python, a list of sentences "
            f"is a grammar too: [{shown}]"
        )
    raise GrammarError(f"the grammar file {os.fspath(wanted)!r} does not exist")


def _left_out_sentences(path: Path, known: set[str]) -> str:
    """Describe the sentences of a grammar file with words that cannot be recognized; may be empty."""
    sentences = read_sentences(path)
    left_out = [" ".join(sentence) for sentence in sentences if not known.issuperset(sentence)]
    if not left_out:
        return ""
    shown = some((repr(sentence) for sentence in left_out), 3)
    return (
        f"{len(left_out):,} of {count(len(sentences), 'sentence')} left out, because not all of their words can be "
        f"recognized: {shown}"
    )


def _words_of(path: Path) -> set[str]:
    """Return all possible words of an unusable grammar file."""
    try:
        lines = read_text_lines(path, GrammarError)
        if is_hparse([line.strip() for line in lines]):
            return set()  # words are not separated by white space
        return {field.removeprefix(">").removeprefix("W=") for line in lines for field in line.split()}
    except GrammarError:
        return set()


def trained_phones(model: SpeechModel) -> frozenset[str]:
    """Return the phones of a model that occurred in training."""
    return frozenset(model.hmm.topology.phones).difference(model.untrained)


def spelled_lexicon(model: SpeechModel, lexicon: Lexicon, choice: GrammarChoice) -> Lexicon:
    """Return the lexicon with the words of a settled grammar that the letters of the model can spell."""
    return with_spelled_words(lexicon, _words(choice), trained_phones(model)) if lexicon.graphemes else lexicon


def spelled(model: SpeechModel, word: str) -> Pronunciation:
    """Return the pronunciation of a word from its letters; LexiconError if the model cannot spell it."""
    if not model.lexicon.graphemes:
        raise LexiconError(
            f"{word!r} has no pronunciation. Expected the phones of the word; only models that were trained with the "
            "lexicon 'graphemes' spell it by its letters."
        )
    found = spell(word, trained_phones(model), model.lexicon.multigraphs)
    if found is None:
        phones = " ".join(sorted(trained_phones(model)))
        raise LexiconError(f"{word!r} has letters that no word of the training has. The known letters are {phones}.")
    return found


def _words(choice: GrammarChoice) -> Iterable[str]:
    if isinstance(choice, Grammar):
        return choice.words
    if isinstance(choice, tuple):  # sentences
        return (word for sentence in choice for word in sentence)
    if not isinstance(choice, str | os.PathLike) or choice in ("loop", "one") or is_number(choice):
        return ()
    path = Path(choice)
    if not is_file(path):
        return ()  # reported when the grammar is read
    try:
        return read_grammar(path).words
    except GrammarError:
        pass
    try:
        return {word for line in read_text_lines(path, GrammarError) for word in line.split()}  # sentences
    except GrammarError:
        return ()
