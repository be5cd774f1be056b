"""Early allocation of OpenBLAS buffers.

Each copy of OpenBLAS (NumPy's, SciPy's) allocates a buffer of 32 MiB for every thread that uses it at the same time,
and keeps it. If the allocation fails, it retries forever (0.3.31) or ends the process with its own message.
"""

import resource
import threading
from pathlib import Path

import numpy as np
from scipy.linalg import blas

from discriminants.util.blas_threads import one_blas_thread
from discriminants.util.paths import exists

# MiB of address space
_BUFFERS = 2 * 34  # two copies of OpenBLAS, with the overhead of an allocation of 32
_THREAD = 8 + 128  # its stack, and the arena that the C library aligns to 64 for it


def claim_blas_buffers(n_threads: int) -> None:
    """If address space is limited (`ulimit -v`), allocate the buffers for `n_threads` threads now, including this one.

    Raises MemoryError if there is not enough room. Without a limit this does nothing.
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    pages = Path("/proc/self/statm")
    if limit == resource.RLIM_INFINITY or not exists(pages):
        return
    n_bytes = int(pages.read_text().split()[0]) * resource.getpagesize()
    left, needed = (limit - n_bytes) >> 20, _BUFFERS * n_threads + _THREAD * (n_threads - 1)
    if left < needed:
        raise MemoryError(
            f"not enough address space for matrix products in {n_threads} threads: {max(0, left)} MiB are left of "
            f"{limit >> 20} MiB (ulimit -v). Expected {needed} MiB"
        )
    together = threading.Barrier(n_threads)
    threads = [threading.Thread(target=_multiply, args=(together,)) for _ in range(n_threads - 1)]
    with one_blas_thread():
        for thread in threads:
            thread.start()
        _multiply(together)
        for thread in threads:
            thread.join()


def _multiply(together: threading.Barrier) -> None:
    matrix = np.ones((256, 256))
    together.wait()
    for _ in range(5):  # some milliseconds, so that all threads use it at once
        matrix @ matrix
        blas.dgemm(1.0, matrix, matrix)
