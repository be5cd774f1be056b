"""Return of freed memory to the system, which the C library may otherwise keep."""

import ctypes
from functools import cache

_MMAP_THRESHOLD = -3  # parameter of glibc's mallopt
_LARGE = 256 << 10


@cache
def return_large_arrays() -> bool:
    """Make the C library return arrays of 256 KiB and more to the system as soon as they are freed.

    glibc raises this threshold up to 32 MiB as arrays are freed, and keeps smaller blocks per thread. Depending on
    thread timing, a process may then hold 50 % more memory for equal work. Returns whether the C library has such a
    threshold; otherwise nothing changes.
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE))
    except (AttributeError, OSError, TypeError):  # no glibc
        return False
