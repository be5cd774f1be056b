"""One-sentence messages for errors of inputs, disk or memory."""

import errno
import gc
import mmap
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO, cast

from asr.util.errors import AsrError, printable
from asr.util.memory_errors import out_of_memory
from asr.util.supervisor import RESUME

# Reserve for reporting an out-of-memory error; only address space until written.
_KEPT_BACK = mmap.mmap(-1, 16 << 20)
_MEMORY = "Use more memory or fewer --jobs"
_DISK = {
    errno.ENOSPC: "Free some space",
    errno.EDQUOT: "Free some space",
    errno.EFBIG: "Allow larger files (ulimit -f, or another file system)",
    errno.EIO: "Check the disk",
    errno.EROFS: "Use a writable folder",
}


def sentence_of(error: BaseException, *, resumable: bool = False) -> str | None:
    """Return the message for the user, on one line; None for a bug, which needs a traceback.

    `resumable` adds how to resume a command that keeps finished stages.
    """
    resume = f". {RESUME}" if resumable else ""
    _KEPT_BACK.close()
    first = out_of_memory(error)
    if first is not None:
        said = printable(str(first).strip() or "an allocation failed", 300)
        _forget(error)
        return f"out of memory: {said.rstrip('.')}. {_MEMORY}{resume}"
    if isinstance(error, OSError):
        return _of_the_system(error) + (resume if error.errno in _DISK else "")
    if isinstance(error, AsrError):
        return str(error)
    from discriminants.util.errors import DiscriminantError

    return printable(str(error)) if isinstance(error, DiscriminantError) else None


def _of_the_system(error: OSError) -> str:
    what = printable(str(error) if error.filename is None else f"{error.filename}: {error.strerror}")
    return f"{what}. {_DISK[error.errno]}" if error.errno in _DISK else what


def drop_unwritten_output() -> None:
    """Discard unwritten output of the standard streams, to avoid errors when the interpreter exits."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not _can_be_flushed(stream):
            with suppress(OSError, ValueError), Path(os.devnull).open("wb") as nowhere:
                os.dup2(nowhere.fileno(), stream.fileno())


@contextmanager
def standard_output_named() -> Iterator[None]:
    """Name standard output in disk errors inside the block."""
    stream = sys.stdout
    sys.stdout = cast(TextIO, stream and _Named(stream))
    try:
        yield
        _flush_output()
    except SystemExit as stop:
        if not stop.code:
            _flush_output()
        raise
    finally:
        sys.stdout = stream


def _flush_output() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


class _Named:
    """A stream whose errors include its name."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with _naming():
            return self._stream.write(text)

    def flush(self) -> None:
        with _naming():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _naming() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _DISK:
            raise
        raise OSError(error.errno, error.strerror, "standard output") from error


def _can_be_flushed(stream: TextIO) -> bool:
    try:
        stream.flush()
    except (OSError, ValueError):
        return False
    return True


def _forget(error: BaseException | None) -> None:
    """Release the objects in the frames of an error, to free memory for reporting it."""
    while error is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__
    gc.collect()
