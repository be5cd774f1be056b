"""Errors counted again and again are those counted once."""

from asr.scoring.repeated_counts import RepeatedCounts
from asr.scoring.wer import align_words, count_errors

REFERENCES = {"a": ("one", "two"), "b": ("three",)}
TRIED = ({"a": ("one",), "b": ("three", "three")}, {"a": ("one",), "b": ()}, {"a": ("two", "two"), "b": ("three",)})


def test_counts_are_those_of_an_alignment_each() -> None:
    counts = RepeatedCounts(REFERENCES)
    for hypotheses in TRIED:
        expected = [count_errors(align_words(words, hypotheses[name])) for name, words in REFERENCES.items()]
        errors, imbalance = counts.errors(hypotheses)
        assert errors.tolist() == [each.errors for each in expected]
        assert imbalance.tolist() == [each.insertions - each.deletions for each in expected]
    assert len(counts.known) == 5  # one hypothesis appears twice
