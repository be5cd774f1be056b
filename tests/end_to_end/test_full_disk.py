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


def check_disturbed(warm: Warm, arguments: list[object], folder: Path, n_sizes: int) -> None:
    """Run with about so many limits to the size of a file, up to the size of the largest, then without."""
    undisturbed, disturbed = folder / "undisturbed" / "out", folder / "disturbed" / "out"
    assert warm(*arguments, undisturbed)[0] == 0
    whole = contents(undisturbed)
    sizes = sorted({len(content) for content in whole.values()})
    for size in {1, *sizes[:: max(1, len(sizes) // n_sizes)], sizes[-1]}:
        shutil.rmtree(disturbed, ignore_errors=True)
        status, said = warm(*arguments, disturbed, file_size=size - 1)
        last = said.splitlines()[-1]
        assert status == 1, said
        assert last.startswith(f"asr: error: {disturbed}"), said
        assert ": File too large. Allow larger files" in last
        assert "partial" not in last
        assert "Traceback" not in said
        assert not list(disturbed.rglob(".*.partial-*"))
        assert warm(*arguments, disturbed)[0] == 0
        assert contents(disturbed) == whole, size


def test_training_meets_a_full_disk(warm: Warm, tiny_training: list[object], tmp_path: Path) -> None:
    check_disturbed(warm, tiny_training, tmp_path, 8)


@pytest.mark.parametrize("command", ["decode", "align", "features"])
def test_a_command_meets_a_full_disk(
    warm: Warm, toy_corpus: Path, toy_model: Path, tmp_path: Path, command: str
) -> None:
    arguments: list[object] = [command, "--data", toy_corpus / "test", "--jobs", "1", "--out"]
    model = ["--config", toy_corpus / "settings.toml"] if command == "features" else ["--model", toy_model]
    check_disturbed(warm, [command, *model, *arguments[1:]], tmp_path, 3)
