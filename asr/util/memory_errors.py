"""Errors that say nothing of the input: the machine has too little memory.

What follows from them must never be taken for a fault of what was being worked on, so this lies below everything that
makes such a judgement.
"""

import errno
import os
import resource
from collections.abc import Iterator

# What loaders and libraries say that report it as some error of their own: the dynamic linker (a module that cannot
# be mapped), Python's threads, libsndfile, C++.
_PHRASES = (
    "cannot allocate",
    "can't allocate",
    "unable to allocate",
    "failed to map segment",
    "can't start new thread",
    "malloc",
    "bad_alloc",
    "out of memory",
    "memoryerror",
    # C code of which an allocation failed in a place where that was not thought of:
    "without exception set",
    "without setting an exception",
)
# Address space in MiB, measured: the libraries that training and decoding load, with some room to work in; and the
# buffers and stacks of one more thread of OpenBLAS, of which two are loaded.
_LOADED, _PER_THREAD, _MAX_THREADS = 640, 80, 64


def require_address_space() -> None:
    """Raise MemoryError where a limit (`ulimit -v`) leaves no room for the libraries.

    To be asked before they are loaded: OpenBLAS then ends the process by itself, or tries for ever.
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    wanted = os.environ.get("OPENBLAS_NUM_THREADS", "")
    n_threads = min(int(wanted) if wanted.isdecimal() and int(wanted) else _MAX_THREADS, os.cpu_count() or 1)
    needed = _LOADED + _PER_THREAD * (min(n_threads, _MAX_THREADS) - 1)
    if limit != resource.RLIM_INFINITY and limit >> 20 < needed:
        raise MemoryError(
            f"the limit of address space (ulimit -v) is {limit >> 20} MiB, and {needed} are needed only to load the "
            f"libraries (OPENBLAS_NUM_THREADS={n_threads})"
        )


def out_of_memory(error: BaseException) -> BaseException | None:
    """The error that came first, if this one comes of memory that could not be had, else None.

    That may be any error on the way to it: the cause of this one, or what was being handled when it was raised. A
    worker process that disappears is counted, as nothing here ends one but the system when memory is short.
    """
    short = [found for found in _chain(error) if _is_short_of_memory(found)]
    return short[-1] if short else None


def _is_short_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or _is_lost_worker(error):
        return True
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    if isinstance(error, ImportError | OSError | RuntimeError | SystemError):
        text = str(error).lower()
        return any(phrase in text for phrase in _PHRASES)
    return False


def _is_lost_worker(error: BaseException) -> bool:
    """Whether it is a `concurrent.futures.BrokenExecutor`, joblib's among them; by name, as importing takes time."""
    return any(kind.__name__ == "BrokenExecutor" for kind in type(error).__mro__)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__
