"""What the tests of the command line share."""

import shutil
from pathlib import Path

import pytest

from tests.cli.place import Bin


@pytest.fixture
def place(toy_corpus: Path, toy_model: Path, tmp_path: Path) -> Bin:
    folder = tmp_path / "place"
    shutil.copytree(toy_corpus, folder)
    shutil.copy(toy_model, folder)
    return Bin(folder)
