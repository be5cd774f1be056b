"""Sentences of a grammar file that cannot be said are counted and named."""

import logging

import pytest

from asr.acoustic.model_file import load_model
from asr.recognition.decoding import chosen_grammar


def test_sentences_left_out_for_their_letter_case_are_counted_and_named(
    toy_model, tmp_path, caplog: pytest.LogCaptureFixture
) -> None:
    model = load_model(toy_model)
    path = tmp_path / "sentences.txt"
    path.write_text("SEVEN TWO\nseven one\nNO UP\nNO\n")
    with caplog.at_level(logging.WARNING):
        assert chosen_grammar(model, model.lexicon, path).words == ("NO", "SEVEN", "TWO")
    (line,) = caplog.messages
    assert "2 of 4 sentences cannot be said and are left out: 'seven one', 'NO UP'" in line
    assert "no pronunciation for UP one seven" in line
    assert "letter case counts, and the model's lexicon has one as ONE, seven as SEVEN" in line
