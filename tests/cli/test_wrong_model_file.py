"""A model file that is none, or is damaged, is told in one clear sentence with status 1."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from discriminants.serialization.model_file import save_arrays
from tests.cli.place import Asr, Bin, check_one_sentence

MODELS = {
    "another kind of file": (lambda p: shutil.copy(p.wav(0), p.model), ("damaged or not a model file",)),
    "not ours": (lambda p: save_arrays(p.model, {"a": np.zeros(3)}, {"b": 1}), ("format is None",)),
    "another version": (lambda p: p.retell(format="hybrid-asr model 99"), ("'hybrid-asr model 99'",)),
    "a phone the model lacks": (lambda p: p.retell(lexicon={"ONE": [["W", "AH", "NG"]]}), ("'NG'",)),
    "a class outside": (
        lambda p: p.retell_classifier(lambda d: d.__setitem__(1, "subprocess:Popen")),
        ("subprocess:Popen", "trusted"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", MODELS)
def test_a_model_file_whose_parts_disagree_is_refused(asr: Asr, place: Bin, tmp_path: Path, fault: str) -> None:
    spoil, parts = MODELS[fault]
    spoil(place)
    check_one_sentence(asr(*place.decode(tmp_path / "out")), "model.safetensors", *parts)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["info", "align", "decode", "tune"])
def test_what_is_no_model_file_is_said_with_what_one_is(asr: Asr, place: Bin, tmp_path: Path, command: str) -> None:
    def texts(model: Path) -> str:
        given = place.command(command, tmp_path / "out")
        finished = asr(*(model if each == place.model else each for each in given))
        check_one_sentence(finished)
        return finished[2]

    assert f"is a directory. Use the model file in it, '{place.model}'" in texts(place.folder)
    made = "Expected a model file of `asr train` (model.safetensors in its work directory)"
    text = place.write("notes.txt", "To whom it\nmay concern")
    assert f"'{place.data}' is a directory. {made}" in texts(place.data)
    assert f"'nowhere' does not exist. {made}" in texts(Path("nowhere"))
    beginning = "is damaged or not a model file: it begins with the text 'To whom it may concern'"
    assert f"{text} {beginning}. {made}" in texts(text)


@pytest.mark.parametrize("command", ["info", "align", "decode"])
@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 100, 0.2, 0.5, 0.9, -1])
def test_truncated_model_file_is_refused(asr: Asr, place: Bin, tmp_path: Path, length: float, command: str) -> None:
    content = place.model.read_bytes()
    kept = int(length * len(content)) if 0 < length < 1 else int(length)
    place.model.write_bytes(content[:kept])
    finished = asr(*place.command(command, tmp_path / "out"))
    check_one_sentence(finished, str(place.model), "is damaged or")


def test_a_header_changed_byte_by_byte_is_refused_or_harmless(asr: Asr, place: Bin, tmp_path: Path) -> None:
    content = place.model.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    generator = np.random.default_rng(0)
    for position in generator.integers(0, end, 60).tolist():
        changed = bytearray(content)
        changed[position] = int(generator.integers(32, 127))
        place.model.write_bytes(changed)
        for arguments in (["info", place.model], place.decode(tmp_path)):
            status, _, err = asr(*arguments)
            assert status in (0, 1)
            assert status == 0 or err.startswith("asr: error: "), (position, err)
            assert "Traceback" not in err


def test_info_of_a_tampered_description_is_refused(asr: Asr, place: Bin) -> None:
    place.retell(phones=7)
    check_one_sentence(asr("info", place.model), "inconsistent")
