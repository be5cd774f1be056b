"""The one door to numba: `njit`, with a cache of compiled code on which no start depends.

Numba keeps what it compiled beside the source or in the user's cache directory, and ends the program where neither can
be written, where the disk is full, and where a kept file is damaged; object code in which only a bit changed is run as
it is. Importing this module mends that for every function compiled afterwards, in other packages too (librosa compiles
as it is imported): what is kept bears a digest, what cannot be read is compiled again, what cannot be written is not
kept, and where there is no place a temporary one serves this process and its workers. That compiling takes time is
logged when a process begins to, and again where it begins anew.
"""

import atexit
import logging
import math
import os
import shutil
import tempfile
import time
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

caching: Any = _caching  # of whose inner classes numba says no types
_SLOW = "compiling functions for this machine: once, the first time that they are used; a busy machine takes minutes"
_PAUSE = 30.0  # seconds without compiling after which more of it is news
_ADVICE = "set NUMBA_CACHE_DIR to a directory that can be written, and later starts are fast"


class _SealedCacheFile(caching.IndexDataCacheFile):
    """Index and compiled code of one function; each file ends in a digest of what it holds and what that is for.

    Numba reads files without the digest and with it alike, as it stops where its own part ends. The digest covers
    the source and the signature, because an index may be newer than the code that it names: a full disk or another
    process can come between writing the one and the other.
    """

    _key: Any = None

    def load(self, key: Any) -> Any:
        self._key = key
        found = super().load(key)
        if found is None:
            _tell_of_compiling()
        return found

    def save(self, key: Any, data: Any) -> None:
        self._key = key
        super().save(key, data)
        _compiled_at[0] = time.monotonic()

    def _load_index(self) -> Any:
        return super()._load_index() if self._is_whole(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        path = self._data_path(name)
        if not self._is_whole(path):
            raise OSError(f"{path}: is not as it was written")  # which numba takes for a file that is not there
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
            logger.info("%s: compiled again, as it is damaged or of other source", path)
        return whole

    def _seal(self, path: str, content: bytes) -> bytes:
        what = (self._version, self._source_stamp, None if path == self._index_path else self._key)
        return blake2b(repr(what).encode() + content, digest_size=32).digest()


class _TemporaryCacheLocator(caching._SourceFileBackedLocatorMixin, caching._CacheLocator):
    """Asked last, when every place that numba knows has refused."""

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
    """For this process and its workers, removed at its end; a path that is not there if there is no place at all."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="compiled-"))
    except OSError:
        _tell_once(f"compiled code can be kept nowhere, so that every process compiles anew; {_ADVICE}")
        return Path(os.devnull) / "nowhere"
    os.environ["NUMBA_CACHE_DIR"] = str(folder)  # for workers
    atexit.register(_remove, folder, os.getpid())
    _tell_once(f"compiled code can be kept for this run only ({folder}), which starts slowly; {_ADVICE}")
    return folder


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # and not a fork of it
        shutil.rmtree(folder, ignore_errors=True)


def _tell_of_compiling() -> None:
    """Log that functions are compiled, unless one was just before: each stage of a long work has its own."""
    if time.monotonic() - _compiled_at[0] > _PAUSE:
        logger.info(_SLOW)
    _compiled_at[0] = time.monotonic()


def _tell_once(message: str) -> None:
    """Log the first of the warnings: what follows from it is no news."""
    if not _told:
        _told.append(message)
        logger.warning(message)


_compiled_at = [-math.inf]  # when the last function was, by the monotonic clock
_told: list[str] = []


_save_overload = caching.Cache.save_overload


def _save_if_possible(self: Any, signature: Any, data: Any) -> None:
    try:
        _save_overload(self, signature, data)
    except OSError as error:
        _tell_once(f"compiled code cannot be kept in {self.cache_path} ({error.strerror}); {_ADVICE}")


# Numba looks these up whenever it caches a function.
caching.Cache.save_overload = _save_if_possible
caching.IndexDataCacheFile = _SealedCacheFile
caching.CompileResultCacheImpl._locator_classes.append(_TemporaryCacheLocator)
