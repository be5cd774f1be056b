"""Robust access to numba: `njit` with a cache of compiled code that never prevents a start.

Numba stores compiled code next to the source or in the user's cache directory. It raises an error if neither is
writable, if the disk is full, or if a stored file is damaged. Object code with a changed bit is executed unchecked.
Importing this module fixes this for every function compiled afterwards, also in other packages (librosa compiles on
import):

- Stored files have a checksum. Unreadable files are compiled again, and unwritable ones are not stored.
- Without a writable directory, a temporary one is used by this process and its workers.
- A log message announces compilation, once per command: not again later, and not in its worker processes.
"""

import atexit
import logging
import multiprocessing
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Self

from numba import njit
from numba.core import caching as _caching

from discriminants.util.paths import exists

__all__ = ["njit"]

logger = logging.getLogger(__name__)

caching: Any = _caching  # numba has no types for its inner classes
_SLOW = "compiling functions for this machine (first use only; may take minutes on a busy machine)"
_ADVICE = "Use NUMBA_CACHE_DIR with a writable directory for fast starts"


class _SealedCacheFile(caching.IndexDataCacheFile):
    """Index and compiled code of one function; each file ends in a checksum of its content and purpose.

    Numba reads files with and without the checksum, because it stops at the end of its own part. The checksum covers
    the source and the signature, because an index may be newer than its code. A full disk or another process can
    come between the two writes.
    """

    _key: Any = None

    def load(self, key: Any) -> Any:
        self._key = key
        found = super().load(key)
        if found is None:
            _announce_compiling()
        return found

    def save(self, key: Any, data: Any) -> None:
        self._key = key
        super().save(key, data)

    def _load_index(self) -> Any:
        return super()._load_index() if self._is_whole(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        path = self._data_path(name)
        if not self._is_whole(path):
            raise OSError(f"{path}: wrong checksum")  # numba handles it as a missing file
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, path: str) -> Iterator[IO[bytes]]:
        written = BytesIO()
        yield written
        content = written.getvalue()
        with super()._open_for_write(path) as file:
            file.write(content + self._seal(path, content))

    def _is_whole(self, path: str) -> bool:
        try:
            content = Path(path).read_bytes()
        except OSError:
            return False
        length = len(self._seal(path, b""))
        whole = content[-length:] == self._seal(path, content[:-length])
        if not whole:
            logger.info("%s: recompiling, because the file is damaged or the source has changed", path)
        return whole

    def _seal(self, path: str, content: bytes) -> bytes:
        what = (self._version, self._source_stamp, None if path == self._index_path else self._key)
        return blake2b(repr(what).encode() + content, digest_size=32).digest()


class _TemporaryCacheLocator(caching._SourceFileBackedLocatorMixin, caching._CacheLocator):
    """Locator used last, if no standard directory of numba is writable."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file = file
        self._lineno = function.__code__.co_firstlineno
        self._path = str(_temporary_folder() / self.get_suitable_cache_subpath(file))

    def get_cache_path(self) -> str:
        return self._path

    @classmethod
    def from_function(cls, function: Any, file: str) -> Self | None:
        if not exists(Path(file)):
            return None
        self = cls(function, file)
        with suppress(OSError):
            self.ensure_cache_path()
        return self


@cache
def _temporary_folder() -> Path:
    """Return a folder for this process and its workers, removed at exit, or a missing path if none can be created."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="compiled-"))
    except OSError:
        _tell_once(f"no writable directory for compiled code: every process compiles again. {_ADVICE}")
        return Path(os.devnull) / "nowhere"
    os.environ["NUMBA_CACHE_DIR"] = str(folder)  # for workers
    atexit.register(_remove, folder, os.getpid())
    _tell_once(f"compiled code is kept only for this run in {folder}, so the start is slow. {_ADVICE}")
    return folder


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # not in a fork
        shutil.rmtree(folder, ignore_errors=True)


def _announce_compiling() -> None:
    """Log once that functions are compiled; the worker processes of a command log nothing."""
    if not _announced and multiprocessing.current_process().name == "MainProcess":
        _announced.append(_SLOW)
        logger.info(_SLOW)


def _tell_once(message: str) -> None:
    """Log only the first warning; the following ones have the same cause."""
    if not _told:
        _told.append(message)
        logger.warning(message)


_announced: list[str] = []
_told: list[str] = []


_save_overload = caching.Cache.save_overload


def _save_if_possible(self: Any, signature: Any, data: Any) -> None:
    try:
        _save_overload(self, signature, data)
    except OSError as error:
        _tell_once(f"compiled code cannot be saved in {self.cache_path} ({error.strerror}). {_ADVICE}")


# Numba looks these up whenever it caches a function.
caching.Cache.save_overload = _save_if_possible
caching.IndexDataCacheFile = _SealedCacheFile
caching.CompileResultCacheImpl._locator_classes.append(_TemporaryCacheLocator)
