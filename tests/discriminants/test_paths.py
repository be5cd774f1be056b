"""What is absent is told from what cannot be looked at, on every Python."""

import ast
import errno
import os
from pathlib import Path

import pytest

from discriminants.util.paths import exists, is_dir, is_file

ROOT = Path(__file__).parents[2]
CHECKS = (exists, is_file, is_dir)


def test_files_and_directories_are_seen_also_through_links(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "to-file").symlink_to("file")
    (tmp_path / "to-folder").symlink_to(".")
    for name, expected in {"file": (1, 1, 0), "to-file": (1, 1, 0), ".": (1, 0, 1), "to-folder": (1, 0, 1)}.items():
        assert tuple(check(tmp_path / name) for check in CHECKS) == expected


def test_what_is_neither_file_nor_directory_exists(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert [check(tmp_path / "pipe") for check in CHECKS] == [True, False, False]


@pytest.mark.parametrize("name", ["none", "none/below", "file/below", "broken", "loop", "zero\0byte", "\udcff\ud800"])
@pytest.mark.parametrize("check", CHECKS)
def test_what_is_not_there_is_absent(check, tmp_path, name):
    (tmp_path / "file").write_text("x")
    (tmp_path / "broken").symlink_to("none")
    (tmp_path / "loop").symlink_to("loop")
    assert check(tmp_path / name) is False


@pytest.mark.parametrize("check", CHECKS)
def test_a_name_too_long_to_look_at_is_an_error(check, tmp_path):
    with pytest.raises(OSError, match="too long"):
        check(tmp_path / ("x" * 300))


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESTALE])
@pytest.mark.parametrize("check", CHECKS)
def test_what_cannot_be_looked_at_is_an_error(check, number, monkeypatch, tmp_path):
    def fails(*_arguments, **_options):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "stat", fails)
    with pytest.raises(OSError) as caught:
        check(tmp_path)
    assert caught.value.errno == number


def test_nobody_asks_the_path_itself_which_would_hide_errors_of_the_disk():
    asked = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for part in ("asr", "discriminants", "recipes")
        for path in sorted((ROOT / part).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in {"exists", "is_file", "is_dir"}
        and not (isinstance(node.value, ast.Attribute) and node.value.attr == "path")
    ]
    assert not asked, "ask discriminants.util.paths"
