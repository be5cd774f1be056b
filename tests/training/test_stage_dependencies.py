"""Stages that do not depend on what has changed are kept, and the models are those of a training begun anew."""

import logging
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from asr import train
from asr.training.config import TrainingConfig
from asr.training.pipeline import depends
from tests.toy_corpus import RATE, make_toy_corpus

SETTINGS: dict[str, Any] = {
    "features": {"sample_rate": RATE},
    "gmm": {"mixtures": [1], "iterations": [3]},
    "hybrid": {"classifier": "sklearn.naive_bayes.GaussianNB", "mixtures": 0, "vtlp_warps": [], "smbr_epochs": 0},
    "tuning": {"words": 1, "scale_factors": [1.0], "penalty_factors": [0.0]},
}
STAGES = ("features", "gmm", "gmm-tied", "transcripts", "tuning-1-gmm", "tuning-1-gmm-tied", "tuning-1-hybrid",
          "tuning-search", "hybrid", "hybrid-sequences")  # fmt: skip
OTHER_CLASSIFIER = {"classifier": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis"}


def changed(table: str, values: Any) -> dict[str, Any]:
    return SETTINGS | {table: SETTINGS.get(table, {}) | values if isinstance(values, dict) else values}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_toy_corpus(tmp_path_factory.mktemp("corpus"), n_speakers=3, n_utterances=9)


@pytest.fixture(scope="module")
def begun(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Work directory of a training with the unchanged settings."""
    work_dir = tmp_path_factory.mktemp("begun") / "run"
    train(corpus / "train", corpus / "lexicon.txt", work_dir, config=SETTINGS, jobs=1)
    return work_dir


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        (changed("hybrid", OTHER_CLASSIFIER), {"features", "gmm", "transcripts", "tuning-1-gmm"}),
        (changed("tuning", {"words": 10**6}), {"features", "gmm", "transcripts", "hybrid"}),
        (changed("ngram_order", 1), {"features", "gmm", "transcripts", "hybrid", "tuning-1-gmm", "tuning-1-hybrid"}),
        (changed("speakers", {"maps": "fmllr"}), {"features", "gmm", "tuning-1-gmm"}),
        (changed("gmm_search", {"lm_scale": 3.0}), {"features"}),
    ],
)
def test_what_is_kept_leads_to_the_models_of_a_training_begun_anew(
    corpus: Path, begun: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, settings: dict[str, Any],
    kept: set[str],
) -> None:  # fmt: skip
    data, lexicon = corpus / "train", corpus / "lexicon.txt"
    shutil.copytree(begun, tmp_path / "run")
    caplog.set_level(logging.DEBUG, logger="asr")
    train(data, lexicon, tmp_path / "run", config=settings, jobs=1, rebuild_changed=True)
    skipped = {message.split()[1][:-1] for message in caplog.messages if message.endswith("already done, skipped")}
    assert skipped == kept
    train(data, lexicon, tmp_path / "anew", config=settings, jobs=1)
    for name in ("model.safetensors", "gmm.safetensors", "grammar.arpa", "held-out.json"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "anew" / name).read_bytes(), name


def test_a_stage_depends_on_all_that_those_it_is_made_of_depend_on() -> None:
    names = [*TrainingConfig.model_fields, "data", "hybrid.classifier", "tuning.words", "another"]
    made_of = [("features", "gmm"), ("gmm", "gmm-tied"), ("gmm", "transcripts"), ("gmm", "hybrid"),
               ("hybrid", "hybrid-sequences"), ("features", "tuning-1-gmm"), ("tuning-1-gmm", "tuning-1-hybrid"),
               ("tuning-1-hybrid", "tuning-search")]  # fmt: skip
    for (first, then), name in product(made_of, names):
        assert depends(then, name) or not depends(first, name), (first, then, name)
    assert {stage for stage in STAGES if depends(stage, "data")} == set(STAGES)
    assert {stage for stage in STAGES if depends(stage, "another")} == set(STAGES) - {"features"}
    assert {stage for stage in STAGES if depends(stage, "lexicon")} == set(STAGES) - {"features"}
