"""Resident memory of this process."""

import resource
import sys
from pathlib import Path

_STATM = Path("/proc/self/statm")


def peak_bytes() -> int:
    """The most that this process has held so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def current_bytes() -> int:
    """What it holds now; the peak where the system does not say."""
    if not _STATM.exists():
        return peak_bytes()
    return int(_STATM.read_text(encoding="ascii").split()[1]) * resource.getpagesize()
