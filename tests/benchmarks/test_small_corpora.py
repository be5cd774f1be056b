"""The benchmark of small corpora: drawn once, trained by the command line's defaults, summed up over seeds."""

from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr.corpus.data_directory import read_data_directory
from asr.features.augmentation import NoiseClips
from asr.lexicon import read_lexicon
from benchmarks.small_corpora.__main__ import _row
from benchmarks.small_corpora.corpora import CORPORA, make_corpus
from benchmarks.small_corpora.padding import FULL_SCALE, Recording, pad
from benchmarks.small_corpora.runs import Outcome, train_and_score
from tests.toy_corpus import RATE


def outcome(system: str, wer: float, reported: float) -> Outcome:
    return Outcome(
        corpus="toy", seed=0, system=system, words=500, wer=wer, insertions=3, deletions=4, untuned=wer + 1,
        standard_error=1.0, reported=reported, reported_error=2.0, search={}, seconds=1.0,
    )  # fmt: skip


@pytest.mark.corpus
@pytest.mark.parametrize("name", CORPORA)
def test_a_corpus_has_400_words_to_test_and_none_of_them_in_training(name: str, speech_data: Path, tmp_path: Path):
    make_corpus(name, speech_data, tmp_path)
    train, test = read_data_directory(tmp_path / "train"), read_data_directory(tmp_path / "test")
    assert not {u.id for u in train.utterances} & {u.id for u in test.utterances}
    if name != "noisy-pairs":  # of one speaker
        assert not set(train.speakers) & set(test.speakers)
    assert 31 <= len(train.utterances) <= 120
    assert sum(len(u.words or ()) for u in test.utterances) >= 400
    words = set(read_lexicon(tmp_path / "lexicon.txt").words)
    assert all(words.issuperset(u.words or ()) for u in train.utterances)


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["digits", "noisy-strings"])
def test_speakers_say_other_words_and_training_has_every_digit(name: str, speech_data: Path, tmp_path: Path):
    make_corpus(name, speech_data, tmp_path)
    train = read_data_directory(tmp_path / "train")
    said: dict[str, list[str]] = {speaker: [] for speaker in train.speakers}
    for utterance in train.utterances:
        said[utterance.speaker] += utterance.words or ()
    assert len(set(map(tuple, said.values()))) == 4
    assert set(chain.from_iterable(said.values())) == set(read_lexicon(tmp_path / "lexicon.txt").words)


@pytest.mark.parametrize("seed", range(6))
def test_one_to_three_seconds_of_noise_lie_around_the_pieces(seed: int, tmp_path: Path):
    path, rng = tmp_path / "clip.wav", np.random.default_rng(seed)
    soundfile.write(path, rng.normal(size=RATE) * 0.1, RATE)
    noise = NoiseClips(("clip",), (path,))
    pieces = tuple(np.full(length, 1e6, np.float32) for length in rng.integers(900, 4000, 4))
    spoken = Recording(f"u{seed}", "s", pieces, ())
    padded = pad(spoken, noise, rate=RATE, seed=0)
    room = padded != 1e6
    assert (~room).sum() == sum(map(len, pieces))
    assert room.sum() / RATE + 1e-3 >= 1.0 and room.sum() / RATE <= 3.001
    assert -50 <= 20 * np.log10(np.sqrt(np.mean(np.square(padded[room]))) / FULL_SCALE) <= -35
    assert room[0] and room[-1] and (np.diff(room.astype(int)) > 0).sum() >= 2  # after a piece within, and the last
    np.testing.assert_array_equal(pad(spoken, noise, rate=RATE, seed=0), padded)
    assert len(pad(spoken, noise, rate=RATE, seed=1)) != len(padded)


def test_a_row_has_mean_and_deviation_and_how_often_what_was_reported_held():
    row = _row("toy", "hybrid", [outcome("hybrid", 10, 11.5), outcome("hybrid", 12, 15), outcome("mixtures", 40, 40)])
    assert (row["wer"], row["untuned"], row["reported"]) == (11, 12, 13.25)
    assert row["deviation"] == pytest.approx(2**0.5)
    assert (row["within_test"], row["within_both"], row["told"]) == (1, 2, 2)


@pytest.mark.slow
def test_both_models_are_scored_with_and_without_tuning(toy_corpus: Path, tmp_path: Path):
    small = (
        "[gmm]\nmixtures = [1, 2]\niterations = [6, 4]\n[tuning]\nwords = 1\n"
        "[hybrid]\nparameters = {n_centers = 100, n_candidates = 200}\nvtlp_warps = []\n"
    )
    mixtures, hybrid = train_and_score("toy", toy_corpus, tmp_path, 1, RATE, settings=small)
    assert (mixtures.system, hybrid.system) == ("mixtures", "hybrid")
    for each in (mixtures, hybrid):
        assert 0 <= each.wer < 60
        assert each.reported is not None
        assert each.search["lm_scale"] > 0
    again = train_and_score("toy", toy_corpus, tmp_path, 1, RATE, settings=small)
    assert [each.wer for each in again] == [mixtures.wer, hybrid.wer]
