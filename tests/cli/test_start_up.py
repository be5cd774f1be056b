"""`asr --help` must answer at once, so nothing heavy may be imported on the way to it."""

import json
import subprocess
import sys

import pytest

from asr.util.errors import MODEL_NEEDED

HEAVY = {
    "dask", "distributed", "hmmlearn", "jinja2", "joblib", "kaldialign", "kaldifst", "librosa", "matplotlib", "numba",
    "numpy", "rich", "safetensors", "scipy", "sklearn", "soundfile", "soxr",
}  # fmt: skip

PROBE = """
import json, sys
from asr.cli import main
try:
    main(sys.argv[1:])
except SystemExit as stop:
    status = stop.code
json.dump({"status": status, "modules": sorted(sys.modules)}, sys.stderr)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "",
        "validate",
        "features",
        "train",
        "tune",
        "align",
        "decode",
        "combine",
        "score",
        "report",
        "info",
        "lexicon",
        "segment",
    ],
)
def test_help_answers_without_importing_anything_heavy(command: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", PROBE, *command.split(), "--help"], capture_output=True, text=True, check=True
    )
    report = json.loads(result.stderr)
    assert report["status"] == 0
    assert HEAVY.isdisjoint(report["modules"])
    assert "Usage: asr" in result.stdout
    assert "asr train" in result.stdout or f"asr {command}" in result.stdout


def test_a_missing_file_is_reported_before_anything_heavy_is_imported() -> None:
    arguments = ["decode", "--model", "no-such-model", "--out", "out", "hello.wav"]
    result = subprocess.run([sys.executable, "-c", PROBE, *arguments], capture_output=True, text=True, check=True)
    sentence, report = result.stderr.split("\n", 1)
    assert sentence == f"asr: error: --model: 'no-such-model' does not exist. {MODEL_NEEDED}"
    assert json.loads(report)["status"] == 1
    assert HEAVY.isdisjoint(json.loads(report)["modules"])
