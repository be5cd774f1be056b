"""Tests of differences between systems, against counts by hand and naive twins."""

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import asr
from asr.scoring.alternatives import parse_reference
from asr.scoring.bootstrap import compare_systems, wer_interval
from asr.scoring.comparison import (
    MIN_GOOD,
    compare_reports,
    holm,
    matched_pairs_p,
    mcnemar_p,
    segment_differences,
    wilcoxon_p,
)
from asr.scoring.wer import align_words, count_errors, score_utterances
from asr.util.errors import ArgumentError, CorpusError


def differences(reference: str, a: str, b: str) -> list[int]:
    return segment_differences(*(score_utterances({"u": reference.split()}, {"u": hyp.split()}) for hyp in (a, b)))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("a b c d e f g", "a b c d e f g", []),
        ("x b c d e f g", "a b c d e f x", [1, -1]),  # five correct words between the errors
        ("a x c d e f g", "a b c x e f g", [0]),  # one correct word between them
        ("a x c d x f g", "a b c d e f g", [1, 1]),  # two correct words between them
        ("a x c z d x f g", "a b c d e f g", [3]),  # an insertion divides the two correct words
        ("a b c d e f g h", "a b c d e f", [0]),  # an insertion and a deletion at the end
        ("", "a b c d e f g", [7]),
    ],
)
def test_segments_are_divided_by_two_words_correct_in_both(a, b, expected):
    assert differences("a b c d e f g", a, b) == expected


def naive_differences(a, b) -> list[int]:
    """Lay the events of both alignments on one line, then cut at runs of words without errors."""
    line = []
    for place in range(len([1 for ref, _ in a if ref is not None]) + 1):
        for kind in ("before", "word"):
            errors = []
            for pairs in (a, b):
                at, found = 0, 0
                for ref, hyp in pairs:
                    if at == place and ref is None and kind == "before":
                        found += 1
                    if ref is not None:
                        found += at == place and kind == "word" and ref != hyp
                        at += 1
                errors.append(found)
            line.append((kind, *errors))
    text = "".join("e" if x or y else "w" if kind == "word" else "." for kind, x, y in line)
    pieces: list[list[int]] = []
    for place in (place for place, mark in enumerate(text) if mark == "e"):
        if not pieces or text[pieces[-1][-1] : place].count("w") >= MIN_GOOD:
            pieces.append([])
        pieces[-1].append(place)
    return [sum(line[place][1] - line[place][2] for place in piece) for piece in pieces]


words = st.lists(st.sampled_from("abc"), max_size=9)


@settings(max_examples=30, deadline=None)
@given(words, words, words)
def test_segments_agree_with_the_naive_twin(reference, a, b):
    reports = [score_utterances({"u": reference}, {"u": hyp}) for hyp in (a, b)]
    found = segment_differences(*reports)
    assert found == naive_differences(*(report.utterances[0].pairs for report in reports))
    assert sum(found) == reports[0].errors - reports[1].errors


def test_different_readings_make_one_segment():
    reference = {"u": parse_reference("a b c d { e / f g } h i j k".split(), "ref:1")}
    reports = [score_utterances(reference, {"u": hyp.split()}) for hyp in ("x b c d e h i j x", "a b c d f g h i j k")]
    assert [report.words for report in reports] == [9, 10]
    assert segment_differences(*reports) == [2]
    assert compare_systems(*reports).difference.value == pytest.approx(100 * 2 / 9)


def test_the_matched_pairs_statistic_is_that_of_the_formula():
    gaps = [1, 0, -1, 2, 1, 1, 0, 3, -1, 1]  # mean 0.7, variance 1.5666..., z = 0.7 / sqrt(1.5666 / 10) = 1.7685
    assert matched_pairs_p(gaps) == pytest.approx(0.0770, abs=1e-4)
    assert matched_pairs_p(gaps) == matched_pairs_p([-gap for gap in gaps])
    assert (matched_pairs_p([]), matched_pairs_p([0, 0]), matched_pairs_p([3]), matched_pairs_p([1] * 5)) == (
        1.0, 1.0, 1.0, 2 / 2**5,
    )  # fmt: skip


def test_sentences_are_compared_by_the_binomial_distribution():
    names = [f"u{n:02d}" for n in range(20)]
    truth = {name: ["a"] for name in names}
    reports = [
        score_utterances(truth, {name: ["x"] if n in wrong else ["a"] for n, name in enumerate(names)})
        for wrong in ({0, 1, 2}, {2, 3, 4, 5, 6, 7, 8, 9})
    ]
    # only A: 7 sentences, only B: 2; twice the probability of at most 2 heads of 9
    assert mcnemar_p(*reports) == pytest.approx(2 * (1 + 9 + 36) / 2**9)
    assert mcnemar_p(reports[0], reports[0]) == 1.0


