"""What `import asr` costs, and that its names are there however they are reached."""

import json
import subprocess
import sys

import pytest

import asr as package

HEAVY = ["joblib", "kaldifst", "librosa", "numba", "numpy", "pydantic", "safetensors", "scipy", "sklearn", "soundfile"]
FUNCTIONS = ["align", "describe", "extract_features", "score", "train", "tune", "validate"]


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_importing_asr_imports_nothing_heavy():
    loaded = json.loads(run("import asr, json, sys; print(json.dumps(sorted(sys.modules)))"))
    assert not set(HEAVY) & set(loaded)
    assert [name for name in loaded if name.startswith("asr")] == ["asr"]


def test_recognizer_imports_no_training_checks_or_reports():
    loaded = json.loads(run("import json, sys; from asr import Recognizer; print(json.dumps(sorted(sys.modules)))"))
    assert not {"asr.training", "asr.validation", "asr.report"} & set(loaded)


def test_every_name_offered_is_there():
    for name in package.__all__:
        assert getattr(package, name).__name__.rpartition(".")[2] == name
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="has no attribute 'recognise'"):
        package.recognise  # noqa: B018


@pytest.mark.slow
@pytest.mark.parametrize("first", ["", "import asr.alignment.ctm, asr.scoring.wer", "from asr import Recognizer"])
def test_align_and_score_are_functions_whatever_was_imported_before(first):
    program = f"""
{first}
import asr
from asr import align, score
assert score(["A B"], ["A C"]).errors == 1 == asr.score(["A B"], ["A C"]).errors
try:
    align("nowhere", "nowhere", "nowhere")
except FileNotFoundError:
    print("called")
"""
    assert run(program) == "called\n"
