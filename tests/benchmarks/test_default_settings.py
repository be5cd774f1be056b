"""`python -m benchmarks.default_settings` on the sets that scikit-learn brings."""

import re

import pytest

from benchmarks.default_settings import LOADED, main


def test_every_learner_has_an_error_on_every_set(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--draws", "1", "--learners", "OROLS", "FixedSizeLSSVM"])
    errors, entropies, seconds = (table.splitlines()[1:] for table in capsys.readouterr().out.strip().split("\n\n"))
    assert [row.split()[0] for row in errors] == ["SVC", "OROLS", "FixedSizeLSSVM"]
    for row in (*errors, *entropies[1:], *seconds):
        assert len(re.findall(r"\s[\d.]+", row)) == len(LOADED) + 1
    assert all(float(row.split()[1]) < 10 for row in errors)


def test_a_folder_without_sets_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: object) -> None:
    with pytest.raises(SystemExit):
        main(["--data-dir", str(tmp_path)])
    assert "has no .npz file" in capsys.readouterr().err
