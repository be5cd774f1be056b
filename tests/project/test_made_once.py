"""Directories shared by test workers, and the files that start first."""

from pathlib import Path

import pytest

from tests.conftest import LONG_FILES
from tests.made_once import made_once


def test_made_once_repeats_only_a_failed_maker(tmp_path_factory: pytest.TempPathFactory) -> None:
    calls = []

    def make(folder: Path) -> None:
        calls.append(folder)
        folder.mkdir()
        if len(calls) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made_once(tmp_path_factory, "example", make)
    first, second = (made_once(tmp_path_factory, "example", make) for _ in range(2))
    assert first == second
    assert first.is_dir()
    assert len(calls) == 2


def test_long_files_exist() -> None:
    tests = Path(__file__).parents[1]
    assert [name for name in LONG_FILES if not (tests / name).is_file()] == []
