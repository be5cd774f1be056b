"""Number of available cores."""

import os

ALL_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
"""Number of cores that this process may use."""
