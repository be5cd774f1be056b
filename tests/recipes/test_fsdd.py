"""The recipe of spoken digits, its trainings left out."""

from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from asr.acoustic import whole_word
from asr.lexicon import Lexicon
from asr.training.gmm_stages import TrainingContext
from recipes.fsdd import __main__ as fsdd
from recipes.recipe import Arguments, Recipe


@pytest.mark.parametrize("installed", [False, True])
def test_whole_word_models_are_left_out_without_hmmlearn(monkeypatch, caplog, installed):
    context = TrainingContext(None, Lexicon({"ONE": (("w", "ah", "n"),)}), fsdd.CONFIG, "audio", None)
    dataset = SimpleNamespace(speakers=("anna", "bob"), of_speakers=lambda names: dataset)
    ended = {}
    monkeypatch.setattr(whole_word, "find_spec", lambda name: object() if installed else None)
    monkeypatch.setattr(Recipe, "dataset", lambda self, name: dataset)
    monkeypatch.setattr(fsdd, "parse_arguments", lambda *_, **__: Arguments(Path(), Path(), 1, False))
    monkeypatch.setattr(fsdd, "open_recipe", lambda *_: Recipe("", Path(), context, {}, ExitStack()))
    monkeypatch.setattr(fsdd, "joined", lambda parts: dataset)
    monkeypatch.setattr(fsdd, "train_and_tune", lambda *_: [])
    monkeypatch.setattr(fsdd, "choose_primary", lambda systems: None)
    monkeypatch.setattr(fsdd, "decode_test", lambda *_: [])
    monkeypatch.setattr(fsdd, "whole_word_row", lambda recipe, split, folds: (split, sorted(folds)))
    monkeypatch.setattr(fsdd, "finish", lambda recipe, scored, systems, notes: ended.update(rows=scored, notes=notes))
    fsdd.main()
    if installed:
        assert ended == {"rows": [("official", ["official"]), ("loso", ["loso-anna", "loso-bob"])], "notes": []}
    else:
        assert ended["rows"] == []
        (note,) = ended["notes"]
        assert note.startswith("hmmlearn-words skipped: whole-word models need the package hmmlearn")
        assert note in caplog.text
