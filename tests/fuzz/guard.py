"""What a reader must not do while it reads: write outside its folder, start a process, open a connection, take memory.

Python tells its audit hooks (PEP 578) before it does any of this; the hook here notes the deed and prevents it, so that
a reader that removes a directory removes nothing. What native code does by itself is seen afterwards, as a child
process that is there.
"""

import os
import resource
import signal
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

MEMORY = 256 << 20
"""Bytes of resident memory above that of the valid inputs which an input may cost."""
_ADDRESS_SPACE = 1 << 30  # additional bytes, which need not all be resident; above this, the system refuses memory
_MAX_FILE = 64 << 20

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_PATHS = {  # audit event -> its arguments that are paths to be changed
    "os.mkdir": (0,), "os.rmdir": (0,), "os.remove": (0,), "os.rename": (0, 1), "os.link": (0, 1), "os.symlink": (1,),
    "os.truncate": (0,), "os.chmod": (0,), "os.chown": (0,), "os.utime": (0,), "shutil.rmtree": (0,),
}  # fmt: skip
_FORBIDDEN = frozenset(
    "subprocess.Popen os.system os.exec os.posix_spawn os.spawn os.fork os.forkpty pty.spawn os.kill os.killpg "
    "os.startfile socket.connect socket.bind socket.sendto webbrowser.open pickle.find_class".split()
)


class Trespass(BaseException):
    """A reader was about to do what no reader may; not an Exception, so that nobody catches it by accident."""


trespasses: list[str] = []
"""What was about to be done since the last look."""

_inside = ""
_armed = False


def set_up(folder: Path) -> None:
    """Prepare this process, for good: its working and temporary folder is `folder`, the one place it may write to."""
    global _inside
    _inside = f"{os.path.realpath(folder)}/"
    os.chdir(folder)
    tempfile.tempdir = str(folder)
    sys.dont_write_bytecode = True
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_FILE, _MAX_FILE))
    sys.addaudithook(_audit)
    _forbid_fork_exec()


def arm(on: bool) -> None:
    """Watch, or do not: what the fuzzer does itself is its own affair."""
    global _armed
    _armed = on


def limit_address_space() -> None:
    """Give this process so much more memory than it has now; beyond, it gets a MemoryError."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY + _ADDRESS_SPACE
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def peak_memory() -> int:
    """Most bytes of resident memory that this process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def child_of_this_process() -> str | None:
    """Whether a child process is or was there, and what is known of it."""
    try:
        pid, _ = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        was = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        return "a child process was started and has ended" if was else None
    return f"a child process was started{' and has ended' if pid else ''}"


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _armed:
        return
    if event == "open":
        path, mode, flags = arguments
        if (flags & _WRITING or (mode and set(mode) & set("wax+"))) and _is_outside(path):
            _refuse(f"open {path!r} for writing")
    elif event in _PATHS:
        for number in _PATHS[event]:
            if _is_outside(arguments[number]):
                _refuse(f"{event} {arguments[number]!r}")
    elif event == "os.kill" and arguments[1] == 0:  # checks whether a process exists
        return
    elif event in _FORBIDDEN and not (event == "pickle.find_class" and _is_numba(sys._getframe(1))):
        _refuse(f"{event} {str(arguments)[:200]}")


def _is_numba(frame: FrameType | None) -> bool:
    """Whether compiled code is being fetched from where Numba keeps it, which is no data of anybody's."""
    while frame is not None:
        if frame.f_globals.get("__name__") == "numba.core.caching":
            return True
        frame = frame.f_back
    return False


def _is_outside(path: Any) -> bool:
    if isinstance(path, int):  # a descriptor opened before
        return False
    name = os.fsdecode(path)
    if name == os.devnull or "/__pycache__/" in f"{name}/":  # compiled code is stored next to its source
        return False
    return not f"{os.path.realpath(name)}/".startswith(_inside)


def _refuse(deed: str) -> None:
    trespasses.append(deed)
    raise Trespass(deed)


def _forbid_fork_exec() -> None:
    """What joblib starts its processes with, past the audit hooks."""
    import _posixsubprocess

    def refused(*arguments: Any) -> None:
        _refuse("start a child process")

    _posixsubprocess.fork_exec = refused  # type: ignore[assignment]
