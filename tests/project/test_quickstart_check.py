"""The check that continuous integration makes of the quickstart's results."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "check_quickstart.py"


@pytest.fixture(scope="module")
def check() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_quickstart", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def results(gmm_wer: float = 12.0, hybrid_wer: float = 9.0, words: int = 1200) -> list[dict[str, Any]]:
    common = {"grammar": "wordpair", "split": "test", "unit": "mono", "words": words}
    return [
        {"system": "gmm-1", "kind": "gmm", "primary": False, "wer": 30.0, **common},
        {"system": "gmm-8", "kind": "gmm", "primary": False, "wer": gmm_wer, **common},
        {"system": "orols", "kind": "discriminant", "primary": True, "wer": hybrid_wer, **common},
    ]


def run(check: ModuleType, folder: Path, rows: list[dict[str, Any]], seconds: float) -> None:
    (folder / "results.json").write_text(json.dumps(rows))
    check.main(folder, seconds)


def test_good_results_pass(check: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "report.html").touch()
    run(check, tmp_path, results(), 200)


@pytest.mark.parametrize(
    ("rows", "seconds", "complaint"),
    [
        (results(gmm_wer=4.9, hybrid_wer=4.0), 200, "between 5 and 20"),
        (results(gmm_wer=20.1), 200, "between 5 and 20"),
        (results(hybrid_wer=12.0), 200, "not better than gmm-8"),
        (results(hybrid_wer=float("nan")), 200, "not better than gmm-8"),
        (results(words=999), 200, "at least 1000"),
        (results(), 361, "360 s are allowed"),
        (results()[:2], 200, "exactly one is needed"),
        (results() + results()[2:], 200, "exactly one is needed"),
    ],
)
def test_every_broken_promise_is_refused(
    check: ModuleType, tmp_path: Path, rows: list[dict[str, Any]], seconds: float, complaint: str
) -> None:
    (tmp_path / "report.html").touch()
    with pytest.raises(SystemExit, match=complaint):
        run(check, tmp_path, rows, seconds)


def test_a_missing_report_is_refused(check: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"report\.html"):
        run(check, tmp_path, results(), 200)
