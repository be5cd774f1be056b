"""A disk that takes no more ends a command in one sentence with the file's name, and the same command goes on."""

import shutil
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Warm

pytestmark = pytest.mark.slow


def contents(directory: Path) -> dict[str, bytes]:
    """Bytes by path, except for times, the lock, the log and the record of the command."""
    return {
        str(file.relative_to(directory)): file.read_bytes()
        for file in sorted(directory.rglob("*"))
        if file.is_file() and file.suffix != ".seconds" and file.name not in (".lock", "run.json", "train.log")
    }


def limits(whole: dict[str, bytes], n_sizes: int) -> list[int]:
    """About so many sizes of files, increasing, up to the size of the largest."""
    sizes = sorted({len(content) for content in whole.values()})
    return sorted({1, *sizes[:: max(1, len(sizes) // n_sizes)], sizes[-1]})


def check_refused(warm: Warm, arguments: list[object], out: Path, size: int) -> None:
    """Run without files of this size."""
    status, said = warm(*arguments, out, file_size=size - 1)
    last = said.splitlines()[-1]
    assert status == 1, said
    assert last.startswith(f"asr: error: {out}"), said
    assert ": File too large. Allow larger files" in last
    assert "partial" not in last
    assert "Traceback" not in said
    assert not list(out.rglob(".*.partial-*"))


def test_training_meets_a_full_disk(warm: Warm, tiny_training: list[object], tmp_path: Path) -> None:
    undisturbed, disturbed = tmp_path / "undisturbed" / "out", tmp_path / "disturbed" / "out"
    assert warm(*tiny_training, undisturbed)[0] == 0
    whole = contents(undisturbed)
    for size in limits(whole, 8):  # each time the training resumes at the file that was too large
        check_refused(warm, tiny_training, disturbed, size)
    assert warm(*tiny_training, disturbed)[0] == 0
    assert contents(disturbed) == whole


@pytest.mark.parametrize("command", ["decode", "align", "features"])
def test_a_command_meets_a_full_disk(
    warm: Warm, toy_corpus: Path, toy_model: Path, tmp_path: Path, command: str
) -> None:
    model = ["--config", toy_corpus / "settings.toml"] if command == "features" else ["--model", toy_model]
    arguments: list[object] = [command, *model, "--data", toy_corpus / "test", "--jobs", "1", "--out"]
    undisturbed, disturbed = tmp_path / "undisturbed" / "out", tmp_path / "disturbed" / "out"
    assert warm(*arguments, undisturbed)[0] == 0
    whole = contents(undisturbed)
    for size in limits(whole, 3):
        shutil.rmtree(disturbed, ignore_errors=True)
        check_refused(warm, arguments, disturbed, size)
        assert warm(*arguments, disturbed)[0] == 0
        assert contents(disturbed) == whole, size
