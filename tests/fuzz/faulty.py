"""Readers with one fault each, for the tests of the fuzzer."""

import ctypes
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
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


@_faulty("keeps-a-little")
def _keeps_a_little(path: Path) -> None:
    """In all much, but no input is to blame."""
    _kept.append(np.ones(8 << 17))


@_faulty("refuses-what-is-valid")
def _refuses_what_is_valid(path: Path) -> None:
    time.sleep(0.01)
    raise CorpusError("nothing is valid")


def _raise(error: Exception) -> None:
    raise error


def _hang() -> None:
    while True:
        pass


def _write_elsewhere() -> None:
    with suppress(Exception):
        (VICTIM / "new.txt").write_text("outside", encoding="utf-8")


def _start_a_process() -> None:
    with suppress(BaseException):
        subprocess.run(["touch", str(VICTIM / "touched")], check=False)


WHEN_SPOILT: dict[str, Callable[[], object]] = {
    "exits": lambda: sys.exit(3),
    "long-message": lambda: _raise(_Unmended("x" * 2000)),
    "line-end": lambda: _raise(_Unmended("one\ntwo")),
    "escape": lambda: _raise(_Unmended("\x1b[2J")),
    "lets-through": lambda: _raise(Unsound("a name that names a folder: '..'")),
    "crashes": lambda: ctypes.string_at(0),
    "dies": lambda: os._exit(3),
    "hangs": _hang,
    "takes-memory": lambda: np.ones(400 << 17),
    "takes-all-memory": lambda: np.zeros(1 << 42),
    "writes-elsewhere": _write_elsewhere,
    "removes": lambda: shutil.rmtree(VICTIM),
    "starts-a-process": _start_a_process,
    "starts-a-process-natively": lambda: ctypes.CDLL(None).system(b"true"),
}
"""What readers do that are sound as long as their input is valid."""


def _fails_when_spoilt(fault: Callable[[], object], path: Path) -> None:
    if _spoilt(path):
        fault()


for _name, _fault in WHEN_SPOILT.items():
    _faulty(_name)(partial(_fails_when_spoilt, _fault))
