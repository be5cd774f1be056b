"""Atomic writes of files and directories: a temporary sibling, flushed to disk, then renamed.

A disk error names the path to be written; the system's own error for a full disk does not.
"""

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from discriminants.util.paths import is_dir

if TYPE_CHECKING:
    import numpy as np

# Errors of a full or failing disk, for any writer.
DISK_TROUBLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS})
_PARTIAL = re.compile(r"\.(?P<name>.+)\.partial-(?P<process>[0-9]{1,9})", re.DOTALL)

# Time in ns of the last change of a directory (device, inode) by this process.
_changed_by_us: dict[tuple[int, int], int] = {}
# Files left in a directory by killed processes when it was listed, by the name that they were writing.
_left: dict[tuple[int, int], dict[str, list[str]]] = {}


@contextmanager
def atomic_write(path: Path | str) -> Iterator[Path]:
    """Yield a temporary sibling of `path`; rename it to `path` if the block succeeds, otherwise remove it.

    Raises OSError if the disk is full or fails, with `path` as its `filename`. Other errors are not changed.
    """
    path = Path(path)
    temporary = _prepared(path)
    try:
        with _named(path, temporary):
            yield temporary
            _sync(temporary)
            temporary.replace(path)
            _sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)
    _remember(path.parent)


@contextmanager
def atomic_directory(path: Path | str) -> Iterator[Path]:
    """Yield a temporary sibling directory, renamed to `path` (which must not exist) if the block succeeds.

    Raises OSError as `atomic_write` does.
    """
    path = Path(path)
    temporary = _prepared(path)
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        with _named(path, temporary):
            temporary.mkdir()
            yield temporary
            for child in sorted(temporary.rglob("*")):
                _sync(child)
            _sync(temporary)
            temporary.replace(path)
            _sync(path.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    _remember(path.parent)


def write_array(path: Path | str, array: "np.ndarray") -> None:
    """Write one `.npy` file atomically; raises OSError as `atomic_write` does.

    `np.save` passes a real file to the C library and ignores its error on closing. If the last block of an array does
    not fit on the disk, no error is raised, and the file is truncated.
    """
    from numpy.lib import format  # imported late to keep `asr --help` fast

    with atomic_write(path) as temporary, temporary.open("wb") as file:
        format.write_array(_Plain(file), array, allow_pickle=False)


class _Plain:
    """A file that exposes only `write` to NumPy."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write = file.write


def _prepared(path: Path) -> Path:
    """Return the temporary sibling; create its directory and remove files left by killed processes for this path."""
    if not path.name:  # "" and "." name the current directory
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(path.parent, path.name)
    return path.with_name(f".{path.name}.partial-{os.getpid()}")


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _named(path: Path, temporary: Path) -> Iterator[None]:
    """Attach the user's path to disk errors inside the block.

    `write` and `fsync` do not name the full file, and the temporary sibling no longer exists when the user reads the
    error.
    """
    try:
        yield
    except OSError as error:
        number, shown = error.errno, _shown(error, path, temporary)
        if number is None or shown is None or (error.filename is None and number not in DISK_TROUBLE):
            raise
        raise OSError(number, os.strerror(number), str(shown)) from error


def _shown(error: OSError, path: Path, temporary: Path) -> Path | None:
    """Return the failing path as given by the user, or None if the error is about another file."""
    if error.filename is None:
        return path
    try:
        return path / Path(os.fsdecode(error.filename)).relative_to(temporary)
    except (TypeError, ValueError):
        return None


def _remove_leftovers(directory: Path, name: str) -> None:
    """Remove the temporary siblings of a path that killed processes left.

    A directory is listed only if another process changed it after this process did. Otherwise writing many files into
    one directory would take quadratic time.
    """
    identity = _identity(directory)
    if _changed_by_us.get(identity) != directory.stat().st_mtime_ns:
        left: dict[str, list[str]] = {}
        _left[identity] = left
        for entry in os.listdir(directory):  # noqa: PTH208 (names alone: twice as fast)
            found = _PARTIAL.fullmatch(entry)
            if found is not None and _is_gone(int(found["process"])):
                left.setdefault(found["name"], []).append(entry)
    for entry in _left.get(identity, {}).pop(name, ()):
        leftover = directory / entry
        if is_dir(leftover):
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def _is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False  # it exists and belongs to another user
    return False


def _remember(directory: Path) -> None:
    with suppress(OSError):
        _changed_by_us[_identity(directory)] = directory.stat().st_mtime_ns


def _identity(directory: Path) -> tuple[int, int]:
    status = directory.stat()
    return status.st_dev, status.st_ino
