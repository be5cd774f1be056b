"""Supervisor of a command: signals end all its processes at once, and failures are reported in a sentence.

Numba code cannot be interrupted by Python exceptions. So the work runs in a child process, with its own process group,
and the parent only waits. A signal kills the group from outside. This is safe because all files are written atomically,
as for a power failure, and the same command resumes. A child that dies (out of memory, for example) is reported in a
sentence, and a parent that dies takes its child along.
"""

import contextlib
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path
from typing import NoReturn

from discriminants.util.paths import exists

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_WATCHED = (*_ENDING, signal.SIGTSTP)
_OWN_STATUSES = (0, 1, 2)  # exit statuses of a command
_PATIENCE = 2.0  # seconds between SIGTERM and SIGKILL of the group
_BLAS_BUFFER = 40 << 20  # bytes of address space
_STARVING = 4  # checks, one per second
RESUME = "Finished stages are kept. Run the same command to resume"


def supervise(name: str, *, resumable: bool = False) -> None:
    """Return in a child process; the calling process supervises it, and exits with its status.

    Call it before starting threads or importing large modules. It does nothing under a debugger or tracer, or if other
    threads are running, because a forked process would inherit their locks.

    The parent's exit status is the child's; 128 plus the signal (SIGINT, SIGTERM, SIGHUP) that ended it; or 1, with a
    sentence, after other signals.

    Parameters
    ----------
    name : str
        Name of the command, for the sentence.
    resumable : bool, default False
        Whether the command keeps finished stages; the sentence then says how to resume it.
    """
    _open_standard_streams()
    if sys.gettrace() is not None or threading.active_count() > 1:
        return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a parent that ignores it cannot see how children end
    sys.stdout.flush()
    sys.stderr.flush()
    lifeline, parents_end = os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)  # until both are ready
    child = os.fork()
    if child:
        os.close(lifeline)
        with contextlib.suppress(OSError):  # done by the child, or the child is gone
            os.setpgid(child, child)
        _exit(_Watch(child, name, resumable).status())
    os.setpgid(0, 0)
    os.close(parents_end)
    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)  # at once, in any code
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
    # joblib's janitor prints messages on cleaning up after killed workers.
    quiet = "ignore:resource_tracker"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (os.environ.get("PYTHONWARNINGS"), quiet)))
    threading.Thread(target=_end_with_parent, args=(lifeline,), daemon=True).start()


def _open_standard_streams() -> None:
    """Open closed standard streams on the null device, so that other files do not get their descriptors."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        opened = os.open(os.devnull, os.O_RDWR)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
        setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def _end_with_parent(lifeline: int) -> None:
    """Exit when the parent, which never writes, closes its end of the pipe."""
    os.read(lifeline, 1)
    os.killpg(0, signal.SIGTERM)


class _Watch:
    """Supervision by the parent."""

    def __init__(self, child: int, name: str, resumable: bool) -> None:
        self._child = child
        self._name = name
        self._resume = f". {RESUME}" if resumable else ""
        self._asked: int | None = None
        self._short = 0
        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY and exists(Path("/proc/self/statm")):
            self._limit = limit
            signal.signal(signal.SIGALRM, self._look_at_memory)
            signal.setitimer(signal.ITIMER_REAL, 1.0, 1.0)
        for number in _ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:  # ignored under nohup
                signal.signal(number, self._end)
        signal.signal(signal.SIGTSTP, self._pause)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)

    def status(self) -> int:
        """Wait for the child and return the exit status."""
        _, waited = os.waitpid(self._child, 0)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number in _ENDING:
            signal.signal(number, signal.SIG_IGN)  # the rest is fast
        code = os.waitstatus_to_exitcode(waited)
        if code in _OWN_STATUSES and self._asked is None:
            _signal_group(self._child, signal.SIGTERM)  # remaining processes of the child
            return code
        self._end_group()
        if code in _OWN_STATUSES:
            return code  # finished before the signal
        if self._asked is None and self._short >= _STARVING:
            self._say(
                f"error: out of memory: the limit of {self._limit >> 20} MiB of address space (ulimit -v) is "
                f"reached. Use more memory or fewer --jobs{self._resume}"
            )
            return 1
        asked = -code if self._asked is None and -code in _ENDING else self._asked  # or a signal to the child only
        if asked is not None:
            self._say(f"interrupted{self._resume}")
            return 128 + asked
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"exited with status {code}"
        limit = resource.getrlimit(resource.RLIMIT_CPU)[0]
        why = "probably out of memory"
        if code == -signal.SIGXCPU or (code == -signal.SIGKILL and _cpu_seconds_of_children() >= limit - 1 >= 0):
            why = f"the limit of {limit} s of CPU time is reached (ulimit -t)"
        self._say(f"error: the process {how}, {why}{self._resume}")
        return 1

    def _end(self, number: int, _frame: object) -> None:
        _signal_group(self._child, signal.SIGKILL if self._asked is not None else signal.SIGTERM)
        self._asked = number

    def _look_at_memory(self, _number: int, _frame: object) -> None:
        """End a group with a process that stays out of memory: OpenBLAS would retry forever."""
        left = min((self._limit - size for size in _sizes_of_group(self._child)), default=self._limit)
        self._short = self._short + 1 if left < _BLAS_BUFFER else 0
        if self._short >= _STARVING:
            _signal_group(self._child, signal.SIGTERM)

    def _pause(self, _number: int, _frame: object) -> None:
        """Stop the group, then this process as the shell expects; both continue together."""
        _signal_group(self._child, signal.SIGSTOP)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTSTP])
        signal.signal(signal.SIGTSTP, self._pause)
        _signal_group(self._child, signal.SIGCONT)

    def _end_group(self) -> None:
        number, began = signal.SIGTERM, time.monotonic()
        while _signal_group(self._child, number):
            # SIGKILL comes later: joblib's janitor ignores SIGTERM and removes shared memory before it ends.
            if time.monotonic() - began > 2 * _PATIENCE:
                return
            number = signal.SIGKILL if time.monotonic() - began > _PATIENCE else signal.SIGTERM
            time.sleep(0.01)

    def _say(self, sentence: str) -> None:
        if os.isatty(2):
            sys.stderr.write("\r\x1b[K\x1b[?25h")  # restore the cursor hidden by a progress bar
        sys.stderr.write(f"{self._name}: {sentence}\n")


def _cpu_seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _sizes_of_group(group: int) -> list[int]:
    """Return the address space in bytes of each process of the group."""
    sizes = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):  # it has ended
            if int((process / "stat").read_text().rpartition(")")[2].split()[2]) == group:
                pages = int((process / "statm").read_text().split()[0])
                sizes.append(pages * resource.getpagesize())
    return sizes


def _signal_group(group: int, number: int) -> bool:
    """Send a signal to the group; return whether it has processes."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _exit(status: int) -> NoReturn:
    """Exit without clean-up, which belongs to the child."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)
