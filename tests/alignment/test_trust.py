"""Trust in transcripts from synthetic scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.alignment.transcript_scores import TranscriptScore
from asr.alignment.trust import right_probabilities, trust_of
from asr.alignment.word_edits import EditMargins

FINITE = st.floats(-1e4, 1e4)
MANY = st.lists(FINITE | st.just(float("nan")), min_size=1, max_size=30).map(np.array)


def fits(n_right: int, n_wrong: int, seed: int = 0) -> dict[str, TranscriptScore]:
    random = np.random.default_rng(seed)
    scores = {f"right-{number}": random.normal(-1.0, 0.3) for number in range(n_right)}
    scores |= {f"wrong-{number}": random.normal(-2.6, 0.3) for number in range(n_wrong)}
    return {name: TranscriptScore(score, random.normal(-2.6, 0.4, size=4)) for name, score in scores.items()}


@pytest.mark.parametrize("n_wrong", [1, 16, 20])
def test_trust_of_with_many_wrong_separates_them(n_wrong):
    trust = {name: one.value for name, one in trust_of(fits(51 - n_wrong, n_wrong)).items()}
    worst = sorted(trust, key=trust.__getitem__)[:n_wrong]
    assert sum(name.startswith("wrong") for name in worst) >= 0.9 * n_wrong
    assert sum(trust[name] < 0.5 for name in trust if name.startswith("wrong")) >= 0.8 * n_wrong
    assert sum(trust[name] < 0.5 for name in trust if name.startswith("right")) <= 1


def test_trust_of_right_corpus_is_high():
    assert min(one.value for one in trust_of(fits(60, 0)).values()) > 0.5


def test_trust_of_reversed_corpus_is_low():
    assert max(one.value for one in trust_of(fits(0, 60)).values()) < 0.5


def test_trust_of_little_evidence_is_less_certain():
    few, many = (trust_of(fits(n_right, 1)) for n_right in (7, 200))
    assert few["wrong-0"].value > many["wrong-0"].value


def test_trust_of_low_margin_names_the_edit():
    random = np.random.default_rng(0)
    found = {
        name: TranscriptScore(one.score, one.rivals, EditMargins(*random.normal((10.0, -3.0, -10.0, -20.0))))
        for name, one in fits(60, 0).items()
    }
    added, missing = "right-3", "right-4"
    found[added] = TranscriptScore(-1.0, found[added].rivals, EditMargins(-10.0, -3.0, -10.0, -20.0))
    found[missing] = TranscriptScore(-1.0, found[missing].rivals, EditMargins(10.0, -20.0, -10.0, -20.0))
    trust = trust_of(found)
    assert min(trust[added]) == trust[added].no_word_added < 0.5
    assert min(trust[missing]) == trust[missing].no_word_missing < 0.5
    assert all(one.value > 0.5 for name, one in trust.items() if name not in (added, missing))


def test_trust_of_without_rivals_is_empty():
    assert trust_of({"a": TranscriptScore(-1.0, np.zeros(0))}) == {}


@given(MANY, MANY, st.floats(0.01, 0.99))
def test_right_probabilities_are_in_range_and_monotone(values, rivals, wrong):
    found = right_probabilities(values, rivals, np.ones(len(values)), wrong)
    assert found.shape == values.shape
    assert ((found >= 0.0) & (found <= 1.0)).all()
    known = np.isfinite(values)
    assert (np.diff(found[known][np.argsort(values[known])]) >= 0.0).all()


@given(st.lists(st.tuples(st.floats(-50.0, 0.0), st.lists(st.floats(-50.0, 0.0), max_size=4)), min_size=1, max_size=20))
def test_trust_of_any_scores_is_a_probability(scores):
    found = {str(number): TranscriptScore(own, np.array(rivals)) for number, (own, rivals) in enumerate(scores)}
    assert all(0.0 <= one.value <= 1.0 for one in trust_of(found).values())


@given(st.integers(0, 99), st.floats(0.01, 100.0), st.floats(-100.0, 100.0))
def test_right_probabilities_do_not_depend_on_the_scale(seed, factor, offset):
    random = np.random.default_rng(seed)
    values, rivals, weights = random.normal(2.0, 1.0, 30), random.normal(0.0, 1.0, 50), random.random(30)
    expected = right_probabilities(values, rivals, weights, 0.05)
    found = right_probabilities(factor * values + offset, factor * rivals + offset, weights, 0.05)
    np.testing.assert_allclose(found, expected, atol=1e-4)
