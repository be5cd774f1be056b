"""The tutorial's scripts and commands do what it shows."""

import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from asr.corpus.data_directory import read_data_directory
from tests.examples.test_guides import DOCS, shown

TUTORIAL = "tutorial.md"

QUICK = """
gmm = {mixtures = [1, 2, 4]}
hybrid = {parameters = {n_centers = 300, n_candidates = 600}, mixtures = 0, smbr_epochs = 0}
tuning = {held_out = 0}
"""
"""Settings that train in seconds; the tutorial uses the defaults."""


def indented(start: str) -> str:
    """The indented block of the tutorial that begins with `start`."""
    text = (DOCS / TUTORIAL).read_text(encoding="utf-8")
    found = re.findall(rf"^    {start}.*\n(?:    .+\n)*", text, re.MULTILINE)
    assert len(found) == 1
    return re.sub(r"^    ", "", found[0], flags=re.MULTILINE)


@pytest.fixture
def tutorial_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asr: Callable[..., tuple[int, str, str]]) -> Path:
    """Working directory after the steps before the check: table, recordings, lists and lexicon."""
    if find_spec("espeakng_loader") is None:
        pytest.skip("needs the extra synth")
    monkeypatch.chdir(tmp_path)
    exec(shown(TUTORIAL, "record"), {})
    _, *arguments = shown(TUTORIAL, "prepare").split()
    status, out, err = asr(*arguments)
    assert status == 0, out + err
    Path("lexicon.txt").write_text(indented("CLOSE "), encoding="utf-8")
    return tmp_path


def test_tutorial_corpus_is_valid(tutorial_folder, asr):
    assert Path("table.csv").read_text().split()[:3] == indented("file,").split()[:3]
    assert [len(read_data_directory(Path(part)).utterances) for part in ("train", "test")] == [32, 16]
    assert "`anna_01 LIGHTS ON`" in (DOCS / TUTORIAL).read_text(encoding="utf-8")
    assert Path("train/text").read_text().splitlines()[:2] == ["anna_01 LIGHTS ON", "anna_02 LIGHTS OFF"]
    _, *arguments = shown(TUTORIAL, "validate").split()
    status, out, err = asr(*arguments, "--jobs", 1)
    assert status == 0, out + err
    rows = [line.split()[:2] for line in indented("utterances ").splitlines()]  # a name and its first number
    assert len(rows) > 5
    assert all(row in [line.split()[:2] for line in out.splitlines()] for row in rows)


@pytest.mark.slow
def test_tutorial_commands_train_and_recognize(tutorial_folder, asr):
    Path("quick.toml").write_text(QUICK)
    train = shown(TUTORIAL, "train").split()
    lines = [[*train, "--config", "quick.toml", "--jobs", "1"]]
    lines += [line.split() for line in shown(TUTORIAL, "decode").splitlines()]
    printed = []
    for name, *arguments in lines:
        status, out, err = asr(*arguments)
        assert (name, status) == ("asr", 0), err
        printed.append(out)
    assert "`03 OPEN THE DOOR`" in (DOCS / TUTORIAL).read_text(encoding="utf-8")
    assert printed[1] == "03 OPEN THE DOOR\n"
    assert len(Path("out/hyp.txt").read_text().splitlines()) == 16
    assert "of 16 utterances" in printed[3]
