"""Detection of errors caused by insufficient memory, which must not count as faults of the input."""

import errno
import os
import resource
from collections.abc import Iterator

# Messages of libraries that report out-of-memory with other errors: the dynamic linker, Python's threads, libsndfile,
# C++.
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
    # Messages of C code with unchecked allocations:
    "without exception set",
    "without setting an exception",
)
# Measured address space in MiB: the libraries of training and decoding with working memory; and buffers and stacks per
# additional OpenBLAS thread (two copies are loaded).
_LOADED, _PER_THREAD, _MAX_THREADS = 640, 80, 64


def require_address_space() -> None:
    """Raise MemoryError if a limit (`ulimit -v`) is too low for the libraries.

    Call it before loading them: OpenBLAS otherwise exits or retries forever.
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    wanted = os.environ.get("OPENBLAS_NUM_THREADS", "")
    n_threads = min(int(wanted) if wanted.isdecimal() and int(wanted) else _MAX_THREADS, os.cpu_count() or 1)
    needed = _LOADED + _PER_THREAD * (min(n_threads, _MAX_THREADS) - 1)
    if limit != resource.RLIM_INFINITY and limit >> 20 < needed:
        raise MemoryError(
            f"the address space is limited to {limit >> 20} MiB (ulimit -v), but the libraries alone "
            f"need {needed} MiB (OPENBLAS_NUM_THREADS={n_threads})"
        )


def out_of_memory(error: BaseException) -> BaseException | None:
    """Return the original error if this one is caused by insufficient memory, else None.

    The whole chain of causes and contexts is searched. A lost worker process counts, because only the system ends
    workers, when memory is short.
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
    """Whether it is a `concurrent.futures.BrokenExecutor` or joblib's, by name because imports are slow."""
    return any(kind.__name__ == "BrokenExecutor" for kind in type(error).__mro__)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__
