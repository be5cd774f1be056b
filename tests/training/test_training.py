"""What `asr train` leaves at which time."""

import logging

import pytest

from asr import Recognizer, train
from asr.acoustic.model_file import load_model
from asr.training import training
from tests.toy_corpus import RATE, make_toy_corpus


def test_mixtures_can_be_used_before_the_search_is_tuned(tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.INFO, logger="asr")
    corpus = make_toy_corpus(tmp_path / "corpus", n_utterances=8)
    settings = {
        "features": {"sample_rate": RATE},
        "gmm": {"mixtures": [1], "iterations": [4]},
        "gmm_search": {"lm_scale": 3.0},
        "tuning": {"scale_factors": [1.0], "penalty_factors": [0.0], "words": 1},
    }

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(training, "_tune", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train(corpus / "train", corpus / "lexicon.txt", tmp_path / "run", config=settings)
    path = tmp_path / "run" / "gmm.safetensors"
    assert load_model(path).search.lm_scale == 3.0
    assert Recognizer.load(path).recognize(next((corpus / "audio" / "test").glob("*.wav"))).text
    assert not (tmp_path / "run" / "model.safetensors").exists()
    assert "gmm.safetensors (mixtures), which can be used already and is written again when its search" in caplog.text
    with monkeypatch.context() as patch:  # again: what may be tuned already stays
        patch.setattr(training, "_tune", interrupted)
        path.write_bytes(b"tuned")
        with pytest.raises(KeyboardInterrupt):
            train(corpus / "train", corpus / "lexicon.txt", tmp_path / "run", config=settings)
        assert path.read_bytes() == b"tuned"
