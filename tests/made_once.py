"""Directories that one worker of pytest-xdist makes for all of them."""

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return the directory `name`, which `make` creates unless another worker has.

    Other workers wait for the maker. A directory whose maker failed is removed and made again. Paths in the directory
    stay valid, because it is made where it lies and never renamed; an empty file next to it says that it is complete.
    """
    base = factory.getbasetemp().resolve()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder, complete = base / f"{name}-shared", base / f"{name}-complete"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            complete.touch()
    return folder
