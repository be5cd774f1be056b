"""Words that differ in letter case alone."""

from asr.scoring.references import case_hint, without_case
from asr.scoring.wer import score_utterances


def hint(references, hypotheses) -> str:
    references = {name: tuple(words.split()) for name, words in references.items()}
    hypotheses = {name: tuple(words.split()) for name, words in hypotheses.items()}
    return case_hint(score_utterances(references, hypotheses), references, hypotheses)


def test_it_is_said_if_most_errors_are_of_letter_case():
    assert hint({"a": "ONE TWO THREE"}, {"a": "one two four"}).startswith(
        "2 of the 3 errors are differences in letter case"
    )
    assert "--ignore-case" in hint({"a": "Straße"}, {"a": "STRASSE"})


def test_nothing_is_said_where_the_errors_are_others():
    assert hint({"a": "ONE TWO THREE"}, {"a": "one FOUR FIVE"}) == ""
    assert hint({"a": "ONE TWO"}, {"a": "ONE"}) == ""
    assert hint({"a": "ONE TWO"}, {"a": "ONE TWO"}) == ""


def test_without_case_words_are_the_same():
    references, hypotheses = without_case({"a": ("One", "TWO")}, {"a": ("ONE", "two")})
    assert references == hypotheses
