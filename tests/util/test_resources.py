"""Shipped resources are found from a clone as well as from an installed package."""

from pathlib import Path

import pytest

import asr.util.resources
from asr.lexicon.reading import read_lexicon
from asr.util.errors import CorpusError
from asr.util.resources import resource

ARPABET = 39


def test_a_resource_of_the_clone_is_found():
    assert resource("naval", "lexicon.txt").is_file()
    assert resource("naval").is_dir()


def test_an_installed_package_finds_its_own_data_first(tmp_path, monkeypatch):
    shipped = tmp_path / "asr" / "data" / "naval" / "lexicon.txt"
    beside = tmp_path / "data" / "naval" / "lexicon.txt"
    for path in (shipped, beside):
        path.parent.mkdir(parents=True)
        path.touch()
    monkeypatch.setattr(asr.util.resources.resources, "files", lambda package: Path(tmp_path / package))
    assert resource("naval", "lexicon.txt") == shipped
    shipped.unlink()
    assert resource("naval", "lexicon.txt") == beside


def test_a_missing_resource_is_named():
    with pytest.raises(CorpusError, match=r"naval/nothing\.txt"):
        resource("naval", "nothing.txt")


def test_the_digit_lexicon_holds_the_ten_digits():
    lexicon = read_lexicon(resource("digits", "lexicon.txt"))
    assert set(lexicon.words) == set("ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE".split())


def test_the_phone_list_is_what_the_naval_lexicon_uses():
    phones = resource("naval", "phones.txt").read_text(encoding="utf-8").split()
    assert tuple(phones) == read_lexicon(resource("naval", "lexicon.txt")).phones
    assert len(phones) == ARPABET
