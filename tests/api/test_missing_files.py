"""Files that are not there: one kind of error from every entry, and messages that say what was taken for what."""

import re

import pytest

import asr
from asr import AsrError, Recognizer
from asr.util.errors import CorpusError, GrammarError, ModelFormatError


@pytest.fixture
def entries(toy_model, tmp_path):
    """Every entry that takes a path, given one that leads nowhere."""
    nowhere, somewhere = tmp_path / "nowhere", tmp_path / "somewhere"
    somewhere.mkdir()
    recognizer = Recognizer.load(toy_model)
    return {
        "load": lambda: Recognizer.load(nowhere),
        "describe": lambda: asr.describe(nowhere),
        "align, model": lambda: asr.align(nowhere, somewhere, tmp_path / "out", jobs=1),
        "tune, model": lambda: asr.tune(nowhere, somewhere, tmp_path / "out", jobs=1),
        "recognize": lambda: recognizer.recognize(nowhere),
        "align one": lambda: recognizer.align(nowhere, "NO"),
        "align": lambda: asr.align(recognizer, nowhere, tmp_path / "out", jobs=1),
        "decode": lambda: recognizer.decode(tmp_path / "out", data=nowhere),
        "decode, audio": lambda: recognizer.decode(tmp_path / "out", audio=[nowhere]),
        "with_grammar": lambda: recognizer.with_grammar(nowhere),
        "tune": lambda: asr.tune(toy_model, nowhere, tmp_path / "tuned", jobs=1),
        "train": lambda: asr.train(nowhere, nowhere, tmp_path / "run", jobs=1),
        "train, settings": lambda: asr.train(nowhere, nowhere, tmp_path / "run", config=nowhere, jobs=1),
        "features": lambda: asr.extract_features(nowhere, tmp_path / "out", jobs=1),
        "segment": lambda: asr.segment(nowhere, tmp_path / "out"),
        "score": lambda: asr.score(nowhere, nowhere),
    }


def test_what_is_missing_is_an_error_of_ours_from_every_entry(entries):
    for name, call in entries.items():
        with pytest.raises(AsrError, match="nowhere"):
            print(name, call())


@pytest.mark.parametrize("name", ["align", "decode", "tune"])
def test_of_a_data_directory_that_is_missing_nothing_is_said_before(entries, name, caplog):
    with pytest.raises(AsrError, match="nowhere"):
        entries[name]()
    assert not caplog.messages


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("load", ModelFormatError),
        ("describe", ModelFormatError),
        ("align, model", ModelFormatError),
        ("tune, model", ModelFormatError),
        ("recognize", CorpusError),
        ("align one", CorpusError),
    ],
)
def test_a_missing_model_or_recording_is_also_the_error_that_python_raises(entries, name, kind):
    with pytest.raises(FileNotFoundError, match=r"nowhere does not exist") as found:
        entries[name]()
    assert isinstance(found.value, kind)
    assert found.value.code == "missing-file"


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(ModelFormatError, match="a model file"):
        Recognizer.load(tmp_path)


def test_sentence_given_as_grammar_is_told_from_a_path(toy_model, toy_corpus, tmp_path):
    recognizer = Recognizer.load(toy_model)
    texts = re.escape("'SEVEN TWO' is not the path") + ".*" + re.escape("['SEVEN TWO']")
    with pytest.raises(GrammarError, match=texts):
        recognizer.with_grammar("SEVEN TWO")
    with pytest.raises(GrammarError, match=texts):
        asr.tune(toy_model, toy_corpus / "test", tmp_path / "tuned", grammar="SEVEN TWO", jobs=1)
    with pytest.raises(GrammarError, match="does not exist"):
        recognizer.with_grammar(tmp_path / "sentences.txt")
    with pytest.raises(GrammarError, match="is not the path"):
        recognizer.with_grammar("SEVEN " * 1000)


def test_a_search_setting_that_is_none_is_refused_as_python_does(toy_model):
    for call in (Recognizer.load, lambda path, **more: Recognizer.load(path).with_settings(**more)):
        with pytest.raises(TypeError, match=r"'beem'.*beam, max_active"):
            call(toy_model, beem=3)
