import importlib.util
import re
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "recognizer_in_one_sitting.py"


@pytest.mark.slow
def test_the_example_goes_from_audio_to_words_and_is_short_enough_to_read(toy_corpus, capsys):
    spec = importlib.util.spec_from_file_location("recognizer_in_one_sitting", SCRIPT)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.main(["--corpus-dir", str(toy_corpus)])
    printed = capsys.readouterr().out
    for number in range(1, 9):
        assert f"] {number}. " in printed
    rates = re.findall(r"(gmm-8|hybrid): word error rate ([\d.]+) %", printed)
    assert [system for system, _ in rates] == ["gmm-8", "hybrid"]
    assert all(float(rate) < 20 for _, rate in rates)
    assert len(SCRIPT.read_text(encoding="utf-8").splitlines()) < 200
