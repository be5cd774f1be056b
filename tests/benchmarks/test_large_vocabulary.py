"""The benchmark of a large vocabulary, with a small one."""

import json
from pathlib import Path

import pytest

from asr.grammar import read_arpa
from benchmarks.large_vocabulary import main, random_lexicon, write_trigram


def test_write_trigram_is_normalized_after_each_history(tmp_path: Path) -> None:
    words = random_lexicon(20, 0).words
    write_trigram(tmp_path / "small.arpa", words, 200, 0)
    model = read_arpa(tmp_path / "small.arpa")
    assert sum(map(len, model.log_probabilities)) == 200
    for history in [(), *model.back_offs]:
        total = sum(10 ** model.log10_probability(history, word) for word in (*words, "</s>"))
        assert total == pytest.approx(1.0, abs=1e-3), history


@pytest.mark.slow
def test_main_prints_figures_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--words", "100", "--ngrams", "2000", "--utterances", "3", "--noise", "0.5"])
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    (search,) = found["searches"]
    assert search["wer"] < 20 and search["rtf"] > 0
