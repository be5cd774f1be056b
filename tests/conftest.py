"""Where the tests look for real corpora; tests that need one skip, saying so, where it is absent."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"

# Examples are drawn anew at every desk and are the same at every run of the continuous integration. The first
# call of a compiled function takes seconds, so no example has a deadline.
settings.register_profile("desk", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


@pytest.fixture
def speech_data() -> Path:
    """Folder of real speech corpora (an4, fsdd, ...)."""
    folder = SHARED / "speech"
    if not folder.is_dir():
        pytest.skip(f"no speech corpora at {folder}")
    return folder


@pytest.fixture
def ml_data() -> Path:
    """Folder of machine-learning benchmark sets."""
    folder = SHARED / "ml"
    if not folder.is_dir():
        pytest.skip(f"no benchmark sets at {folder}")
    return folder
