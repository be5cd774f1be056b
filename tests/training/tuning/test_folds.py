"""Which training speakers are held out to choose the search's settings."""

import numpy as np
import pytest

from asr.features.frame_table import FrameTable
from asr.training.dataset import Dataset
from asr.training.tuning.folds import folds, hold_out


def dataset(speakers: list[str]) -> Dataset:
    ids = [f"u{number}" for number in range(len(speakers))]
    table = FrameTable.from_utterances(ids, speakers, [np.ones((2, 3), np.float32)] * len(ids))
    return Dataset(table, dict.fromkeys(ids, ("WORD",)))


@pytest.mark.parametrize("fraction", [0.01, 0.15, 0.5, 0.99])
@pytest.mark.parametrize("speakers", [["a", "b"], ["a", "a", "b"], list("aabbccddeeff"), ["a"] * 5])
def test_both_parts_have_utterances_and_together_they_are_all(speakers: list[str], fraction: float) -> None:
    whole = dataset(speakers)
    training, held_out = hold_out(whole, fraction, seed=0)
    assert len(training.static) >= 1
    assert len(held_out.static) >= 1
    assert sorted(training.static.ids + held_out.static.ids) == sorted(whole.static.ids)
    if len(set(speakers)) > 1:
        assert not set(training.speakers) & set(held_out.speakers)


def test_the_draw_follows_the_seed() -> None:
    whole = dataset(list("aabbccddeeffgghh"))
    first, again = (hold_out(whole, 0.25, seed=3)[1].speakers for _ in range(2))
    assert first == again
    assert len(first) == 2
    assert len({hold_out(whole, 0.25, seed=seed)[1].speakers for seed in range(20)}) > 5


def test_folds_hold_out_everybody_once_until_words_suffice() -> None:
    whole = dataset(list("aabbccddeeffgghh"))
    all_folds = folds(whole, 0.25, words=1000, seed=0)
    assert len(all_folds) == 4
    held_out = [speaker for _, part in all_folds for speaker in part.speakers]
    assert sorted(held_out) == list("abcdefgh")
    for inner, part in all_folds:
        assert not set(inner.speakers) & set(part.speakers)
        assert len(inner.static) + len(part.static) == 16
    assert len(folds(whole, 0.25, words=5, seed=0)) == 2
    assert len(folds(whole, 0.25, words=1, seed=0)) == 1


@pytest.mark.parametrize("seed", range(5))
def test_folds_have_about_as_many_words_each_however_uneven_speakers_are(seed: int) -> None:
    said = [77, 68, *[6] * 6, *[2] * 20]
    speakers = [f"s{number:02d}" for number, n_utterances in enumerate(said) for _ in range(n_utterances)]
    whole = dataset(speakers)
    held_out = [len(part.static) for _, part in folds(whole, 0.2, words=1000, seed=seed)]
    assert sorted(held_out, reverse=True) == [77, 68, 26, 26, 24]


def test_which_folds_speakers_are_in_follows_the_seed() -> None:
    whole = dataset(list("aabbccddeeffgghh"))
    firsts = [tuple(folds(whole, 0.25, words=1, seed=seed)[0][1].speakers) for seed in range(20)]
    assert len(set(firsts)) > 5
    assert firsts == [tuple(folds(whole, 0.25, words=1, seed=seed)[0][1].speakers) for seed in range(20)]


def test_utterances_are_held_out_where_there_are_few_speakers() -> None:
    whole = dataset(list("aaaabbbbcccc"))
    for inner, part in folds(whole, 0.25, words=1000, seed=0):
        assert len(part.static) == 3
        assert set(inner.speakers) == set("abc")
