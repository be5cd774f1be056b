"""The help of a command says what somebody who has not read the guides must know to use it."""

import subprocess
import sys

import pytest

from tests.cli.place import Asr

OF_DATA = ("a folder with the lists wav.scp (or feats.scp), utt2spk and text",)
OF_ROOT = ("relative paths in wav.scp or feats.scp", "then in the data directory")
TOLD = {
    "train": (*OF_DATA, *OF_ROOT, "Seed of the random numbers", "Folder for the models", "the table of report.html"),
    "decode": (
        *OF_DATA,
        *OF_ROOT,
        "or in noise",
        "directory with --adapt, or with a model trained with transforms",
        "the probability that it is correct",
        "faster but loses words",
        "textgrid, elan, csv, json or audacity",
        "Hybrids of other classifiers cannot be adapted",
    ),
    "tune": (*OF_DATA, *OF_ROOT, "lm_scale and insertion_penalty", "written by asr train"),
    "validate": (
        *OF_DATA,
        *OF_ROOT,
        "An error stops training or excludes utterances",
        "together with the training data",
    ),
    "report": (*OF_DATA, *OF_ROOT, "RUN/compare.html"),
    "align": (*OF_DATA, *OF_ROOT, "the match of every transcript with its audio", "of asr train or asr tune"),
}


@pytest.mark.parametrize("command", TOLD)
def test_the_help_of_a_command_tells_what_it_reads_and_chooses(asr: Asr, command: str) -> None:
    status, out, _ = asr(command, "--help")
    assert status == 0
    text = " ".join(out.split())
    assert [part for part in TOLD[command] if part not in text] == []


@pytest.mark.parametrize(
    "command", ["features", "train", "tune", "align", "decode", "validate", "score", "report", "segment", "info"]
)
def test_every_command_that_reads_a_data_directory_takes_its_root(asr: Asr, command: str) -> None:
    _, out, _ = asr(command, "--help")
    assert ("--data DIR" in out) == ("--root DIR" in out) == (command not in ("score", "info"))


def test_the_package_run_as_a_module_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "asr", "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()[0], done.stderr) == (0, "asr", "")
