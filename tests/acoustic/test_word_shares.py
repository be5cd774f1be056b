"""How often speakers say each word: against draws of the model, and where nothing can be told."""

import numpy as np
import pytest

from asr.acoustic.word_shares import MOST_WORDS, word_shares


def drawn(
    rho: float, n_speakers: int, n_utterances: int, seed: int
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Single words of speakers whose shares are Dirichlet about 0.1, 0.2, 0.3, 0.4."""
    rng = np.random.default_rng(seed)
    mean, words = np.array([0.1, 0.2, 0.3, 0.4]), ("a", "b", "c", "d")
    transcripts, speakers = {}, {}
    for speaker in range(n_speakers):
        shares = rng.dirichlet(mean * (1 / rho - 1)) if rho else mean
        for number in range(n_utterances + speaker % 7):
            name = f"{speaker}-{number}"
            transcripts[name], speakers[name] = (words[rng.choice(4, p=shares)],), f"s{speaker}"
    return transcripts, speakers


@pytest.mark.parametrize("rho", [0.0, 0.05, 0.3])
def test_shares_and_spread_are_those_of_the_draws(rho: float) -> None:
    found = [word_shares(*drawn(rho, 60, 50, seed)) for seed in range(5)]
    spreads = [one.spread for one in found if one is not None]
    assert len(spreads) == 5
    assert np.mean(spreads) == pytest.approx(rho, abs=0.01 + 0.15 * rho)
    np.testing.assert_allclose(
        np.mean([one.of("abcd") for one in found if one], axis=0), [0.1, 0.2, 0.3, 0.4], atol=0.05
    )


def test_a_list_that_all_read_has_no_spread() -> None:
    transcripts = {f"{speaker}-{word}-{k}": (word,) for speaker in "xyz" for word in "abcde" for k in range(9)}
    found = word_shares(transcripts, {name: name[0] for name in transcripts})
    assert found is not None and found.spread == 0.0
    np.testing.assert_allclose(found.of(["e", "a"]), 0.5)


def test_nothing_is_told_by_one_speaker_sentences_one_word_or_very_many() -> None:
    ids = {"1": ("a",), "2": ("b",), "3": ("a",), "4": ("b",)}
    both = {"1": "x", "2": "x", "3": "y", "4": "y"}
    assert word_shares(ids, both) is not None
    assert word_shares(ids, dict.fromkeys(ids, "x")) is None
    assert word_shares(ids, {name: name for name in ids}) is None  # every utterance a speaker of its own
    assert word_shares({name: (*words, "c") for name, words in ids.items()}, both) is None
    assert word_shares(dict.fromkeys(ids, ("a",)), both) is None
    many = {f"{speaker}-{k}": (f"w{k}",) for speaker in "xy" for k in range(MOST_WORDS + 1)}
    assert word_shares(many, {name: name[0] for name in many}) is None
    assert word_shares({}, {}) is None
