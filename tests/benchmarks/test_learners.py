"""`python -m benchmarks.learners` on small made-up sets in the layout of the benchmark folder."""

import json
import re

import numpy as np
import pytest

from benchmarks.learners import child
from benchmarks.learners.__main__ import main
from benchmarks.learners.choice import grid
from benchmarks.learners.datasets import NAMES, clusters, load
from benchmarks.learners.report import learner_requirements
from benchmarks.learners.settings import LABELS, SETTINGS
from benchmarks.learners.tasks import TASKS

LARGE = {"a9a", "shuttle"}
OWN_DATA = ["selection", "orols_memory", "krls_memory", "kfd_path", "greedy", "descent_memory"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The four sets: 400 training and 120 test samples of five features, three classes (a9a: two)."""
    folder = tmp_path_factory.mktemp("sets")
    (folder / "large").mkdir()
    for name in NAMES:
        X, y = clusters(520, 5, 2 if name == "a9a" else 3, seed=1)
        X = np.clip(4.0 * X + 8.0, 0, 15).astype(np.uint8) if name == "letter" else X
        arrays = {"x_train": X[:400], "y_train": 2 * y[:400] - 1, "x_test": X[400:], "y_test": 2 * y[400:] - 1}
        np.savez(folder / ("large" if name in LARGE else ".") / f"{name}.npz", **arrays)
    return folder


@pytest.fixture
def in_this_process(monkeypatch):
    """Children without the seconds that starting an interpreter takes."""
    asked = []

    def run(task, arguments, threads):
        asked.append((task, threads))
        return json.loads(json.dumps(TASKS[task](**json.loads(json.dumps(arguments)))))

    monkeypatch.setattr("benchmarks.learners.__main__.run_child", run)
    return asked


def test_a_quick_run_prints_every_table_and_what_was_required(folder, in_this_process, capsys):
    main(["--data-dir", str(folder), "--quick", "--threads", "1"])
    printed = capsys.readouterr().out
    assert [task for task, _ in in_this_process] == ["learner"] * 32 + OWN_DATA
    for name in NAMES:
        assert f"{name}: 1 BLAS thread" in printed
    for label in LABELS.values():
        assert len(re.findall(rf"│ {re.escape(label)} +│", printed)) == 4
    assert "the same centers in the same order" in printed
    assert len(re.findall(r"^(PASS|FAIL)  ", printed, re.MULTILINE)) == 14
    assert "Quick run" in printed


def test_without_data_the_other_parts_run_and_what_is_skipped_is_said(in_this_process, capsys):
    main(["--quick", "--threads", "1"])
    printed = capsys.readouterr().out
    assert "Skipped, no --data-dir: letter, usps, a9a, shuttle" in printed
    assert [task for task, _ in in_this_process] == OWN_DATA


def test_a_folder_that_is_not_there_is_said(in_this_process, tmp_path, capsys):
    main(["--quick", "--only", "letter", "--data-dir", str(tmp_path / "none")])
    assert "none is not a folder: letter" in " ".join(capsys.readouterr().out.split())
    assert in_this_process == []


@pytest.mark.slow
def test_a_child_process_answers_in_numbers_of_its_own(folder):
    question = {"data_dir": str(folder), "data": "usps", "method": "npd", "sizes": [400, 100]}
    answer = child.run_child("learner", question, threads=1)
    assert answer.keys() == {"fit_seconds", "predict_seconds", "memory", "error", "evaluations"}
    assert 0 <= answer["error"] < 40
    assert 10 <= answer["evaluations"] <= 100


def test_a_child_that_fails_is_an_error_with_its_words(tmp_path):
    with pytest.raises(RuntimeError, match=r"usps\.npz"):
        child.run_child("learner", {"data_dir": str(tmp_path), "data": "usps", "method": "npd", "sizes": None}, 1)


def test_sets_are_scaled_as_documented(folder):
    letter, shuttle = load(folder, "letter"), load(folder, "shuttle")
    with np.load(folder / "letter.npz") as file:
        np.testing.assert_allclose(letter.X, file["x_train"] / 15.0 * 2.0 - 1.0)
    np.testing.assert_allclose(shuttle.X.mean(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(shuttle.X.std(axis=0), 1.0, atol=1e-6)
    assert set(letter.y) == set(letter.y_test) == {0, 1, 2}


def test_the_choice_tries_every_setting_of_the_grid(folder, in_this_process, capsys):
    methods = ["svc", "orols", "nystroem"]
    main(["--data-dir", str(folder), "--only", "letter", "--methods", *methods, "--choose", "--quick"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("letter ")]
    for method in methods:
        errors = [float(words[2]) for words in lines if words[1] == method]
        assert len(errors) == len(grid("letter", method))
        assert errors == sorted(errors)


def test_every_method_has_settings_from_the_grid():
    for name, methods in SETTINGS.items():
        assert methods.keys() == LABELS.keys()
        for method, parameters in methods.items():
            tried = grid(name, method)
            assert any(all(parameters[key] == pytest.approx(value) for key, value in one.items()) for one in tried)
        for ours, peer in (("orols_atoms", "omp"),):
            assert methods[ours]["n_centers"] == methods[peer]["atoms"]


def test_requirements_are_read_off_the_rows():
    row = {"error": 2.0, "fit_seconds": 2.0, "predict_seconds": 0.1}
    better = {"error": 1.9, "fit_seconds": 1.0, "predict_seconds": 0.01}
    assert all(r.reached for r in learner_requirements("letter", {"orols": better, "svc": row}))
    assert not any(r.reached for r in learner_requirements("letter", {"orols": row, "svc": better}))
    assert len(learner_requirements("usps", {"orols": better, "svc": row})) == 2
    assert learner_requirements("shuttle", {"orols": better, "svc": row}) == []
    assert learner_requirements("letter", {"orols": better}) == []
