"""Real speech, from FLAC files to words: the utterances of AN4 whose audio is at hand, two minutes of training."""

from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [pytest.mark.corpus, pytest.mark.slow]

SETTINGS = """
[features]
normalize = "utterance"
[hybrid_features]
context = 5
lda_dimension = 30
[gmm]
mixtures = [1, 2, 4]
iterations = [10, 6, 6]
[hybrid.parameters]
n_centers = 300
n_candidates = 900
alpha = 1e-5
[hybrid_search]
lm_scale = 5.0
insertion_penalty = -10.0
[tuning]
held_out = 0
"""


def test_two_minutes_of_an4_is_enough_to_recognize_some_of_it(
    asr: Callable[..., tuple[int, str, str]], speech_data: Path, tmp_path: Path
) -> None:
    corpus = speech_data / "an4"
    config = tmp_path / "settings.toml"
    config.write_text(SETTINGS)
    status, _, err = asr(
        "train", "--data", corpus / "audio_train", "--lexicon", corpus / "lexicon.txt", "--work-dir", tmp_path / "run",
        "--config", config,
    )  # fmt: skip
    assert status == 0, err
    assert "left out" not in err
    model = tmp_path / "run" / "model.safetensors"
    status, _, err = asr("decode", "--model", model, "--data", corpus / "audio_test", "--out", tmp_path)
    assert status == 0, err
    _, table, _ = asr("score", corpus / "audio_test" / "text", tmp_path / "hyp.txt")
    assert float(table.split()[1]) < 60.0
