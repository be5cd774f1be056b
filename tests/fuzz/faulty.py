"""Readers with one fault each, for the tests of the fuzzer."""

import ctypes
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from asr.util.errors import CorpusError
from tests.fuzz.mutators.byte_mutators import spoil_bytes
from tests.fuzz.mutators.text_mutators import spoil_text
from tests.fuzz.outcome import Unsound
from tests.fuzz.reader import reader

Use = Callable[[Path], None]

VALID = b"valid line 1\nvalid line 2\n"
VICTIM = Path(os.environ.get("FUZZ_VICTIM", "/nonexistent"))
"""A folder outside, with a file in it, that nothing may happen to."""

_kept: list[np.ndarray] = []


class _Unmended(CorpusError):
    """An error whose message is as it was given: others make theirs fit for a terminal."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self._message = message

    def __str__(self) -> str:
        return self._message


def _spoilt(path: Path) -> bool:
    return path.read_bytes() != VALID


def _faulty(name: str) -> Callable[[Use], Use]:
    return reader(name, {"x.txt": VALID}, (spoil_text, spoil_bytes))


@_faulty("sound")
def _sound(path: Path) -> None:
    (path.parent / "own.txt").write_text("inside", encoding="utf-8")
    if _spoilt(path):
        raise CorpusError(f"{path}: is not valid; {path.read_bytes()!r}")


@_faulty("untyped")
def _untyped(path: Path) -> None:
    if b"line 2" not in path.read_bytes():
        raise KeyError("line")


@_faulty("exits")
def _exits(path: Path) -> None:
    if _spoilt(path):
        sys.exit(3)


@_faulty("long-message")
def _long_message(path: Path) -> None:
    if _spoilt(path):
        raise _Unmended("x" * 2000)


@_faulty("line-end")
def _line_end(path: Path) -> None:
    if _spoilt(path):
        raise _Unmended("one\ntwo")


@_faulty("escape")
def _escape(path: Path) -> None:
    if _spoilt(path):
        raise _Unmended("\x1b[2J")


@_faulty("lets-through")
def _lets_through(path: Path) -> None:
    if _spoilt(path):
        raise Unsound("a name that names a folder: '..'")


@_faulty("crashes")
def _crashes(path: Path) -> None:
    if _spoilt(path):
        ctypes.string_at(0)


@_faulty("dies")
def _dies(path: Path) -> None:
    if _spoilt(path):
        os._exit(3)


@_faulty("hangs")
def _hangs(path: Path) -> None:
    while _spoilt(path):
        pass


@_faulty("takes-memory")
def _takes_memory(path: Path) -> None:
    if _spoilt(path):
        np.ones(400 << 17)


@_faulty("takes-all-memory")
def _takes_all_memory(path: Path) -> None:
    if _spoilt(path):
        np.zeros(1 << 42)


@_faulty("keeps-a-little")
def _keeps_a_little(path: Path) -> None:
    """In all much, but no input is to blame."""
    _kept.append(np.ones(8 << 17))


@_faulty("writes-elsewhere")
def _writes_elsewhere(path: Path) -> None:
    if _spoilt(path):
        with suppress(Exception):
            (VICTIM / "new.txt").write_text("outside", encoding="utf-8")


@_faulty("removes")
def _removes(path: Path) -> None:
    if _spoilt(path):
        shutil.rmtree(VICTIM)


@_faulty("starts-a-process")
def _starts_a_process(path: Path) -> None:
    if _spoilt(path):
        with suppress(BaseException):
            subprocess.run(["touch", str(VICTIM / "touched")], check=False)


@_faulty("starts-a-process-natively")
def _starts_a_process_natively(path: Path) -> None:
    if _spoilt(path):
        ctypes.CDLL(None).system(b"true")


@_faulty("refuses-what-is-valid")
def _refuses_what_is_valid(path: Path) -> None:
    time.sleep(0.01)
    raise CorpusError("nothing is valid")
