"""What `asr train` leaves at which time."""

import logging
from types import SimpleNamespace

import pytest

from asr import Recognizer, train
from asr.acoustic.model_file import load_model
from asr.training import pipeline
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
        patch.setattr(pipeline, "_tune", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train(corpus / "train", corpus / "lexicon.txt", tmp_path / "run", config=settings)
    path = tmp_path / "run" / "gmm.safetensors"
    assert load_model(path).search.lm_scale == 3.0
    assert Recognizer.load(path).recognize(next((corpus / "audio" / "test").glob("*.wav"))).text
    assert not (tmp_path / "run" / "model.safetensors").exists()
    assert "gmm.safetensors (mixtures), which can be used already and is written again when its search" in caplog.text
    with monkeypatch.context() as patch:  # again: results that tuning may change stay the same
        patch.setattr(pipeline, "_tune", interrupted)
        path.write_bytes(b"tuned")
        with pytest.raises(KeyboardInterrupt):
            train(corpus / "train", corpus / "lexicon.txt", tmp_path / "run", config=settings)
        assert path.read_bytes() == b"tuned"


@pytest.mark.parametrize(
    ("n_done", "n_pairs", "texts"),
    [(1, 4, "so the others take at most about 4 min 30 s"), (1, 2, "so the other takes at most about 1 min 30 s"),
     (3, 5, "3 of the 5 pairs are done; what is left of them takes about 40 s")],
)  # fmt: skip
def test_time_left_leaves_out_what_the_first_pair_took_for_once(n_done, n_pairs, texts, caplog):
    seconds = {"gmm": 20.0, "tuning-1-gmm": 30.0, "tuning-1-hybrid": 60.0, "tuning-10-hybrid": 999.0}
    seconds |= {f"tuning-{number}-{part}": 10.0 for number in (2, 3) for part in ("gmm", "hybrid")}
    run = SimpleNamespace(
        done_stages=lambda: list(seconds), stage_time=lambda name: SimpleNamespace(wall=seconds[name])
    )
    with caplog.at_level(logging.INFO, logger="asr.training.pipeline"):
        pipeline._tell_time_left(SimpleNamespace(run=run), n_done, n_pairs)
    (message,) = caplog.messages
    assert texts in message
