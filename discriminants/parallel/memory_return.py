"""Memory that is let go of goes back to the system, where the C library would keep it."""

import ctypes
from functools import cache

_MMAP_THRESHOLD = -3  # of glibc's mallopt
_LARGE = 256 << 10


@cache
def return_large_arrays() -> bool:
    """From now on, give arrays of 256 KiB and more back to the system as soon as nobody holds them.

    glibc moves that border up to 32 MiB as arrays come and go, and keeps what is below it for each thread: of equal
    work a process then holds half as much again or not, by how its threads took turns. Returns whether the C library
    has such a border; where it has none, nothing changes.
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE))
    except (AttributeError, OSError, TypeError):  # no glibc
        return False
