"""Real speech, from FLAC files to words: the utterances of AN4 whose audio is at hand, a minute of training."""

from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [pytest.mark.corpus, pytest.mark.slow]

SETTINGS = """
[gmm]
mixtures = [1, 2]
iterations = [8, 5]
[hybrid.parameters]
n_centers = 150
n_candidates = 300
[tuning]
held_out = 0
"""


def test_a_minute_of_an4_is_enough_to_recognise_some_of_it(
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
    rates = {}
    for name in ("gmm", "model"):
        model, out = tmp_path / "run" / f"{name}.safetensors", tmp_path / name
        status, _, err = asr("decode", "--model", model, "--data", corpus / "audio_test", "--out", out)
        assert status == 0, err
        _, table, _ = asr("score", corpus / "audio_test" / "text", out / "hyp.txt")
        rates[name] = float(table.split()[1])
    assert rates["model"] < 60.0, rates
