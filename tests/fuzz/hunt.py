"""The parent's side: a worker process for a reader, ended and replaced when an input takes too long or kills it."""

import fcntl
import os
import shutil
import signal
import termios
import time
import traceback
from array import array
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from tests.fuzz.finding import Finding
from tests.fuzz.inputs import Bin, Input, Source, listed
from tests.fuzz.outcome import OURS
from tests.fuzz.reader import Reader, Seeds
from tests.fuzz.worker import BETWEEN, STACK_FILE, Board, Worker

SECONDS = 5.0
"""Processor time that an input may take; by the clock four times as long, for a machine that others keep busy."""
_POLL = 0.02
_OWN_FAULT = b"!"
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Tally:
    """What became of the inputs of one reader; `findings` by signature."""

    reader: str
    accepted: int = 0
    refused: int = 0
    findings: dict[str, Finding] = field(default_factory=dict)

    @property
    def inputs(self) -> int:
        """All of them."""
        return self.accepted + self.refused + sum(finding.count for finding in self.findings.values())

    def add(self, finding: Finding) -> None:
        """Note a finding."""
        known = self.findings.get(finding.signature)
        self.findings[finding.signature] = finding if known is None else known.joined(finding)


class Hunt:
    """All that is needed to hand inputs to one reader.

    Parameters
    ----------
    reader : Reader
    folder : Path
        For seeds and workers; best in memory (`/dev/shm`).
    """

    def __init__(self, reader: Reader, folder: Path) -> None:
        self.reader = reader
        self._folder = folder
        (folder / "seeds").mkdir(parents=True)
        self.seeds: Seeds = dict(reader.make_seeds(folder / "seeds"))
        self._warm_up()

    def run(self, source: Source, seconds: float, progress: Callable[[Tally], None] | None = None) -> Tally:
        """Hand over inputs for so many seconds, or until there are no more."""
        tally, end = Tally(self.reader.name), time.monotonic() + seconds
        first: int | None = 0
        while first is not None and time.monotonic() < end:
            first = self._one_worker(source, first, end, tally, progress)
        return tally

    def _warm_up(self) -> None:
        """Read the valid inputs here, so that every worker begins with all imported and compiled."""
        place = Bin(self.reader, self.seeds, self._folder / "warm")
        for name in self.reader.targets_of(self.seeds):
            with suppress(Exception):  # the worker reports it
                self.reader.use(place.put(Input(name, self.seeds[name])))

    def _one_worker(
        self,
        source: Source,
        first: int,
        end: float,
        tally: Tally,
        progress: Callable[[Tally], None] | None,
        *,
        check: bool = True,
    ) -> int | None:
        """Hand inputs to one process; returns the number to go on with, None if there are no more.

        With `check`, what took too much memory has to do so again, alone.
        """
        folder = self._folder / ("worker" if check else "again")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        board, (ours, theirs) = Board(), Pipe(duplex=False)
        pid = os.fork()
        if pid == 0:
            try:
                ours.close()
                seen = set(tally.findings)
                Worker(self.reader, self.seeds, folder, board, theirs).run(source, first, end, seen)
            except BaseException:
                theirs.send_bytes(_OWN_FAULT + traceback.format_exc().encode())
            finally:
                os._exit(70)
        theirs.close()
        try:
            return self._watched(pid, ours, board, source, first, tally, folder, progress, check)
        finally:
            ours.close()
            _end(pid)

    def _watched(
        self,
        pid: int,
        connection: Connection,
        board: Board,
        source: Source,
        first: int,
        tally: Tally,
        folder: Path,
        progress: Callable[[Tally], None] | None,
        check: bool,
    ) -> int | None:
        before = tally.accepted, tally.refused
        clock, last = _Clock(pid), first
        while True:
            texts = _received(connection, _POLL)
            number, call, accepted, refused = board.read()
            tally.accepted, tally.refused = before[0] + accepted, before[1] + refused
            if progress is not None:
                progress(tally)
            if texts == b"":
                return None
            if texts is not None and texts.startswith(_OWN_FAULT):
                raise RuntimeError(f"the fuzzer itself is at fault:\n{texts.removeprefix(_OWN_FAULT).decode()}")
            if texts is not None:
                finding = Finding.from_json(texts)
                last = max(last, finding.number + 1)
                known = finding.kind != "memory" or finding.signature in tally.findings
                if known or not check or self._again(finding):
                    tally.add(finding)
                continue
            if number != BETWEEN:
                last = max(last, number + 1)
            if clock.is_over(call, number != BETWEEN):
                stack = _stack_now(pid, folder)
                self._add(tally, source, last - 1, "time", f"not done after {SECONDS:g} s of processor time", stack)
                return last
            status = _status_if_ended(pid)
            if status is not None and _has_ended(connection):
                if status == 0:
                    return last
                stack = _stack_of(folder)
                self._add(tally, source, last - 1, "crash", f"the process died: {_how(status)}", stack)
                return last

    def _add(self, tally: Tally, source: Source, number: int, kind: str, remark: str, stack: list[str]) -> None:
        wanted = source(number)
        assert wanted is not None
        ours = next((line for line in stack if line.startswith(OURS)), stack[0] if stack else "")
        description = "\n".join([remark, *reversed(stack[:4])])
        tally.add(
            Finding(self.reader.name, wanted.seed, number, kind, f"{kind} at {ours}", description, wanted.content)
        )

    def _again(self, finding: Finding) -> bool:
        """Whether the input alone does it in a fresh process; what earlier inputs left behind is not its fault."""
        tally = Tally(self.reader.name)
        inputs = listed([Input(finding.seed, finding.content)])
        self._one_worker(inputs, 0, time.monotonic() + 10 * SECONDS, tally, None, check=False)
        return bool(tally.findings)


