"""Resident memory of this process."""

import resource
import sys
from pathlib import Path

_STATM = Path("/proc/self/statm")


def peak_bytes() -> int:
    """Return the peak memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def current_bytes() -> int:
    """Return the current memory; the peak if the system does not report it."""
    if not _STATM.exists():
        return peak_bytes()
    return int(_STATM.read_text(encoding="ascii").split()[1]) * resource.getpagesize()
