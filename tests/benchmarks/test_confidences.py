"""The benchmark of confidences runs, and its measures are what they are said to be."""

import json

import numpy as np
import pytest

from benchmarks.confidences.__main__ import figures, main


@pytest.mark.usefixtures("unlogged")
def test_errors_and_measures_are_printed_and_pooled(toy_model, toy_corpus, tmp_path, capsys):
    data = str(toy_corpus / "test")
    main(["--model", str(toy_model), "--data", data, "--grammar", "loop", "--pairs", str(tmp_path / "pairs")])
    *_, last = capsys.readouterr().out.splitlines()
    main(["--pool", str(tmp_path / "pairs")])
    found = json.loads(last)
    assert found["oracle WER"] <= found["WER"]
    pooled = json.loads(capsys.readouterr().out)["pooled"]
    assert pooled == pytest.approx(found["confidences"], abs=2e-4)


def test_measures_of_known_confidences():
    right = np.array([True, True, False, True, False])
    found = figures(np.array([0.95, 0.85, 0.75, 0.55, 0.55]), right)
    assert found.auc == pytest.approx((2 + 2 + 0.5) / 6)
    assert found.calibration_error == pytest.approx((0.05 + 0.15 + 0.75 + 0.05 * 2) / 5)
    assert figures(np.full(2, 0.9), np.ones(2, bool)).rounded()["auc"] is None
    assert figures(np.where(right, 1.0, 0.0), right).cross_entropy == pytest.approx(1.0, abs=1e-4)
    assert figures(np.full(5, 0.6), right).cross_entropy == pytest.approx(0.0, abs=1e-9)
