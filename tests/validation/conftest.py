"""The clean corpora that tests spoil."""

from pathlib import Path

import pytest

from tests.toy_corpus import make_toy_corpus
from tests.validation.corpora import Corpus, copied


@pytest.fixture(scope="session")
def clean_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_toy_corpus(
        tmp_path_factory.mktemp("clean"), n_speakers=3, n_utterances=9, n_test_speakers=2, n_test_utterances=4
    )
    (folder / "settings.toml").write_text("features = {sample_rate = 8000}\n")
    # Sorted as Kaldi requires: speakers first.
    for path in folder.glob("t*/*"):
        path.write_text("".join(sorted(path.read_text().splitlines(keepends=True))))
    return folder


@pytest.fixture
def clean(clean_folder: Path, tmp_path: Path) -> Corpus:
    """A copy of the clean corpus, to spoil."""
    return copied(clean_folder, tmp_path / "corpus")
