import numpy as np
import pytest

from asr.scoring.bootstrap import compare_systems, over_speakers, over_utterances, wer_interval, wer_standard_error
from asr.scoring.wer import score_utterances
from asr.util.errors import CorpusError


def make_report(error_rate, *, seed=0, n_utterances=200, n_words=5):
    generator = np.random.default_rng(seed)
    references = {f"s{n % 4}-{n:03d}": ["ONE"] * n_words for n in range(n_utterances)}
    hypotheses = {
        id: ["TWO" if wrong else "ONE" for wrong in generator.random(n_words) < error_rate] for id in references
    }
    return score_utterances(references, hypotheses, speakers={id: id[:2] for id in references})


def naive_rates(report, replicates, seed):
    """The same draws, one test set after the other."""
    generator = np.random.default_rng(seed)
    n = len(report.utterances)
    drawn = generator.integers(n, size=(replicates, n), dtype=np.int32)
    rates = []
    for indices in drawn:
        counts = [report.utterances[i].counts for i in indices]
        rates.append(100 * sum(c.errors for c in counts) / sum(c.words for c in counts))
    return rates


def test_the_interval_is_that_of_test_sets_drawn_one_by_one():
    report = make_report(0.2, n_utterances=30)
    interval = wer_interval(report, replicates=200, seed=3, level=0.9)
    low, high = np.quantile(naive_rates(report, 200, 3), [0.05, 0.95])
    assert (interval.low, interval.high) == (pytest.approx(low), pytest.approx(high))
    assert interval.value == report.wer


def test_without_errors_the_interval_is_that_of_independent_words():
    report = make_report(0.0, n_utterances=20, n_words=3)
    interval = wer_interval(report, level=0.9)
    assert (interval.value, interval.low) == (0.0, 0.0)
    assert (1 - interval.high / 100) ** report.words == pytest.approx(0.1)


def test_the_standard_error_is_that_of_test_sets_drawn_one_by_one():
    report = make_report(0.2, n_utterances=30)
    found = wer_standard_error(report, replicates=200, seed=3)
    assert found == pytest.approx(np.std(naive_rates(report, 200, 3)))


def test_interval_matches_the_normal_approximation():
    report = make_report(0.2, n_utterances=1000, n_words=1)
    interval = wer_interval(report)
    share = report.wer / 100
    half = 100 * 1.96 * np.sqrt(share * (1 - share) / report.words)
    assert (interval.high - interval.low) / 2 == pytest.approx(half, rel=0.05)


def test_the_interval_covers_the_true_rate_about_as_often_as_it_says():
    intervals = [wer_interval(make_report(0.2, seed=s), replicates=500, level=0.9) for s in range(60)]
    covered = sum(interval.low <= 20.0 <= interval.high for interval in intervals)
    assert 46 <= covered <= 60  # binomial(60, .9): 54 expected, 46 is three and a half deviations below


def test_equal_seeds_give_equal_intervals_and_other_seeds_others():
    report = make_report(0.2)
    assert wer_interval(report, seed=1) == wer_interval(report, seed=1)
    assert wer_interval(report, seed=1) != wer_interval(report, seed=2)


def test_draws_beyond_one_block_are_all_used(monkeypatch):
    report = make_report(0.2)
    whole = compare_systems(report, make_report(0.25, seed=1), replicates=100)
    monkeypatch.setattr("asr.scoring.bootstrap._BLOCK", 1)
    blocks = compare_systems(report, make_report(0.25, seed=1), replicates=100)
    assert blocks == whole


def test_errors_that_go_with_the_speaker_widen_the_interval_by_speaker():
    references = {f"s{s}-{n:02d}": ["ONE"] * 5 for s in range(8) for n in range(20)}
    speakers = {id: id[:2] for id in references}
    hypotheses = {id: ["TWO" if int(id[1]) < 2 else "ONE"] * 5 for id in references}
    report = score_utterances(references, hypotheses, speakers=speakers)
    by_utterance, by_speaker = wer_interval(report), wer_interval(report, unit="speaker")
    assert by_speaker.high - by_speaker.low > 2 * (by_utterance.high - by_utterance.low)


def test_a_clearly_better_system_is_called_so():
    comparison = compare_systems(make_report(0.05), make_report(0.3, seed=1))
    assert comparison.probability_a_better > 0.999
    assert comparison.difference.high < 0


def test_the_comparison_of_b_with_a_mirrors_that_of_a_with_b():
    a, b = make_report(0.2), make_report(0.22, seed=1)
    forth, back = compare_systems(a, b), compare_systems(b, a)
    assert forth.probability_a_better + back.probability_a_better == pytest.approx(1.0)
    assert forth.difference.value == -back.difference.value


def test_a_system_is_neither_better_nor_worse_than_itself():
    comparison = compare_systems(make_report(0.2), make_report(0.2))
    assert comparison.probability_a_better == 0.5
    assert (comparison.difference.low, comparison.difference.high) == (0.0, 0.0)


def test_pairing_is_sharper_than_comparing_two_intervals():
    references = {str(n): ["ONE"] * 5 for n in range(100)}
    hard = {id: ["TWO" if int(id) % 3 == 0 else "ONE"] * 5 for id in references}
    easier = hard | {id: ["ONE"] * 5 for id in list(references)[:12:3]}
    a, b = score_utterances(references, easier), score_utterances(references, hard)
    assert wer_interval(a).high > wer_interval(b).low
    assert compare_systems(a, b).probability_a_better > 0.97


def test_systems_scored_on_different_references_are_not_compared():
    with pytest.raises(CorpusError, match="different references"):
        compare_systems(make_report(0.2), make_report(0.2, n_utterances=199))


def test_few_utterances_give_no_interval():
    five, four = ({str(n): ["ONE"] if n < words else [] for n in range(9)} for words in (5, 4))
    # With an error rate of 45.07 %, all five words are right in 5 % of the tests.
    assert over_utterances(score_utterances(five, five)) == "[0.00, 45.07] at 95 %"
    texts = "[no interval: 4 utterances with words, at least 5 needed]"
    assert over_utterances(score_utterances(four, four)) == texts
    assert "0 utterances with words" in over_utterances(score_utterances({"a": []}, {}))
    assert "no words" in over_speakers(score_utterances({"a": []}, {}))


def test_an_interval_without_reference_words_is_refused():
    with pytest.raises(CorpusError, match="reference words"):
        wer_interval(score_utterances({"a": []}, {"a": ["ONE"]}))
