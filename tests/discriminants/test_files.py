"""What is written is whole or absent, errors of the disk name the path, and killed processes leave no litter."""

import ast
import errno
import os
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from discriminants.serialization.model_file import save_arrays
from discriminants.util.files import atomic_directory, atomic_write, write_array

ROOT = Path(__file__).parents[2]
NUMBERS = np.random.default_rng(0).random(5000)


def as_lines(path: Path) -> None:
    with atomic_write(path) as temporary, temporary.open("w") as stream:
        for number in NUMBERS:
            stream.write(f"{number}\n")


def as_text(path: Path) -> None:
    with atomic_write(path) as temporary:
        temporary.write_text("".join(f"{number}\n" for number in NUMBERS))


def as_archive(path: Path) -> None:
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        np.savez(file, allow_pickle=False, first=NUMBERS, second=NUMBERS)


def as_stage(path: Path) -> None:
    with atomic_directory(path) as temporary:
        write_array(temporary / "frames.npy", NUMBERS)
        (temporary / "note.txt").write_text("x" * 30_000)


WRITERS: dict[str, Callable[[Path], None]] = {
    "lines": as_lines,
    "text": as_text,
    "archive": as_archive,
    "array": lambda path: write_array(path, NUMBERS),
    "model": lambda path: save_arrays(path, {"a": NUMBERS, "b": NUMBERS}, {"kind": "test"}),
    "stage": as_stage,
}


@contextmanager
def files_no_longer_than(n_bytes: int) -> Iterator[None]:
    """Stands in for a full disk: Python ignores the signal, so that a write fails with "File too large"."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def size_of(path: Path) -> int:
    files = [path] if path.is_file() else list(path.iterdir())
    return max(file.stat().st_size for file in files)


@pytest.mark.parametrize("writer", WRITERS)
def test_a_file_that_the_disk_cannot_hold_is_an_error_with_its_path_and_leaves_nothing(
    tmp_path: Path, writer: str
) -> None:
    WRITERS[writer](tmp_path / "whole")
    size = size_of(tmp_path / "whole")
    for limit in (0, 1, 127, 4096, 8192, size // 2, size - 4097, size - 100, size - 1):
        with files_no_longer_than(limit), pytest.raises(OSError, match=r".") as caught:
            WRITERS[writer](tmp_path / "out")
        assert caught.value.errno == errno.EFBIG, limit
        assert str(caught.value.filename).startswith(str(tmp_path / "out"))
        assert [path.name for path in tmp_path.iterdir()] == ["whole"], limit
    with files_no_longer_than(size):
        WRITERS[writer](tmp_path / "out")


def test_a_zip_that_the_disk_cannot_hold_is_named_though_its_member_is_open(tmp_path: Path) -> None:
    with (
        files_no_longer_than(1000),
        pytest.raises(OSError, match="File too large") as caught,
        atomic_write(tmp_path / "out.zip") as temporary,
        zipfile.ZipFile(temporary, "w") as archive,
        archive.open("member", "w") as member,
    ):
        member.write(bytes(100_000))
    assert caught.value.filename == str(tmp_path / "out.zip")


def test_a_file_of_a_directory_is_named_by_the_path_it_would_have_had(tmp_path: Path) -> None:
    with files_no_longer_than(100), pytest.raises(OSError, match="File too large") as caught:
        as_stage(tmp_path / "features")
    assert caught.value.filename == str(tmp_path / "features" / "frames.npy")


def test_an_error_about_another_file_is_left_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught, atomic_write(tmp_path / "out"):
        (tmp_path / "input").read_text()
    assert caught.value.filename == str(tmp_path / "input")
    with pytest.raises(ConnectionError, match="nobody answered"), atomic_write(tmp_path / "out"):
        raise ConnectionError("nobody answered")


def test_an_array_is_written_as_numpy_would(tmp_path: Path) -> None:
    mapped = np.lib.format.open_memmap(tmp_path / "mapped", "w+", np.float32, (300, 7))
    for array in (NUMBERS, NUMBERS.reshape(50, 100).T, NUMBERS[::3], np.arange(0), np.float64(1.5), mapped):
        expected = BytesIO()
        np.save(expected, array, allow_pickle=False)
        write_array(tmp_path / "array.npy", array)
        assert (tmp_path / "array.npy").read_bytes() == expected.getvalue()


def test_nobody_writes_arrays_past_the_error_of_a_full_disk() -> None:
    calls = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for part in ("asr", "discriminants", "recipes")
        for path in (ROOT / part).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Attribute) and ast.unparse(node) in ("np.save", "numpy.save"))
        or (isinstance(node, ast.Attribute) and node.attr == "tofile")
    ]  # fmt: skip
    assert not calls


def a_process_that_is_gone() -> int:
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize("kind", ["file", "directory"])
def test_what_a_killed_process_left_of_a_path_goes_with_the_next_writing(tmp_path: Path, kind: str) -> None:
    gone = a_process_that_is_gone()
    litter = tmp_path / f".hyp.txt.partial-{gone}"
    kept = {f".hyp.txt.partial-{os.getppid()}", f".hyp.ctm.partial-{gone}", f"hyp.txt.partial-{gone}", "hyp.ctm"}
    for name in kept:
        (tmp_path / name).touch()
    if kind == "file":
        litter.touch()
        with atomic_write(tmp_path / "hyp.txt") as temporary:
            temporary.touch()
    else:
        litter.mkdir()
        (litter / "part").touch()
        with atomic_directory(tmp_path / "hyp.txt"):
            pass
    assert {path.name for path in tmp_path.iterdir()} == kept | {"hyp.txt"}


def test_litter_of_a_process_killed_between_two_writings_goes_too(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "hyp.txt") as temporary:
        temporary.touch()
    litter = tmp_path / f".hyp.txt.partial-{a_process_that_is_gone()}"
    litter.touch()
    os.utime(tmp_path, ns=(0, 1))  # the time resolution of directories is too coarse for a test
    with atomic_write(tmp_path / "hyp.txt") as temporary:
        temporary.touch()
    assert not litter.exists()


def test_many_files_in_one_directory_do_not_make_it_be_listed_many_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[str] = []
    listing = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: listed.append(path) or listing(path))
    for number in range(50):
        with atomic_write(tmp_path / f"{number}.TextGrid") as temporary:
            temporary.touch()
    assert len(listed) == 1


def test_atomic_write_litter_of_a_later_file_goes_with_that_file(tmp_path: Path) -> None:
    gone = a_process_that_is_gone()
    for name in ("a.txt", "b.txt"):
        (tmp_path / f".{name}.partial-{gone}").touch()
    for name in ("a.txt", "b.txt"):
        with atomic_write(tmp_path / name) as temporary:
            temporary.touch()
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", "b.txt"}


@pytest.mark.parametrize("name", ["", "."])
def test_the_current_directory_is_no_file(name: str) -> None:
    with pytest.raises(IsADirectoryError) as caught, atomic_write(name):
        pass
    assert caught.value.filename == "."
