"""`python -m benchmarks.nystroem` on a small made-up set in the layout of the benchmark folder."""

import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.learners.datasets import clusters
from benchmarks.nystroem import main


def test_every_way_is_measured_and_the_wins_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = clusters(400, 5, 3, seed=1)
    np.savez(tmp_path / "usps.npz", x_train=X[:300], y_train=y[:300], x_test=X[300:], y_test=y[300:])
    main(["--data-dir", str(tmp_path), "--sets", "usps", "--sizes", "5", "20", "--choosers", "greedy", "k-means"])
    printed = capsys.readouterr().out.splitlines()
    rows = [re.fullmatch(r"usps +(\d+) (\S.*?) +([\d.]+) +([\d.]+)", line) for line in printed[1:-1]]
    ways = [(row[1], row[2]) for row in rows if row]
    assert ways == [(size, way) for size in ("5", "20") for way in ("greedy", "k-means", "at random")]
    errors = np.array([float(row[3]) for row in rows if row]).reshape(2, 3)
    wins = int((errors[:, 0] < errors[:, 2]).sum())
    assert printed[-1] == f"greedy has the smaller error in {wins} of 2"
