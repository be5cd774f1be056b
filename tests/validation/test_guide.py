"""The guide names every code that a check can give, and no other."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.validation.test_one_fault import FAULTS

ROOT = Path(__file__).parents[2]
OF_READERS = {
    "no-audio", "no-speaker", "no-transcript", "missing-file", "empty-file", "unreadable", "truncated", "not-finite",
    "bad-segment", "too-long",
}  # fmt: skip


def codes_of_checks() -> Iterator[str]:
    """The codes that the sources give to findings by themselves."""
    for path in [*(ROOT / "asr/validation").glob("*.py"), ROOT / "asr/training/input_checks.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.IfExp):
                named = node.func.id if isinstance(node.func, ast.Name) else "stopping"
                place = {"stopping": 0, "costing": 0, "warning": 0, "Issue": 0}.get(named)
                if place is not None and len(node.args) > place and isinstance(node.args[place], ast.Constant):
                    yield node.args[place].value


def test_the_guide_explains_every_code_and_no_other():
    text = (ROOT / "docs/validation.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    explained = {code for row in rows for code in re.findall(r"`([a-z0-9-]+)`", row)}
    assert explained == {*codes_of_checks(), *OF_READERS}


def test_more_than_thirty_kinds_of_fault_are_tried_one_by_one():
    assert len(FAULTS) > 60
    assert len({finding.split()[1] for finding in FAULTS}) > 40
