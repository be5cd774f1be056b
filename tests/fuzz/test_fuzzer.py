"""The fuzzer itself: it finds every kind of fault, harms nothing, and makes the same inputs again."""

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.finding import Finding, input_of_file
from tests.fuzz.inputs import EVERYWHERE, Bin, Input, mutations
from tests.fuzz.minimize import smaller
from tests.fuzz.mutators.byte_mutators import spoil_bytes
from tests.fuzz.mutators.field_mutators import spoil_fields
from tests.fuzz.mutators.json_mutators import spoil_json
from tests.fuzz.mutators.model_mutators import DTYPES, model_bytes, model_parts, spoil_model, spoilt_arrays
from tests.fuzz.mutators.npz_mutators import npz_bytes, spoil_npy, spoil_npz
from tests.fuzz.mutators.text_mutators import spoil_text
from tests.fuzz.mutators.toml_mutators import spoil_toml
from tests.fuzz.outcome import Unsound, check_mark
from tests.fuzz.reader import Mutator, Reader

ROOT = Path(__file__).parents[2]
KINDS = {
    "untyped": "untyped-error",
    "exits": "untyped-error",
    "long-message": "message",
    "line-end": "message",
    "escape": "message",
    "lets-through": "unsound",
    "crashes": "crash",
    "dies": "crash",
    "hangs": "time",
    "takes-memory": "memory",
    "takes-all-memory": "memory",
    "writes-elsewhere": "trespass",
    "removes": "trespass",
    "starts-a-process": "trespass",
    "starts-a-process-natively": "process",
    "refuses-what-is-valid": "valid-input",
}
FAULTLESS = ("sound", "keeps-a-little")
MUTATORS = (spoil_bytes, spoil_fields, spoil_json, spoil_model, spoil_npy, spoil_npz, spoil_text, spoil_toml)
TREE = {"a/list": b"utt1 x\nutt2 utt1\n", "b": b"utt1\n", "c": b"no target"}


def fuzz(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Findings of the faulty readers, and beside them a folder that they tried to change."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "victim").mkdir()
    (folder / "victim" / "file").write_text("untouched")
    arguments = ("--room", "tests.fuzz.faulty", "--seconds", 6, "--save", folder / "found")
    done = fuzz(*arguments, FUZZ_VICTIM=str(folder / "victim"))
    assert done.returncode == 1, done.stderr
    (folder / "table.txt").write_text(done.stdout)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_fault_is_found_and_saved(faults: Path, name: str) -> None:
    found = [path for path in (faults / "found" / name).iterdir() if path.suffix != ".txt"]
    assert found
    for path in found:
        assert path.name.startswith(f"x.txt@{KINDS[name]}-")
        assert input_of_file(path).seed == "x.txt"
        assert KINDS[name].replace("-", " ") in path.with_name(f"{path.name}.txt").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTLESS)
def test_a_reader_without_fault_gives_no_finding(faults: Path, name: str) -> None:
    assert not (faults / "found" / name).exists()


@pytest.mark.slow
def test_what_readers_try_to_do_outside_their_folder_is_prevented(faults: Path) -> None:
    assert [path.name for path in (faults / "victim").iterdir()] == ["file"]


@pytest.mark.slow
def test_after_a_crash_the_next_inputs_are_read_all_the_same(faults: Path) -> None:
    rows = {line.split()[0]: line.split() for line in (faults / "table.txt").read_text().splitlines() if line}
    assert int(rows["crashes"][1]) > 2
    assert int(rows["dies"][1]) > 2


@pytest.mark.slow
def test_a_saved_finding_can_be_replayed(faults: Path) -> None:
    path = next(path for path in (faults / "found" / "untyped").iterdir() if path.suffix != ".txt")
    done = fuzz("--room", "tests.fuzz.faulty", "--replay", path)
    assert done.returncode == 1
    assert "KeyError: 'line'" in done.stdout


def test_without_findings_the_exit_status_is_zero() -> None:
    done = fuzz("--room", "tests.fuzz.faulty", "--reader", "sound", "--seconds", 0.5)
    assert done.returncode == 0, done.stdout
    assert "sound" in done.stdout


