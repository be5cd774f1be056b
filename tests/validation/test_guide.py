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


READERS = (
    "asr/corpus/list_file.py", "asr/corpus/list_file.py", "asr/corpus/data_directory.py",
    "asr/lexicon/reading.py", "asr/util/text_lines.py",
    "asr/training/given_settings.py",
)  # fmt: skip


def nodes_of_checks() -> Iterator[ast.AST]:
    """The syntax of the sources that give codes to findings by themselves."""
    for path in [*(ROOT / "asr/validation").glob("*.py"), *(ROOT / name for name in READERS)]:
        yield from ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def codes_of_checks() -> Iterator[str]:
    """The codes in calls that make an issue."""
    for node in nodes_of_checks():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.IfExp) and node.args:
            named = node.func.id if isinstance(node.func, ast.Name) else "stopping"
            code = node.args[0]
            if named in ("stopping", "costing", "warning", "Issue") and isinstance(code, ast.Constant):
                yield code.value


def test_the_guide_explains_every_code_and_no_other():
    text = (ROOT / "docs/how-to/prepare-data.md").read_text(encoding="utf-8").partition("### Findings and remedies")[2]
    rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    explained = {code for row in rows for code in re.findall(r"`([a-z0-9-]+)`", row)}
    assert {*codes_of_checks()} <= explained
    assert explained <= {node.value for node in nodes_of_checks() if isinstance(node, ast.Constant)} | OF_READERS


def test_more_than_thirty_kinds_of_fault_are_tried_one_by_one():
    assert len(FAULTS) > 60
    assert len({finding.split()[1] for finding in FAULTS}) > 40
