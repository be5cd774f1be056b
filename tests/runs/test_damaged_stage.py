"""A stage that is not what it was when it was finished is never used: the file at fault is named, and the remedy."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from asr.runs.run import Run
from asr.util.errors import RunError


def open_run(directory: Path) -> Run:
    return Run.open(directory, command=["asr", "train"], configuration={}, inputs={"train": "abc"})


def build(target: Path) -> None:
    (target / "frames.npy").write_bytes(bytes(range(256)))
    (target / "inner").mkdir()
    (target / "inner" / "index.json").write_text("{}")


@pytest.fixture
def stages(tmp_path: Path) -> Path:
    with open_run(tmp_path) as run:
        run.stage("features", build)
    return tmp_path / "stages"


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a bit flipped": (lambda s: flip(s / "features/frames.npy"), "features/frames.npy: is damaged"),
    "a file cut": (lambda s: (s / "features/frames.npy").write_bytes(b"\0"), "features/frames.npy: is damaged"),
    "a file longer": (lambda s: (s / "features/inner/index.json").write_text("{} "), "inner/index.json: is damaged"),
    "a file gone": (lambda s: (s / "features/frames.npy").unlink(), "features/frames.npy: is missing"),
    "a file added": (lambda s: (s / "features/inner/new").touch(), "features/inner/new: is not listed"),
    "a link to nowhere": (lambda s: (s / "features/new").symlink_to("nowhere"), "features/new: is not listed"),
    "no digests": (lambda s: (s / "features.digests").unlink(), "features.digests: is missing"),
    "digests cut": (lambda s: (s / "features.digests").write_text('{"f'), "features.digests: is damaged"),
    "digests of nothing": (lambda s: (s / "features.digests").write_text("[]"), "features.digests: is damaged"),
    "digests no text": (lambda s: (s / "features.digests").write_bytes(b"\xff"), "features.digests: is damaged"),
    "digests too deep": (lambda s: (s / "features.digests").write_text("[" * 100_000), "features.digests: is damaged"),
    "a digest that is none": (
        lambda s: (s / "features.digests").write_text('{"frames.npy": 1, "inner/index.json": 2}'),
        "features/frames.npy: is damaged",
    ),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_stage_raises_and_is_rebuilt_once_removed(stages: Path, damage: str) -> None:
    spoil, complaint = DAMAGE[damage]
    digests = (stages / "features.digests").read_bytes()
    spoil(stages)
    with open_run(stages.parent) as run, pytest.raises(RunError) as caught:
        run.stage("features", build)
    assert complaint in str(caught.value)
    assert f"remove the directory {stages / 'features'}" in str(caught.value)
    for path in sorted((stages / "features").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (stages / "features").rmdir()
    with open_run(stages.parent) as run:
        run.stage("features", build)
    assert (stages / "features.digests").read_bytes() == digests


def test_digests_are_by_path_in_the_stage_and_the_same_for_equal_stages(stages: Path, tmp_path: Path) -> None:
    digests = json.loads((stages / "features.digests").read_text())
    assert digests.keys() == {"frames.npy", "inner/index.json"}
    assert {len(digest) for digest in digests.values()} == {128}
    with open_run(tmp_path / "another") as run:
        run.stage("features", build)
    assert (tmp_path / "another/stages/features.digests").read_bytes() == (stages / "features.digests").read_bytes()


def test_a_stage_is_checked_once_a_process(stages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[Path] = []
    monkeypatch.setattr("asr.runs.run.check_digests", lambda stage, record: checked.append(stage))
    with open_run(stages.parent) as run:
        for _ in range(2):
            run.stage("features", build)
            run.stage("gmm", build)
    assert checked == [stages / "features"]


SECONDS = {
    "cut": b'{"cpu": 1.0, "wa',
    "no text": b"\xff\xfe",
    "no object": b"3.5",
    "too deep": b"[" * 100_000,
    "another number": None,
}


@pytest.mark.parametrize("content", SECONDS)
def test_a_damaged_record_of_a_stage_s_time_is_refused_by_name(stages: Path, content: str) -> None:
    path = stages / "features.seconds"
    path.write_bytes(SECONDS[content] or path.read_bytes().replace(b'"wall": 0.', b'"wall": 9.'))
    with open_run(stages.parent) as run, pytest.raises(RunError, match=r"features\.seconds: .*remove the directory"):
        run.stage_time("features")


@pytest.mark.slow
def test_a_record_of_the_run_in_which_any_byte_changed_is_refused_by_name(stages: Path) -> None:
    path = stages.parent / "run.json"
    whole = path.read_bytes()
    for place in range(len(whole)):
        content = bytearray(whole)
        content[place] ^= 0x20 if chr(content[place]).isalpha() else 1
        path.write_bytes(content)
        if content.split() == whole.split():
            continue  # one white space for another
        with pytest.raises(RunError, match=r"run\.json: "):
            open_run(stages.parent)
    path.write_bytes(whole)
    open_run(stages.parent).close()


def test_a_lock_file_of_rubbish_is_told_as_a_lock(tmp_path: Path) -> None:
    with open_run(tmp_path):
        (tmp_path / ".lock").write_bytes(b"\xff\x1b[2J")
        with pytest.raises(RunError, match="another process") as caught:
            open_run(tmp_path)
    assert str(caught.value).isprintable()
