"""Compiled code is kept where it can be, and what is wrong with the place or the files never ends a program."""

import logging
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

from discriminants.parallel.workers import LocalWorkers
from discriminants.util import numba_cache

ROOT = Path(__file__).parents[2]
MODULE = """
from discriminants.util.numba_cache import njit

@njit(cache=True)
def twice(number):
    return {} * number
"""
PROGRAM = """
import logging, sys
logging.basicConfig(format="%(message)s", level=sys.argv[1])
sys.path.insert(0, sys.argv[2])
import some_module
print(some_module.twice(21), len(some_module.twice.stats.cache_hits))
"""


def run(folder: Path, **environment: str) -> tuple[str, str]:
    """What the function gives and whether its code was kept; and what was logged."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "INFO", str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"} | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


@pytest.fixture
def module(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "some_module.py").write_text(MODULE.format(2))
    return folder


@pytest.fixture
def unwritable(module: Path, tmp_path: Path) -> dict[str, str]:
    """No folder beside the module, and none of the user's, can be made: files are where they would be."""
    (module / "__pycache__").touch()
    (tmp_path / "file").touch()
    return {"HOME": str(tmp_path / "file"), "XDG_CACHE_HOME": str(tmp_path / "file"), "NUMBA_CACHE_DIR": ""}


def test_code_is_kept_beside_the_source_and_used_again(module: Path) -> None:
    answer, said = run(module)
    assert answer == "42 0"
    assert said.startswith("compiling functions")
    assert said.count("\n") == 1
    assert run(module) == ("42 1", "")


@pytest.mark.parametrize(("process", "expected"), [("MainProcess", 1), ("LokyProcess-2", 0)])
def test_compiling_is_logged_once_and_not_by_workers(caplog, monkeypatch, process: str, expected: int) -> None:
    monkeypatch.setattr(numba_cache, "_announced", [])
    monkeypatch.setattr(multiprocessing.current_process(), "name", process)
    with caplog.at_level(logging.INFO, logger=numba_cache.__name__):
        for _ in range(3):
            numba_cache._announce_compiling()
    assert len(caplog.messages) == expected


def test_workers_of_a_command_have_other_process_names() -> None:
    [name] = LocalWorkers(2).map(_process_name, [0])
    assert name != multiprocessing.current_process().name == "MainProcess"


def _process_name(_: int) -> str:
    return multiprocessing.current_process().name


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "foreign"])
def test_damaged_code_is_compiled_again(module: Path, suffix: str, damage: str) -> None:
    run(module)
    [file] = (module / "__pycache__").glob(f"*{suffix}")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes({"flip": content, "cut": content[:50], "empty": b"", "foreign": b"\x80\x04N."}[damage])
    answer, said = run(module)
    assert answer == "42 0"
    assert "recompiling" in said
    assert run(module) == ("42 1", "")


@pytest.mark.slow
def test_code_of_an_older_source_is_never_used(module: Path) -> None:
    """As where the disk was full, or the process killed, between the index that names the code and the code."""
    run(module)
    [code] = (module / "__pycache__").glob("*.nbc")
    old = code.read_bytes()
    (module / "some_module.py").write_text(MODULE.format(3))
    assert run(module)[0] == "63 0"
    code.write_bytes(old)
    assert run(module)[0] == "63 0"
    assert run(module)[0] == "63 1"


def test_where_nothing_of_the_program_or_user_can_be_written_a_temporary_place_serves(
    module: Path, unwritable: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "temporary").mkdir()
    answer, said = run(module, **unwritable, TMPDIR=str(tmp_path / "temporary"))
    assert answer == "42 0"
    assert said.count("\n") == 2
    assert "NUMBA_CACHE_DIR" in said
    assert not list((tmp_path / "temporary").iterdir())


def test_where_nothing_at_all_can_be_written_code_is_compiled_and_not_kept(
    module: Path, unwritable: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = "import tempfile\ndef refuse(*_, **__): raise FileNotFoundError\ntempfile.mkdtemp = refuse\n" + PROGRAM
    monkeypatch.setattr(sys.modules[__name__], "PROGRAM", program)
    answer, said = run(module, **unwritable)
    assert answer == "42 0"
    assert said.count("\n") == 2
    assert "every process compiles again" in said


def test_a_full_disk_only_keeps_nothing(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
    monkeypatch.setattr(sys.modules[__name__], "PROGRAM", limit + PROGRAM)
    answer, said = run(module)
    assert answer == "42 0"
    assert said.count("\n") == 2
    assert "cannot be saved" in said
    assert "File too large" in said


def test_every_module_takes_its_compiler_from_the_one_door() -> None:
    importing = [
        str(path.relative_to(ROOT))
        for part in ("asr", "discriminants", "recipes")
        for path in (ROOT / part).rglob("*.py")
        if any(line.startswith("from numba import") and "njit" in line for line in path.read_text().splitlines())
    ]
    assert importing == ["discriminants/util/numba_cache.py"]
