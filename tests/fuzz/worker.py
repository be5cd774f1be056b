"""The process in which a reader is called on one input after the other; it says which before it begins."""

import faulthandler
import mmap
import os
import signal
import struct
import time
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from tests.fuzz import guard
from tests.fuzz.finding import Finding
from tests.fuzz.inputs import Bin, Input, Source
from tests.fuzz.minimize import smaller
from tests.fuzz.outcome import ACCEPTED, Outcome, used
from tests.fuzz.reader import Reader, Seeds

STACK_FILE = "stack.txt"
"""Where Python stacks go when the process crashes or is asked for them by SIGUSR1."""
BETWEEN = 0xFFFF_FFFF_FFFF_FFFF
"""Number on the board while nothing is being read."""
_MINIMISED = ("untyped error", "message", "unsound", "trespass")
_MAX_MINIMISED = 200_000


class Board:
    """What a worker tells without a word: memory that both processes see.

    Number of the input under way and of the call (minimizing calls many times), inputs accepted and refused.
    """

    _LAYOUT = struct.Struct("<QQQQ")

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, self._LAYOUT.size)
        self._number, self._call, self.accepted, self.refused = BETWEEN, 0, 0, 0
        self._write()

    def begin(self, number: int) -> None:
        """An input is about to be read."""
        self._number, self._call = number, self._call + 1
        self._write()

    def end(self) -> None:
        """It has been read."""
        self._number = BETWEEN
        self._write()

    def read(self) -> tuple[int, int, int, int]:
        """In the other process: number, call, accepted, refused."""
        return self._LAYOUT.unpack_from(self._memory)

    def _write(self) -> None:
        self._LAYOUT.pack_into(self._memory, 0, self._number, self._call, self.accepted, self.refused)


class Worker:
    """The life of one such process; `run` does not return."""

    def __init__(self, reader: Reader, seeds: Seeds, folder: Path, board: Board, parent: Connection) -> None:
        self._reader, self._seeds, self._board, self._parent = reader, seeds, board, parent
        self._folder = folder
        self._place = Bin(reader, seeds, folder / "input")
        self._most_memory = 0

    def run(self, source: Source, first: int, deadline: float, seen: set[str]) -> None:
        """Read inputs from number `first` on until there are no more, or the deadline; findings go to the parent.

        Of each signature that is not in `seen` the first input is made smaller.
        """
        self._prepare()
        number = first
        while time.monotonic() < deadline:
            wanted = source(number)
            if wanted is None:
                break
            found = self._read(number, wanted)
            if found.is_finding:
                content = wanted.content
                if found.signature not in seen and found.kind in _MINIMISED and len(content) < _MAX_MINIMISED:
                    content = smaller(content, self._fails_alike(number, wanted.seed, found))
                seen.add(found.signature)
                self._tell(number, Input(wanted.seed, content), found)
                if found.kind in ("memory", "process"):
                    os._exit(0)  # otherwise a rest of it would be attributed to the next input
            number += 1
        self._parent.send_bytes(b"")
        os._exit(0)

    def _prepare(self) -> None:
        os.setsid()  # so that its children can be ended together with it
        faulthandler.enable(stack := (self._folder / STACK_FILE).open("w"))
        faulthandler.register(signal.SIGUSR1, stack)
        for descriptor in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
        warnings.simplefilter("ignore")
        guard.set_up(self._folder)
        for name in self._reader.targets_of(self._seeds):
            valid = Input(name, self._seeds[name])
            found = self._read(0, valid)
            if found.kind != ACCEPTED:
                description = f"a valid input is not accepted; {found.kind}: {found.description}"
                self._tell(0, valid, Outcome("valid input", f"valid input {name}", description))
        self._most_memory = guard.peak_memory() + guard.MEMORY
        guard.limit_address_space()
        self._board.accepted = self._board.refused = 0
        self._board.end()

    def _read(self, number: int, wanted: Input) -> Outcome:
        path = self._place.put(wanted)
        self._board.begin(number)
        guard.arm(True)
        found = used(self._reader, path)
        guard.arm(False)
        if wanted.harmful and found.kind == ACCEPTED:
            found = Outcome("unsound", f"unsound: {wanted.harmful}", f"taken as it is: {wanted.harmful}")
        child = guard.child_of_this_process()
        if child is not None:
            found = Outcome("process", "process", f"{child}\n{found.description}")
        elif self._most_memory and guard.peak_memory() > self._most_memory:
            above = (guard.peak_memory() - self._most_memory + guard.MEMORY) >> 20
            found = Outcome("memory", "memory", f"took {above} MiB more than valid inputs do; then {found.kind}")
        self._board.accepted += found.kind == ACCEPTED
        self._board.refused += not found.is_finding and found.kind != ACCEPTED
        self._board.end()
        return found

    def _fails_alike(self, number: int, seed: str, wanted: Outcome) -> Callable[[bytes], bool]:
        def fails(content: bytes) -> bool:
            accepted, refused = self._board.accepted, self._board.refused
            found = self._read(number, Input(seed, content))
            self._board.accepted, self._board.refused = accepted, refused
            return found.signature == wanted.signature

        return fails

    def _tell(self, number: int, wanted: Input, found: Outcome) -> None:
        texts = Finding(
            self._reader.name, wanted.seed, number, found.kind, found.signature, found.description, wanted.content
        )
        self._parent.send_bytes(texts.to_json())
