"""What `asr train` leaves at which time."""

import logging
from types import SimpleNamespace

import pytest

from asr import Recognizer, train
from asr.acoustic.model_file import load_model
from asr.training import pipeline
from asr.training.tuning import cross_validation
from tests.toy_corpus import RATE, make_toy_corpus


def test_mixtures_can_be_used_before_the_search_is_tuned(tmp_path, monkeypatch):
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
        patch.setattr(pipeline, "cross_validate", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train(corpus / "train", corpus / "lexicon.txt", tmp_path / "run", config=settings)
    path = tmp_path / "run" / "gmm.safetensors"
    assert load_model(path).search.lm_scale == 3.0
    assert Recognizer.load(path).recognize(next((corpus / "audio" / "test").glob("*.wav"))).text
    assert not (tmp_path / "run" / "model.safetensors").exists()
    with monkeypatch.context() as patch:  # again: what may be tuned already stays
        patch.setattr(pipeline, "cross_validate", interrupted)
        path.write_bytes(b"tuned")
        with pytest.raises(KeyboardInterrupt):
            train(corpus / "train", corpus / "lexicon.txt", tmp_path / "run", config=settings)
        assert path.read_bytes() == b"tuned"


@pytest.mark.parametrize(
    ("number", "n_folds", "left"),
    [(1, 4, "at most 4 min 30 s"), (1, 2, "at most 1 min 30 s"), (3, 5, "about 40 s"), (3, 3, "")],
)
def test_time_left_ignores_the_first_fold_after_others(number, n_folds, left, caplog):
    seconds = {"gmm": 20.0, "tuning-1-gmm": 30.0, "tuning-1-hybrid": 60.0, "tuning-10-hybrid": 999.0}
    seconds |= {f"tuning-{number}-{part}": 10.0 for number in (2, 3) for part in ("gmm", "hybrid")}
    run = SimpleNamespace(
        done_stages=lambda: list(seconds), stage_time=lambda name: SimpleNamespace(wall=seconds[name])
    )
    with caplog.at_level(logging.INFO, logger="asr"):
        cross_validation._log_fold(SimpleNamespace(run=run), number, n_folds)
    (message,) = caplog.messages
    assert f"fold {number} of {n_folds}" in message
    assert left in message