class _Clock:
    """Whether the call under way has had its time."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._call, self._cpu, self._wall = -1, 0.0, 0.0

    def is_over(self, call: int, is_reading: bool) -> bool:
        """Seen from time to time, with the number of the call."""
        cpu, wall = _processor_seconds(self._pid), time.monotonic()
        if call != self._call or not is_reading:
            self._call, self._cpu, self._wall = call, cpu, wall
        return cpu - self._cpu > SECONDS or wall - self._wall > 4 * SECONDS


def _received(connection: Connection, seconds: float) -> bytes | None:
    """What the worker told, if it did within this time."""
    try:
        return connection.recv_bytes() if connection.poll(seconds) else None
    except EOFError:
        time.sleep(seconds)
        return None


def _has_ended(connection: Connection) -> bool:
    """Whether all that a worker told before its end has been taken."""
    left = array("i", [0])
    fcntl.ioctl(connection.fileno(), termios.FIONREAD, left)
    return left[0] == 0


def _processor_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _status_if_ended(pid: int) -> int | None:
    """The exit status, negative for a signal; the process stays to be waited for."""
    info = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if info is None:
        return None
    return info.si_status if info.si_code == os.CLD_EXITED else -info.si_status


def _how(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def _stack_now(pid: int, folder: Path) -> list[str]:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGUSR1)
    time.sleep(0.2)
    return _stack_of(folder)


def _stack_of(folder: Path) -> list[str]:
    """Lines `asr/file.py:12 in function`, innermost first, of what faulthandler wrote."""
    lines = []
    for line in (folder / STACK_FILE).read_text(errors="replace").splitlines():
        if line.startswith("  File "):
            _, path, rest = line.split('"', 2)
            number, _, function = rest.removeprefix(", line ").partition(" in ")
            lines.append(f"{_from_root(path)}:{number} in {function}")
    return lines


def _from_root(path: str) -> str:
    root = f"{Path(__file__).resolve().parents[2]}/"
    return path.removeprefix(root) if "site-packages" not in path else "/".join(Path(path).parts[-3:])


def _end(pid: int) -> None:
    """End the worker and what it started."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)
