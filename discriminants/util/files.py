"""Files and directories that are whole or absent: a temporary sibling, flushed to disk, then renamed.

An error of the disk names the path that was to be written, which a full disk does not by itself.
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

# What the system says of a disk that takes no more, whoever asked it to.
DISK_TROUBLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS})
_PARTIAL = re.compile(r"\.(?P<name>.+)\.partial-(?P<process>[0-9]{1,9})", re.DOTALL)

# When a directory, by device and inode, was changed last, in nanoseconds, as far as this process did it.
_changed_by_us: dict[tuple[int, int], int] = {}
# What killed processes left in a directory when it was listed, by the name that they were writing.
_left: dict[tuple[int, int], dict[str, list[str]]] = {}


@contextmanager
def atomic_write(path: Path | str) -> Iterator[Path]:
    """Yield a temporary sibling of `path`; rename it to `path` when the block ends well, remove it otherwise.

    Raises OSError when the disk is full or fails, with `path` as its `filename`. Other errors pass through as they are.
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
    """Yield a temporary sibling directory, renamed to `path` (which must not exist) when the block ends well.

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
    """Write one `.npy` file, whole or not at all; raises OSError as `atomic_write` does.

    Instead of `np.save`, which hands a real file to the C library and drops what that says on closing it: of an array
    whose last block did not fit on the disk no error is to be seen, and the file lacks its end.
    """
    from numpy.lib import format  # not on the way to `asr --help`

    with atomic_write(path) as temporary, temporary.open("wb") as file:
        format.write_array(_Plain(file), array, allow_pickle=False)


class _Plain:
    """A file of which NumPy sees only `write`."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write = file.write


def _prepared(path: Path) -> Path:
    """The temporary sibling, in a directory that is there and free of what killed processes left of this path."""
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
    """Errors of the disk inside the block get the path that the user knows.

    `write` and `fsync` do not say which file was full, and an error that names the temporary sibling would send the
    user after a file that is gone.
    """
    try:
        yield
    except OSError as error:
        number, shown = error.errno, _shown(error, path, temporary)
        if number is None or shown is None or (error.filename is None and number not in DISK_TROUBLE):
            raise
        raise OSError(number, os.strerror(number), str(shown)) from error


def _shown(error: OSError, path: Path, temporary: Path) -> Path | None:
    """The path at fault as the user knows it; None where the error is about a file elsewhere."""
    if error.filename is None:
        return path
    try:
        return path / Path(os.fsdecode(error.filename)).relative_to(temporary)
    except (TypeError, ValueError):
        return None


def _remove_leftovers(directory: Path, name: str) -> None:
    """Remove the temporary siblings of a path that killed processes left.

    Directories are listed only if somebody else changed them since this process did last, lest writing many files
    into one directory took time with the square of their number.
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
        return False  # it is there and somebody else's
    return False


def _remember(directory: Path) -> None:
    with suppress(OSError):
        _changed_by_us[_identity(directory)] = directory.stat().st_mtime_ns


def _identity(directory: Path) -> tuple[int, int]:
    status = directory.stat()
    return status.st_dev, status.st_ino
