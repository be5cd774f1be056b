"""Memory and CPU time of a process and its descendants, from /proc."""

import os
import re
import threading
from pathlib import Path
from typing import Self

_TICKS = os.sysconf("SC_CLK_TCK")


class ProcessTree:
    """Monitor of processes and their descendants while it is open.

    Shared pages are divided among processes (proportional set size), so the sum is their total memory, mapped files
    included.

    Parameters
    ----------
    roots : list of int
        Process ids.

    Attributes
    ----------
    peak_bytes : int
        Largest sum of proportional set sizes.
    peak_private_bytes : int
        Largest sum of memory that is not mapped from files.
    """

    def __init__(self, roots: list[int], interval: float = 1.0) -> None:
        self._roots, self._interval = roots, interval
        self.peak_bytes = self.peak_private_bytes = 0
        self._cpu: dict[int, float] = {}
        self._before: dict[int, float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds of all observed processes since they were first observed."""
        return sum(self._cpu.values()) - sum(self._before.values())

    def __enter__(self) -> Self:
        self._before = {pid: cpu for pid in self._members() if (cpu := _cpu_seconds(pid)) is not None}
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(self._interval):
            total = private = 0
            for pid in self._members():
                whole, anonymous = _set_size(pid)
                total, private = total + whole, private + anonymous
                cpu = _cpu_seconds(pid)
                if cpu is not None:
                    self._cpu[pid] = cpu
            self.peak_bytes = max(self.peak_bytes, total)
            self.peak_private_bytes = max(self.peak_private_bytes, private)

    def _members(self) -> list[int]:
        found, waiting = [], list(self._roots)
        while waiting:
            pid = waiting.pop()
            found.append(pid)
            try:
                tasks = list(Path(f"/proc/{pid}/task").iterdir())
                waiting += [int(child) for task in tasks for child in (task / "children").read_text().split()]
            except OSError:  # the process has ended
                continue
        return found


def _set_size(pid: int) -> tuple[int, int]:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0, 0
    values = {name: 1024 * int(kilobytes) for name, kilobytes in re.findall(r"^(\w+):\s+(\d+) kB", text, re.MULTILINE)}
    return values.get("Pss", 0), values.get("Anonymous", 0)


def _cpu_seconds(pid: int) -> float | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / _TICKS
