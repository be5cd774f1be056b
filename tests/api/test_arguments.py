"""Arguments of another type than the public functions take: one kind of error, before anything is done."""

import io
from collections.abc import Sequence
from inspect import Parameter, signature

import numpy as np
import pytest

import asr as package
from asr import Recognizer
from asr.api.arguments import checked
from asr.util.errors import ArgumentError, AsrError, ConfigError, CorpusError
from tests.fuzz import valid_models

RATE = 8000
COMMANDS = ("align", "combine", "describe", "extract_features", "score", "train", "tune", "validate")
METHODS = (
    "add_word", "align", "align_directory", "decode", "lattice", "load", "recognize", "recognize_all", "tree",
    "with_grammar",
)  # fmt: skip


class Unfit:
    """An object that no parameter takes."""


@pytest.fixture(scope="module")
def recognizer() -> Recognizer:
    return Recognizer(valid_models.mixtures())


def samples():
    return np.random.default_rng(0).normal(scale=0.1, size=RATE).astype(np.float32)


def closed_file():
    file = io.BytesIO(b"RIFF")
    file.close()
    return file


def parameters():
    owners = [(package, name) for name in COMMANDS] + [(Recognizer, name) for name in METHODS]
    for owner, name in owners:
        for parameter in signature(getattr(owner, name)).parameters.values():
            if parameter.name not in ("self", "rate") and parameter.kind is not Parameter.VAR_KEYWORD:
                yield pytest.param(owner, name, parameter.name, id=f"{name}-{parameter.name}")


@pytest.mark.parametrize(("owner", "name", "wrong"), list(parameters()))
def test_public_function_argument_of_other_type_raises(owner, name, wrong, recognizer, tmp_path):
    function = getattr(recognizer if owner is Recognizer else package, name)
    given = {
        one.name: str(tmp_path / "nowhere")
        for one in signature(function).parameters.values()
        if one.default is Parameter.empty and one.kind is not Parameter.VAR_KEYWORD
    }
    given |= {"systems": []} if name == "combine" else {}
    given |= {"audios": []} if name == "recognize_all" else {}
    given |= {"words": "ONE"} if name == "align" and owner is Recognizer else {}
    with pytest.raises(AsrError) as texts:
        function(**{**given, wrong: Unfit()})
    assert "Unfit" in str(texts.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "wrong", ["model", "allow_oov_phones", "upsample", "confidence", "grammar", "beam", "lm_scale"]
)
def test_recognizer_argument_of_other_type_raises(wrong):
    with pytest.raises(AsrError):
        Recognizer(**({"model": valid_models.mixtures()} | {wrong: Unfit()}))


@pytest.mark.parametrize(
    ("name", "wrong", "value"),
    [
        ("score", "speakers", 5),
        ("train", "jobs", "2"),
        ("train", "jobs", True),
        ("train", "data", b"data"),
        ("train", "data", "a\0b"),
        ("combine", "systems", "directory"),
        ("combine", "null", 10**400),
        ("validate", "tests", "directory"),
        ("score", "reference", {"a": 5}),
    ],
)
def test_command_value_of_other_type_names_it(name, wrong, value):
    required = {
        one.name: ["a"] if one.name == "systems" else "nowhere"
        for one in signature(getattr(package, name)).parameters.values()
        if one.default is Parameter.empty
    }
    with pytest.raises(ArgumentError, match=wrong) as texts:
        getattr(package, name)(**{**required, wrong: value})
    assert texts.value.code == "argument"
    assert isinstance(texts.value, TypeError)


@pytest.mark.parametrize("name", ["train", "validate", "extract_features"])
@pytest.mark.parametrize("jobs", [0, -1])
def test_command_without_jobs_raises(name, jobs):
    given = {"extract_features": ("data", "output"), "validate": ("data", "lexicon")}
    with pytest.raises(ConfigError, match="jobs"):
        getattr(package, name)(*given.get(name, ("data", "lexicon", "output")), jobs=jobs)


def test_recognize_all_path_for_list_raises(recognizer):
    with pytest.raises(ArgumentError, match="audios"):
        recognizer.recognize_all("speech.flac")


def test_numpy_numbers_and_arrays_are_taken(recognizer):
    found = recognizer.recognize_all([samples()], rate=RATE, speakers=np.array(["anna"]), jobs=np.int64(1))
    assert [result.error for result in found] == [None]


@pytest.mark.parametrize("file", [closed_file(), io.StringIO("text")], ids=["closed", "text"])
def test_recognizer_file_that_cannot_be_read_raises(recognizer, file):
    with pytest.raises(CorpusError):
        recognizer.recognize(file)
    assert [result.error.code for result in recognizer.recognize_all([file])] == ["unreadable"]


def test_recognizer_file_open_for_writing_raises(recognizer, tmp_path):
    with (tmp_path / "new").open("wb") as file, pytest.raises(CorpusError):
        recognizer.recognize(file)


@pytest.mark.parametrize("file", [closed_file(), io.StringIO("text")], ids=["closed", "text"])
def test_file_object_for_path_or_list_raises(recognizer, file):
    for call in (package.describe, recognizer.with_grammar, recognizer.recognize_all):
        with pytest.raises(AsrError):
            call(file)


def test_checked_iterator_is_not_read():
    @checked
    def first(items: Sequence[str]) -> str:
        return items[0]

    assert first(["a", "b"]) == "a"
    with pytest.raises(ArgumentError, match="items"):
        first(iter(["a"]))
