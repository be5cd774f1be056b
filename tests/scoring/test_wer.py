import math

import jiwer
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.scoring.wer import align_words, count_errors, score_utterances
from asr.util.errors import CorpusError

words = st.lists(st.sampled_from("ABCDE"), max_size=8)


def naive_distance(reference, hypothesis):
    """Levenshtein distance by the textbook recursion over prefixes."""
    row = list(range(len(hypothesis) + 1))
    for i, ref in enumerate(reference, 1):
        previous, row = row, [i]
        for j, hyp in enumerate(hypothesis, 1):
            row.append(min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (ref != hyp)))
    return row[-1]


@given(words, words)
def test_an_alignment_has_as_few_errors_as_the_naive_distance(reference, hypothesis):
    pairs = align_words(reference, hypothesis)
    assert count_errors(pairs).errors == naive_distance(reference, hypothesis)


@given(words, words)
def test_an_alignment_keeps_every_word_in_order(reference, hypothesis):
    pairs = align_words(reference, hypothesis)
    assert [ref for ref, _ in pairs if ref is not None] == reference
    assert [hyp for _, hyp in pairs if hyp is not None] == hypothesis
    assert (None, None) not in pairs


@given(words, words)
def test_exchanged_sides_exchange_deletions_and_insertions(a, b):
    forth, back = count_errors(align_words(a, b)), count_errors(align_words(b, a))
    assert forth.errors == back.errors
    assert forth.deletions - forth.insertions == back.insertions - back.deletions == len(a) - len(b)


@given(words, words)
def test_counts_add_up_to_the_words_of_both_sides(reference, hypothesis):
    counts = count_errors(align_words(reference, hypothesis))
    assert counts.correct + counts.substitutions + counts.deletions == counts.words == len(reference)
    assert counts.correct + counts.substitutions + counts.insertions == len(hypothesis)


@given(st.lists(st.tuples(words.filter(bool), words), min_size=1, max_size=6))
def test_rates_are_those_of_jiwer(sentences):
    references = {str(n): ref for n, (ref, _) in enumerate(sentences)}
    hypotheses = {str(n): hyp for n, (_, hyp) in enumerate(sentences)}
    report = score_utterances(references, hypotheses)
    oracle = jiwer.process_words([" ".join(r) for r, _ in sentences], [" ".join(h) for _, h in sentences])
    assert report.wer == pytest.approx(100 * oracle.wer)
    assert report.errors == oracle.substitutions + oracle.deletions + oracle.insertions
    assert report.deletions - report.insertions == oracle.deletions - oracle.insertions


def test_rates_of_a_worked_example():
    references = {"a": "ONE TWO THREE FOUR".split(), "b": ["FIVE"], "c": []}
    hypotheses = {"a": "ONE TOO FOUR FOUR FIVE".split(), "b": ["FIVE"], "c": []}
    report = score_utterances(references, hypotheses)
    assert (report.words, report.errors, report.wer, report.word_accuracy) == (5, 3, 60.0, 40.0)
    assert (report.substitutions, report.deletions, report.insertions) == (2, 0, 1)
    assert report.ser == pytest.approx(100 / 3)


def test_a_missing_hypothesis_counts_as_all_deleted_and_is_listed():
    report = score_utterances({"a": ["ONE", "TWO"], "b": ["TWO"]}, {"b": ["TWO"]})
    assert report.missing == ("a",)
    assert report.deletions == report.errors == 2
    assert [problem.utterance_id for problem in report.problems] == ["a"]


def test_a_hypothesis_without_reference_is_listed_and_not_scored():
    report = score_utterances({"a": ["ONE"]}, {"a": ["ONE"], "z": ["TWO"]})
    assert report.extra == ("z",)
    assert (report.words, report.errors) == (1, 0)
    assert [problem.utterance_id for problem in report.problems] == ["z"]


def test_words_said_into_an_empty_reference_are_insertions():
    report = score_utterances({"a": []}, {"a": ["ONE"]})
    assert (report.words, report.insertions, report.ser) == (0, 1, 100.0)
    assert report.wer == math.inf


def test_silence_recognized_as_silence_has_no_rate():
    assert math.isnan(score_utterances({"a": []}, {"a": []}).wer)


def test_speakers_add_up_to_the_total():
    references = {f"{s}-{n}": ["ONE"] * n for s in "ab" for n in range(4)}
    hypotheses = {id: ["ONE", "TWO"] for id in references}
    speakers = {id: id[0] for id in references}
    report = score_utterances(references, hypotheses, speakers=speakers)
    first, second = report.speakers()
    assert (first.speaker, second.speaker) == ("a", "b")
    assert first.counts + second.counts == report.totals


def test_an_utterance_without_speaker_is_refused_by_name():
    with pytest.raises(CorpusError, match="utterance b "):
        score_utterances({"a": ["ONE"], "b": ["ONE"]}, {}, speakers={"a": "x"})


def test_scoring_against_nothing_is_refused():
    with pytest.raises(CorpusError, match="no references"):
        score_utterances({}, {"a": ["ONE"]})


def test_an_empty_word_is_refused_rather_than_taken_for_a_gap():
    with pytest.raises(CorpusError, match="empty word"):
        align_words(["ONE", ""], ["ONE"])


def test_confusions_come_most_frequent_first():
    references = {"a": ["ONE", "ONE", "TWO"], "b": ["TWO", "SIX"]}
    hypotheses = {"a": ["NINE", "NINE", "TWO"], "b": ["TWO"]}
    assert score_utterances(references, hypotheses).confusions() == ((("ONE", "NINE"), 2), (("SIX", None), 1))


def test_the_worst_utterances_have_errors_and_come_in_order():
    references = {"a": ["ONE"] * 4, "b": ["ONE"] * 2, "c": ["ONE"], "d": ["ONE"] * 5}
    hypotheses = {"a": ["ONE", "ONE"], "b": [], "c": ["ONE"], "d": ["ONE"] * 4}
    report = score_utterances(references, hypotheses)
    assert [utterance.id for utterance in report.worst(10)] == ["b", "a", "d"]
    assert [utterance.id for utterance in report.worst(1)] == ["b"]


def test_utterances_too_long_to_be_compared_are_refused_and_named():
    long = ("a",) * 20_000
    with pytest.raises(CorpusError, match="utterance u1: 20000 reference words and 20000 hypothesis words"):
        score_utterances({"u0": ("a",), "u1": long}, {"u0": ("a",), "u1": long})
