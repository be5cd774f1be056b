"""Grammars that are lists of sentences."""

import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.grammar.reading import read_grammar
from asr.grammar.scoring import score_sentence
from asr.grammar.sentences import read_sentences, sentence_list
from asr.util.errors import GrammarError

SENTENCES = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4).map(tuple), min_size=1, max_size=12)


@given(SENTENCES)
def test_each_sentence_has_the_probability_of_its_share(sentences: list[tuple[str, ...]]) -> None:
    grammar = sentence_list(sentences)
    for sentence, n in Counter(sentences).items():
        assert score_sentence(grammar, sentence) == pytest.approx(math.log(n / len(sentences)), abs=1e-5)
    for sentence in {(*sentence, "a") for sentence in sentences} - set(sentences):
        assert score_sentence(grammar, sentence) == -math.inf or "a" not in grammar.words


def test_sentences_with_unknown_words_are_left_out_and_the_words_listed() -> None:
    grammar = sentence_list([("call", "anna"), ("call", "boris"), ("yes",)], words=["call", "anna", "yes", "no"])
    assert grammar.words == ("anna", "call", "yes")
    assert grammar.left_out == ("boris",)
    with pytest.raises(GrammarError, match="missing in the vocabulary: anna boris call"):
        sentence_list([("call", "anna"), ("call", "boris")], words=["yes"])


def test_a_file_of_sentences_is_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "sentences.txt"
    path.write_text("# orders\nYES\n\nCALL  ANNA\r\nYES\n")
    assert read_sentences(path) == [("YES",), ("CALL", "ANNA"), ("YES",)]
    path.write_text("# nothing\n")
    with pytest.raises(GrammarError, match=r"sentences\.txt has no sentence"):
        read_sentences(path)


def test_a_grammar_file_of_sentences_is_told_by_the_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "sentences.txt"
    path.write_text("YES\nCALL ANNA\nCALL BORIS\n")
    grammar = read_grammar(path, vocabulary=["YES", "CALL", "ANNA"])
    assert (grammar.name, grammar.words, grammar.left_out) == ("sentences", ("ANNA", "CALL", "YES"), ("BORIS",))
    with pytest.raises(GrammarError, match="not a grammar: line 1 is 'YES'"):
        read_grammar(path, vocabulary=["yes", "call"])
