"""Pronunciations of a grammar's new words, for models whose phones are letters (`asr.lexicon.graphemes`)."""

import os
from collections.abc import Iterable
from pathlib import Path

from asr.acoustic.model_file import SpeechModel
from asr.grammar import Grammar
from asr.grammar.reading import read_grammar
from asr.lexicon import Lexicon
from asr.lexicon.graphemes import spell, with_spelled_words
from asr.lexicon.lexicon import Pronunciation
from asr.recognition.grammars import GrammarChoice, is_number
from asr.util.errors import GrammarError, LexiconError
from asr.util.text_lines import read_text_lines
from discriminants.util.paths import is_file


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