def test_a_mutation_is_known_by_seed_reader_and_number() -> None:
    one = Reader("one", lambda folder: TREE, lambda path: None, (spoil_text, spoil_bytes), tree=True, renames=True)
    other = Reader("other", one.make_seeds, one.use, one.mutators, tree=True, renames=True)
    first = [mutations(one, TREE, 0)(number) for number in range(200)]
    source = mutations(one, TREE, 0)
    assert [source(number) for number in reversed(range(200))] == first[::-1]
    assert [mutations(one, TREE, 1)(number) for number in range(200)] != first
    assert [mutations(other, TREE, 0)(number) for number in range(200)] != first
    assert len(set(first)) > 150


def test_an_input_stands_alone_in_a_folder_of_valid_ones(tmp_path: Path) -> None:
    tree = Reader("tree", lambda folder: TREE, lambda path: None, (), tree=True, targets=("a/*", "b"))
    place = Bin(tree, TREE, tmp_path / "input")
    for wanted, expected in (
        (Input("b", b"spoilt"), {**TREE, "b": b"spoilt"}),
        (Input(EVERYWHERE, b"utt1 ../x y"), {**TREE, "a/list": b"../x y x\nutt2 ../x y\n", "b": b"../x y\n"}),
        (Input("a/list", b""), {**TREE, "a/list": b""}),
    ):
        folder = place.put(wanted)
        assert {name: (folder / name).read_bytes() for name in TREE} == expected


@pytest.mark.parametrize("mutator", MUTATORS)
@settings(max_examples=40)
@given(content=st.binary(max_size=300), seed=st.integers(0, 2**32))
def test_whatever_is_spoilt_may_be_spoilt_again(mutator: Mutator, content: bytes, seed: int) -> None:
    random = Random(seed)
    for _ in range(3):
        content = mutator(random, content, [b"other"])
        assert isinstance(content, bytes)


def test_spoilt_models_are_mostly_whole_files_with_other_content() -> None:
    valid = model_bytes({"x": np.arange(6.0).reshape(2, 3), "n": np.arange(3)}, {"a": [1, {"b": "c"}], "d": 0.5})
    found = []
    for number in range(100):
        try:
            found.append(model_parts(spoil_model(Random(number), valid, [])))
        except Exception:
            continue
    assert len(found) > 60
    assert len({str(parts) for parts in found}) > 40


def test_arrays_of_an_npz_file_are_spoilt_inside_it() -> None:
    valid = npz_bytes({"x": np.arange(6.0), "y": np.arange(3)})
    assert npz_bytes({"x": np.arange(6.0), "y": np.arange(3)}) == valid
    assert len({spoil_npz(Random(number), valid, []) for number in range(50)}) > 25


def test_what_does_not_matter_is_cut_from_a_finding() -> None:
    assert smaller(b"a" * 500 + b"bad" + b"c" * 700, lambda content: b"bad" in content) == b"bad"


def test_a_finding_is_written_and_read_as_it_was() -> None:
    finding = Finding("r", "a/b", 7, "crash", "crash at x", "told", bytes(range(256)), count=3)
    assert Finding.from_json(finding.to_json()) == finding


def test_a_mark_that_changes_what_is_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_bytes(b"\xef\xbb\xbfutt1 x\n")
    with pytest.raises(Unsound, match="a byte-order mark changes what is read"):
        check_mark((path,), lambda: path.read_text(encoding="utf-8").split())
    path.write_bytes(b"\xef\xbb\xbfutt1 x\n")
    assert check_mark((path,), lambda: path.read_text(encoding="utf-8-sig").split()) == ["utt1", "x"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_every_type_are_spoilt(dtype: str) -> None:
    arrays = {"x": np.arange(6).reshape(2, 3).astype(dtype), "y": np.zeros((0, 2), dtype), "z": np.array(1, dtype)}
    spoilt = [spoilt_arrays(Random(number), arrays) for number in range(300)]
    assert len({repr(one) for one in spoilt}) > 60
