"""The arrows of docs/architecture.md: a floor may import those below it and never knows those above."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLOORS = (  # from the lowest
    "discriminants",
    "asr",
    "asr.util",
    "asr.corpus",
    "asr.features",
    "asr.lexicon",
    "asr.grammar",
    "asr.hmm",
    "asr.decode",
    "asr.lattices",
    "asr.alignment",
    "asr.acoustic",
    "asr.scoring",
    "asr.report",
    "asr.validation",
    "asr.runs",
    "asr.recognition",
    "asr.training",
    "asr.commands",
    "asr.api",
    "asr.__init__",  # the public interface, whose names are loaded on first use
    "asr.cli",
    "asr.__main__",
    "recipes",
    "benchmarks",
    "examples",
    "tests",
)
HOUSE = {floor.partition(".")[0] for floor in FLOORS}
SOURCES = sorted(
    path
    for part in ("asr", "discriminants", "recipes", "benchmarks", "examples")
    for path in (ROOT / part).rglob("*.py")
)


def imported_modules(source: str) -> Iterator[tuple[int, str]]:
    """Line and dotted name of every import, those inside functions included; `from a import b` gives `a.b`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = "." * node.level + (node.module or "")
            yield from ((node.lineno, f"{start}.{alias.name}") for alias in node.names)


def floor_of(module: str) -> str | None:
    """The floor that a module or a name in it belongs to; None outside the house."""
    package, *inner = module.split(".")
    if package not in HOUSE:
        return None
    return f"asr.{inner[0]}" if package == "asr" and inner and f"asr.{inner[0]}" in FLOORS else package


@cache
def imports() -> list[tuple[Path, int, str]]:
    """File, line and dotted name of every import of the sources."""
    return [
        (path.relative_to(ROOT), line, module)
        for path in SOURCES
        for line, module in imported_modules(path.read_text(encoding="utf-8"))
    ]


def arrows() -> Iterator[tuple[str, str, str]]:
    """Place, importing floor, imported floor."""
    for place, line, module in imports():
        own, other = floor_of(".".join(place.with_suffix("").parts)), floor_of(module)
        assert own is not None
        if other is not None:
            yield f"{place}:{line}", own, other


def test_every_part_of_asr_has_its_floor():
    parts = {
        f"asr.{path.stem}"
        for path in (ROOT / "asr").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert parts == {floor for floor in FLOORS if floor.startswith("asr.")}


def test_arrows_only_point_down():
    found = list(arrows())
    assert len(found) > 200
    upward = [
        f"{place}: {own} imports {other}" for place, own, other in found if FLOORS.index(other) > FLOORS.index(own)
    ]
    assert not upward


def test_the_discriminants_stand_alone():
    assert not [place for place, own, other in arrows() if own == "discriminants" != other]


def test_nobody_imports_recipes_benchmarks_examples_or_tests():
    tops = {"recipes", "benchmarks", "examples", "tests"}
    assert not [place for place, own, other in arrows() if other in tops and own != other]


def test_imports_are_absolute_so_that_the_arrows_can_be_seen():
    assert not [f"{place}:{line}" for place, line, module in imports() if module.startswith(".")]


@pytest.mark.parametrize(
    ("source", "floors"),
    [
        ("import asr.cli", ["asr.cli"]),
        ("import numpy, asr.scoring.wer as wer", [None, "asr.scoring"]),
        ("from asr import __version__, cli", ["asr", "asr.cli"]),
        ("def f():\n    from asr.runs.run import Run", ["asr.runs"]),
        ("from discriminants import OROLSClassifier", ["discriminants"]),
        ("from asrx.cli import main", [None]),
    ],
)
def test_an_arrow_is_seen_however_it_is_written(source, floors):
    assert [floor_of(module) for _, module in imported_modules(source)] == floors
