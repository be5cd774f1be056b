"""`python -m benchmarks.bayesian_lssvm` on few runs, and on made-up sets in the layout of the benchmark folder."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_moons

from benchmarks.bayesian_lssvm import main


def test_error_bars_and_inputs_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--only", "coverage", "inputs", "--runs", "3"])
    printed = capsys.readouterr().out
    covered = re.search(r"sinc: ([\d.]+) % of new targets .* over 3 runs", printed)
    assert covered is not None
    assert 90 < float(covered[1]) < 99
    assert re.findall(r"(\w+): exactly the relevant inputs in [23] of 3 runs", printed) == ["sinc", "moons"]


def test_bars_that_follow_the_noise_stand_beside_those_that_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--only", "noise", "--runs", "2"])
    rows = re.findall(r"variance (.*): ([\d.]+) % .* x < 0, ([\d.]+) %.* error ([\d.]+)", capsys.readouterr().out)
    assert [row[0] for row in rows] == ["learned", "one for all", "known"]
    assert float(rows[1][1]) > 99 and float(rows[1][2]) < min(float(rows[0][2]), float(rows[2][2]))


def test_times_errors_and_coverage_stand_beside_those_of_peers(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--only", "times", "--sizes", "60"])
    rows = re.findall(r"^ +60 (\S.*?) +([\d.]+) +([\d.]+)(?: +([\d.]+))? *$", capsys.readouterr().out, re.MULTILINE)
    assert len(rows) == 5
    assert all(50 < float(covered) <= 100 for _, _, _, covered in rows[1:])


def test_probabilities_are_compared_on_every_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = make_moons(120, noise=0.3, random_state=0)
    for folder in ("ida", "lssvm"):
        (tmp_path / folder).mkdir()
    parts = np.stack([np.random.default_rng(seed).permutation(120) for seed in range(3)])
    np.savez(tmp_path / "ida" / "heart.npz", x=X, y=2 * y - 1, train=parts[:, :60], test=parts[:, 60:])
    np.savez(tmp_path / "lssvm" / "wbc.npz", x=X, y=2 * y - 1)
    np.savez(tmp_path / "ripley.npz", x_train=X[:60], y_train=y[:60], x_test=X[60:], y_test=y[60:])
    sets = ["heart", "wbc", "ripley"]
    main(["--only", "probabilities", "--data-dir", str(tmp_path), "--partitions", "1", "--sets", *sets])
    printed = capsys.readouterr().out.splitlines()
    rows = [re.fullmatch(r"(\w+) +(\d+)" + 3 * r" +([\d.]+) +([\d.]+) +([\d.]+)", line) for line in printed[2:-3]]
    assert [(row[1], row[2]) for row in rows if row] == [("heart", "60"), ("wbc", "80"), ("ripley", "60")]
    losses = np.array([[float(row[place]) for place in (3, 6, 9)] for row in rows if row])
    found = [float(mean) for mean in re.findall(r" ([\d.]+)", printed[-3].replace(",", ""))]
    np.testing.assert_allclose(found, losses.mean(axis=0), atol=2e-4)
    less = (losses < losses[:, 2:]).T
    for method, line, wins in zip(("leave-one-out", "moderated"), printed[-2:], less, strict=False):
        assert line == f"{method}: lower log-loss than the calibrated SVM on {wins.sum()} of 3 sets"
    main(["--only", "probabilities", "--data-dir", str(tmp_path), "--partitions", "1", "--sets", "heart", "--choose"])
    assert re.search(r"^heart +40 ", capsys.readouterr().out, re.MULTILINE)
