"""docs/how-to/python.md is a doctest: every example on it is run, in order, in a folder that has what it names."""

import doctest
import shutil
from pathlib import Path

import pytest
import soundfile

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "python.md"


@pytest.fixture
def folder(toy_corpus: Path, toy_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Working directory with model, lexicon, data and speech.flac, as the guide has them."""
    shutil.copy(toy_model, tmp_path / "model.safetensors")
    shutil.copy(toy_model.with_name("gmm.safetensors"), tmp_path)
    shutil.copy(toy_corpus / "lexicon.txt", tmp_path)
    for split in ("train", "test"):
        shutil.copytree(toy_corpus / split, tmp_path / "data" / split)
    shutil.copytree(toy_corpus / "audio", tmp_path / "audio")
    shutil.copytree(toy_corpus / "audio", tmp_path / "data" / "audio")
    samples, rate = soundfile.read(tmp_path / "audio" / "test" / "test0-000.wav", dtype="int16")
    soundfile.write(tmp_path / "speech.flac", samples, rate)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_every_example_of_the_guide_gives_what_it_shows(folder, capsys):
    failed, tried = doctest.testfile(str(GUIDE), module_relative=False, encoding="utf-8")
    assert not failed, capsys.readouterr().out
    assert tried > 40
