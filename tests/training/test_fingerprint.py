"""That speech which a model was trained on is known again, and other speech is not."""

import logging

import numpy as np
import pytest

from asr.acoustic.model_file import load_model
from asr.acoustic.model_metadata import SAMPLED_UTTERANCES, Provenance
from asr.commands.tune import tune_model
from asr.features.frame_table import FrameTable
from asr.training.config import TuningSettings
from asr.training.dataset import Dataset
from asr.training.fingerprint import trained_utterances, training_sample

ONE = TuningSettings(scale_factors=(1.0,), penalty_factors=(0.0,))


def dataset(first: int, last: int, word: str = "WORD", n_frames: int = 2) -> Dataset:
    ids = [f"u{number}" for number in range(first, last)]
    table = FrameTable.from_utterances(ids, ids, [np.ones((n_frames, 3), np.float32)] * len(ids))
    return Dataset(table, dict.fromkeys(ids, (word,)))


def trained_on(heard: Dataset) -> Provenance:
    return Provenance(utterances=1, speakers=1, words=1, seconds=1.0, version="0", sample=training_sample(heard))


def test_all_of_a_small_training_is_known_again_and_nothing_else() -> None:
    heard = trained_on(dataset(0, 20))
    assert trained_utterances(heard, dataset(15, 25)) == [f"u{number}" for number in range(15, 20)]
    assert trained_utterances(heard, dataset(20, 40)) == []
    assert trained_utterances(heard, dataset(0, 20, word="OTHER")) == []
    assert trained_utterances(heard, dataset(0, 20, n_frames=3)) == []
    assert trained_utterances(None, dataset(0, 20)) == []


def test_part_of_a_large_training_has_its_share_of_the_sample() -> None:
    heard = trained_on(dataset(0, 20 * SAMPLED_UTTERANCES))
    assert len(heard.sample) == SAMPLED_UTTERANCES
    for start in (0, 7 * SAMPLED_UTTERANCES, 18 * SAMPLED_UTTERANCES):
        found = trained_utterances(heard, dataset(start, start + 2 * SAMPLED_UTTERANCES))
        assert len(found) == pytest.approx(SAMPLED_UTTERANCES / 10, rel=0.6)


def test_tuning_on_the_speech_of_the_training_is_told_and_goes_on(toy_model, toy_corpus, tmp_path, caplog) -> None:
    caplog.set_level(logging.INFO, logger="asr")

    def texts(split: str) -> list[str]:
        caplog.clear()
        tune_model(toy_model, toy_corpus / split, tmp_path / split, settings=ONE)
        assert not [message for message in caplog.messages if "held-out" in message]
        return [message for message in caplog.messages if "was trained on utterances" in message]

    assert texts("test") == []
    (message,) = texts("train")
    assert message.startswith(f"the model was trained on utterances of {toy_corpus}/train, such as train0-000, ")
    assert load_model(tmp_path / "train").trained_on == load_model(toy_model).trained_on
