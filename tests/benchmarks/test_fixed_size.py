"""`python -m benchmarks.fixed_size` on small made-up sets in the layout of the benchmark folder."""

import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.fixed_size import main
from benchmarks.learners.datasets import clusters


@pytest.mark.slow
def test_every_part_is_measured_in_a_process_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = clusters(400, 5, 2, seed=1)
    (tmp_path / "large").mkdir()
    np.savez(tmp_path / "large" / "a9a.npz", x_train=X[:300], y_train=y[:300], x_test=X[300:], y_test=y[300:])
    options = ["--data-dir", str(tmp_path), "--centers", "30", "--samples", "500"]
    main([*options, "--only", "a9a", "sinc", "clusters"])
    printed = capsys.readouterr().out.splitlines()[1:]
    rows = [re.fullmatch(r"(\w+) +(\d+) +(\d+) (\S+) +([\d.]+)( %)? +([\d.]+) +(\d+)", line) for line in printed]
    assert [(row[1], row[2], row[3], row[4]) for row in rows if row] == [
        ("a9a", "300", "30", "fixed-size"),
        ("a9a", "300", "30", "Nystroem"),
        ("sinc", "20000", "10", "fixed-size"),
        ("sinc", "20000", "10", "Nystroem"),
        ("clusters", "500", "30", "fixed-size"),
    ]
    assert all(float(row[5]) < 0.1 for row in rows if row and row[1] == "sinc")


def test_the_sets_are_asked_for_where_they_are_needed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "shuttle"])
    assert "a9a and shuttle need --data-dir" in capsys.readouterr().err
