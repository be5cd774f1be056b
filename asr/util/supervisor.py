"""The process that watches over a command: what ends the command ends all of it, at once, and is told in a sentence.

Compiled code hears no exception: an interrupt in the middle of it comes out as some other error, or not at all. So the
work is done in a child process, in a process group with whatever processes it starts, and the parent does nothing but
wait. A signal ends the group from outside. That needs no cooperation, and is safe because everything the project
writes is whole or absent: to the files it is the same as a loss of power, and the same command resumes. A
child that dies by itself (for want of memory, say) becomes a sentence, and a parent that dies takes its child along.
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
_OWN_STATUSES = (0, 1, 2)  # those with which a command ends by itself
_PATIENCE = 2.0  # seconds between asking the group to end and ending it
_BLAS_BUFFER = 40 << 20  # bytes of address space
_STARVING = 4  # looks, a second apart
RESUME = "finished stages are kept; run the same command to resume"


def supervise(name: str, *, resumable: bool = False) -> None:
    """Return in a child process; the calling process stays behind to watch it, and exits as it does.

    Call it before threads are started or anything large is imported. Under a debugger or tracer nothing is done, nor
    where other threads run already: a copy of the process would have their locks and not them.

    Parameters
    ----------
    name : str
        Of the command, before the sentence that says how it ended.
    resumable : bool, default False
        Whether the command keeps finished stages, so that the sentence says how to resume it.

    Exit status of the parent: the child's own; 128 and the number of the signal (SIGINT, SIGTERM, SIGHUP) that ended
    it; 1, with a sentence, when the child was ended by another.
    """
    _open_standard_streams()
    if sys.gettrace() is not None or threading.active_count() > 1:
        return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a parent that ignores it hides how children end
    sys.stdout.flush()
    sys.stderr.flush()
    lifeline, parents_end = os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)  # until both know what to do
    child = os.fork()
    if child:
        os.close(lifeline)
        with contextlib.suppress(OSError):  # the child has done it, or is gone
            os.setpgid(child, child)
        _exit(_Watch(child, name, resumable).status())
    os.setpgid(0, 0)
    os.close(parents_end)
    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)  # at once, whatever code is running
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
    # joblib's janitor cleans up after workers that were ended, and would say so before the sentence is said.
    quiet = "ignore:resource_tracker"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (os.environ.get("PYTHONWARNINGS"), quiet)))
    threading.Thread(target=_end_with_parent, args=(lifeline,), daemon=True).start()


def _open_standard_streams() -> None:
    """Open closed standard streams on the null device: other files would get their descriptors."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        opened = os.open(os.devnull, os.O_RDWR)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
        setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def _end_with_parent(lifeline: int) -> None:
    """The parent holds the other end of the pipe and never writes: reading ends when it does."""
    os.read(lifeline, 1)
    os.killpg(0, signal.SIGTERM)


class _Watch:
    """The parent's part."""

    def __init__(self, child: int, name: str, resumable: bool) -> None:
        self._child = child
        self._name = name
        self._resume = f"; {RESUME}" if resumable else ""
        self._asked: int | None = None
        self._short = 0
        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY and exists(Path("/proc/self/statm")):
            self._limit = limit
            signal.signal(signal.SIGALRM, self._look_at_memory)
            signal.setitimer(signal.ITIMER_REAL, 1.0, 1.0)
        for number in _ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
                signal.signal(number, self._end)
        signal.signal(signal.SIGTSTP, self._pause)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)

    def status(self) -> int:
        """Wait for the child; the exit status to end with."""
        _, waited = os.waitpid(self._child, 0)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number in _ENDING:
            signal.signal(number, signal.SIG_IGN)  # what is left takes no time
        code = os.waitstatus_to_exitcode(waited)
        if code in _OWN_STATUSES and self._asked is None:
            _signal_group(self._child, signal.SIGTERM)  # processes that it may have forgotten
            return code
        self._end_group()
        if code in _OWN_STATUSES:
            return code  # done before the signal reached it
        if self._asked is None and self._short >= _STARVING:
            self._say(
                f"error: out of memory: of the {self._limit >> 20} MiB of address space that are allowed (ulimit -v) "
                f"nothing is left; give the process more, or fewer --jobs{self._resume}"
            )
            return 1
        asked = -code if self._asked is None and -code in _ENDING else self._asked  # or the child alone was asked
        if asked is not None:
            self._say(f"interrupted{self._resume}")
            return 128 + asked
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended itself with status {code}"
        limit = resource.getrlimit(resource.RLIMIT_CPU)[0]
        why = "probably out of memory"
        if code == -signal.SIGXCPU or (code == -signal.SIGKILL and _cpu_seconds_of_children() >= limit - 1 >= 0):
            why = f"the limit of {limit} s of processor time is reached (ulimit -t)"
        self._say(f"error: the process {how}, {why}{self._resume}")
        return 1

    def _end(self, number: int, _frame: object) -> None:
        _signal_group(self._child, signal.SIGKILL if self._asked is not None else signal.SIGTERM)
        self._asked = number

    def _look_at_memory(self, _number: int, _frame: object) -> None:
        """End a group of which a process has no room left for a while: OpenBLAS tries for ever to get a buffer."""
        left = min((self._limit - size for size in _sizes_of_group(self._child)), default=self._limit)
        self._short = self._short + 1 if left < _BLAS_BUFFER else 0
        if self._short >= _STARVING:
            _signal_group(self._child, signal.SIGTERM)

    def _pause(self, _number: int, _frame: object) -> None:
        """Stop the group, then this process as the shell expects; both go on together."""
        _signal_group(self._child, signal.SIGSTOP)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTSTP])
        signal.signal(signal.SIGTSTP, self._pause)
        _signal_group(self._child, signal.SIGCONT)

    def _end_group(self) -> None:
        """Leave no process of the group behind."""
        number, began = signal.SIGTERM, time.monotonic()
        while _signal_group(self._child, number):
            # Those that ignore SIGTERM have their reasons: joblib's janitor removes shared memory before it ends.
            if time.monotonic() - began > 2 * _PATIENCE:
                return
            number = signal.SIGKILL if time.monotonic() - began > _PATIENCE else signal.SIGTERM
            time.sleep(0.01)

    def _say(self, sentence: str) -> None:
        if os.isatty(2):
            sys.stderr.write("\r\x1b[K\x1b[?25h")  # a progress bar had hidden the cursor
        sys.stderr.write(f"{self._name}: {sentence}\n")


def _cpu_seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _sizes_of_group(group: int) -> list[int]:
    """Bytes of address space that each process of the group has taken."""
    sizes = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):  # it has ended
            if int((process / "stat").read_text().rpartition(")")[2].split()[2]) == group:
                pages = int((process / "statm").read_text().split()[0])
                sizes.append(pages * resource.getpagesize())
    return sizes


def _signal_group(group: int, number: int) -> bool:
    """Whether there was anybody to hear it."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _exit(status: int) -> NoReturn:
    """End without the clean-up at exit, which belongs to the child."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)
