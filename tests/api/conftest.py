"""A recognizer of the toy corpus, and what is said in its test recordings."""

from pathlib import Path

import pytest

from asr import Recognizer


@pytest.fixture(scope="module")
def recognizer(toy_model: Path) -> Recognizer:
    return Recognizer.load(toy_model)


@pytest.fixture(scope="module")
def wavs(toy_corpus: Path) -> list[Path]:
    return sorted((toy_corpus / "audio" / "test").glob("*.wav"))


@pytest.fixture(scope="module")
def said(toy_corpus: Path) -> dict[str, str]:
    lines = (toy_corpus / "test" / "text").read_text().splitlines()
    return dict(line.split(maxsplit=1) for line in lines)
