"""Words that the lexicon has in another letter case are named, in grammars and in transcripts."""

import logging

import pytest

from asr import align
from asr.acoustic.model_file import load_model
from asr.recognition.grammars import chosen_grammar
from asr.util.errors import CorpusError


def test_sentences_left_out_for_their_letter_case_are_counted_and_named(
    toy_model, tmp_path, caplog: pytest.LogCaptureFixture
) -> None:
    model = load_model(toy_model)
    path = tmp_path / "sentences.txt"
    path.write_text("SEVEN TWO\nseven one\nNO UP\nNO\n")
    with caplog.at_level(logging.WARNING):
        assert chosen_grammar(model, model.lexicon, path).words == ("NO", "SEVEN", "TWO")
    (line,) = caplog.messages
    assert "2 of 4 sentences left out, because not all of their words can be recognized: 'seven one', 'NO UP'" in line
    assert "no pronunciation for UP, one, seven" in line
    assert "letter case matters, and the model's lexicon has one as ONE, seven as SEVEN" in line


def test_of_many_words_that_the_lexicon_lacks_the_first_are_named_and_all_counted(
    toy_model, tmp_path, caplog: pytest.LogCaptureFixture
) -> None:
    model = load_model(toy_model)
    path = tmp_path / "sentences.txt"
    path.write_text("".join(f"NO{number:04}\n" for number in range(1021)) + "NO\n")
    with caplog.at_level(logging.WARNING):
        chosen_grammar(model, model.lexicon, path)
    assert caplog.messages[0].endswith(" NO0018, NO0019 and 1001 more")


def test_transcripts_in_another_letter_case_than_the_lexicon_are_told_so(toy_model, toy_corpus, tmp_path) -> None:
    lexicon = tmp_path / "lower.txt"
    pairs = (line.split(maxsplit=1) for line in (toy_corpus / "lexicon.txt").read_text().splitlines())
    lexicon.write_text("".join(f"{word.lower()} {phones}\n" for word, phones in pairs))
    texts = r"no pronunciation for .*ONE.*; letter case matters, and \S*lower\.txt has .*ONE as one"
    with pytest.raises(CorpusError, match=texts):
        align(toy_model, toy_corpus / "test", tmp_path / "out", lexicon=lexicon)
