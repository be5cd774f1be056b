"""Grammars as a program gives them: by name, as a file, as a list of sentences, or ready-made."""

import os
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import TypeAlias

from asr.acoustic.model_file import SpeechModel
from asr.commands.decode import chosen_grammar
from asr.grammar import Grammar, arpa_grammar
from asr.grammar.added_words import with_added_words
from asr.grammar.arpa_file import parse_arpa
from asr.grammar.filler import without_filler
from asr.grammar.sentences import sentence_list
from asr.grammar.word_loop import MAX_STRING_LENGTH
from asr.lexicon import Lexicon
from asr.recognition.vocabulary import other_case, tell_left_out
from asr.util.errors import GrammarError
from asr.util.unicode_text import nfc

GrammarChoice: TypeAlias = str | int | os.PathLike[str] | Iterable[str | Sequence[str]] | Grammar | None
"""None for the model's own, "loop", "one", a number of words, the path of a grammar file, sentences, or an automaton of
`asr.grammar`."""


def settled(choice: GrammarChoice) -> GrammarChoice:
    """The same choice, to be read again and again: sentences as a tuple of tuples of words.

    Raises GrammarError for what is no grammar: a number that is none of words, a table, anything without sentences.
    """
    if isinstance(choice, Integral) and not isinstance(choice, bool) and 1 <= choice <= MAX_STRING_LENGTH:
        return str(int(choice))
    if choice is None or isinstance(choice, str | os.PathLike | Grammar):
        return choice
    given: object = choice  # whatever the type says
    if not isinstance(given, Iterable) or isinstance(given, Mapping | bytes) or hasattr(given, "read"):
        raise GrammarError(f"{_shown(given)} is no grammar; {_GRAMMARS}")
    sentences = []
    for sentence in given:
        words = tuple(sentence.split()) if isinstance(sentence, str) else sentence
        if not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
            raise GrammarError(f"{_shown(sentence)} is no sentence of a grammar; a text or a list of words would be")
        sentences.append(tuple(map(nfc, words)))
    return tuple(sentences)


_GRAMMARS = (
    f"give sentences as a list, 'loop', 'one', a number of words from 1 to {MAX_STRING_LENGTH}, the path of a "
    "grammar's file, an automaton of asr.grammar, or None for the model's own"
)


def _shown(value: object) -> str:
    return f"{value!r} ({type(value).__name__})"


def grammar_for(model: SpeechModel, lexicon: Lexicon, choice: GrammarChoice, added: Iterable[str] = ()) -> Grammar:
    """The grammar of a settled choice over the words of the model that can be recognized.

    In the model's own n-gram the words `added` to its lexicon are as likely as its rarest word.

    Raises
    ------
    GrammarError
        When there is no such file or it is no grammar, or a sentence has a word that the lexicon lacks.
    """
    if isinstance(choice, Grammar):
        return choice
    if choice is None and model.arpa is not None and added:
        tell_left_out(model, lexicon)
        own = parse_arpa(model.arpa.splitlines(), "the model's own grammar")
        return arpa_grammar(with_added_words(own, added), lexicon.words)
    if choice is None or isinstance(choice, str | os.PathLike):
        return chosen_grammar(model, lexicon, choice)
    assert not isinstance(choice, int)  # settled
    sentences = [tuple(sentence) for sentence in choice]
    tell_left_out(model, lexicon, {word for sentence in sentences for word in sentence})
    return _sentences(lexicon, sentences)


def _sentences(lexicon: Lexicon, listed: Sequence[tuple[str, ...]]) -> Grammar:
    """A program means every sentence that it lists: none is left out for a word that the lexicon lacks."""
    unknown = sorted({word for sentence in listed for word in without_filler(sentence) if word not in lexicon})
    if unknown:
        hint = other_case(unknown, lexicon, of_file=False) or "give each to add_word first"
        raise GrammarError(f"the model has no pronunciation for {', '.join(unknown)}, which the sentences have; {hint}")
    return sentence_list(listed)