def test_signed_ranks_are_those_of_all_signs():
    errors = {"a": (1, 2), "b": (0, 4), "c": (3, 2), "d": (1, 1), "e": (2, 5), "f": (0, 6)}
    truth = {name: ["a"] * 10 for name in errors}
    reports = [
        score_utterances(
            truth,
            {name: ["x"] * both[n] + ["a"] * (10 - both[n]) for name, both in errors.items()},
            speakers={name: name for name in errors},
        )
        for n in (0, 1)
    ]
    ranks, signs = [1.5, 4, 1.5, 3, 5], [-1, -1, 1, -1, -1]  # without d; |differences| 1 4 1 3 6
    statistic = abs(np.dot(ranks, signs))
    sums = [abs(np.dot(ranks, choice)) for choice in product((-1, 1), repeat=5)]
    exact = np.mean([one >= statistic for one in sums])
    assert wilcoxon_p(*reports) == pytest.approx(exact, abs=0.02)
    assert wilcoxon_p(reports[0], reports[0]) == 1.0


def test_holm_is_that_of_the_definition():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.5]) == [1.0, 1.0]
    assert holm([]) == []


def systems(n: int = 60, *, speakers: int = 6) -> tuple[dict, dict, dict]:
    generator = random.Random(0)
    truth = {f"s{i % speakers}-{i:03d}": ["a", "b", "c", "d", "e"] for i in range(n)}
    made = {
        name: {id: ["x" if generator.random() < rate else w for w in words] for id, words in truth.items()}
        for name, rate in (("good", 0.05), ("bad", 0.3), ("also good", 0.05))
    }
    return truth, made, {id: id[:2] for id in truth}


def test_a_comparison_states_the_conclusion_of_each_pair():
    truth, made, speakers = systems()
    found = asr.compare(truth, made, speakers=speakers)
    assert [(pair.a, pair.b) for pair in found.pairs] == [
        ("good", "bad"), ("good", "also good"), ("bad", "also good"),
    ]  # fmt: skip
    assert found.unit == "speaker"
    first, second, third = found.conclusions
    assert first.startswith("good makes fewer errors than bad: ") and "p < 0.001 (matched pairs, Holm)" in first
    assert second.startswith("No significant difference")
    assert third.startswith("also good makes fewer errors than bad")
    assert found.pairs[0].interval[1] < 0 < found.pairs[2].interval[0]
    assert found.as_dict()["corrected"] == "holm"


def test_equal_seeds_give_equal_comparisons():
    truth, made, speakers = systems()
    one, other, third = (asr.compare(truth, made, speakers=speakers, seed=seed) for seed in (1, 1, 2))
    assert one.pairs == other.pairs != third.pairs


def test_few_speakers_or_utterances_give_no_interval_over_them():
    truth, made, speakers = systems(speakers=4)
    few = asr.compare(truth, made, speakers=speakers)
    assert (few.unit, few.pairs[0].wilcoxon) == ("utterance", None)
    names = [*truth][:4]
    tiny = asr.compare({name: truth[name] for name in names}, {k: {n: v[n] for n in names} for k, v in made.items()})
    assert tiny.pairs[0].interval is None
    with pytest.raises(CorpusError, match="at least two, but all utterances are of all"):
        wer_interval(tiny.reports["bad"], unit="speaker")


def test_systems_with_other_utterances_are_refused():
    truth, made, _ = systems()
    lacking = made["good"].copy()
    del lacking["s0-000"]
    with pytest.raises(CorpusError, match="B lacks 1 utterance: s0-000"):
        asr.compare(truth, {"A": made["good"], "B": lacking})
    with pytest.raises(CorpusError, match=r"A has, .* 1 utterance: more"):
        asr.compare(truth, {"A": made["good"] | {"more": ["a"]}, "B": made["bad"]})
    with pytest.raises(CorpusError, match="no speaker"):
        asr.compare(truth, made, speakers={"s0-000": "s0"})
    with pytest.raises(ArgumentError, match="two"):
        asr.compare(truth, {"A": made["good"]})


def test_reports_on_other_references_are_refused():
    one, other = (score_utterances({name: ["a"]}, {name: ["a"]}) for name in "uv")
    with pytest.raises(CorpusError, match="different references"):
        compare_reports({"A": one, "B": other})


@settings(max_examples=40, deadline=None)
@given(words, words)
def test_errors_agree_with_jiwer(reference, hypothesis):
    jiwer = pytest.importorskip("jiwer")
    if reference:
        expected = jiwer.process_words(" ".join(reference), " ".join(hypothesis))
        errors = expected.substitutions + expected.deletions + expected.insertions
        assert count_errors(align_words(reference, hypothesis)).errors == errors
