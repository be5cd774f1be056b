"""Lexicons with a phone for each letter of the transcripts' words."""

import pytest

from asr.lexicon import Lexicon
from asr.lexicon.graphemes import grapheme_lexicon, is_graphemes, letters, spell, with_spelled_words
from asr.util.errors import LexiconError

CIRCLE = "\N{DOTTED CIRCLE}"


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("Don't", ["d", "o", "n", "t"]),
        ("mother-in-law", list("motherinlaw")),
        ("CAFÉ", ["c", "a", "f", "é"]),
        ("cafe\N{COMBINING ACUTE ACCENT}", ["c", "a", "f", "é"]),
        ("straße", list("strasse")),
        ("λόγος", ["λ", "ό", "γ", "ο", "σ"]),
        ("क्षिति", ["क्", "षि", "ति"]),
        ("क्\N{ZERO WIDTH JOINER}ष", ["क्", "ष"]),
        ("ที่", ["ที่"]),
        ("tiếng", ["t", "i", "ế", "n", "g"]),
        ("한", ["\u1112", "\u1161", "\u11ab"]),
        ("עִ", ["ע\u05b4"]),
    ],
)
def test_letters_of_a_word_are_grapheme_clusters(word, found):
    assert letters(word) == tuple(found)


@pytest.mark.parametrize("word", ["mp3", "50", "a_b", "r&b", "'", "-", "\N{GRINNING FACE}", "x²"])
def test_letters_of_a_word_with_symbols_are_none(word):
    assert letters(word) is None


def test_grapheme_lexicon_divides_rare_letters_with_marks():
    often = [("été",)] * 10  # é occurs 20 times, è once, and so do the two marks of ế
    lexicon = grapheme_lexicon([*often, ("Mère", "50"), ("tiế",)])
    assert lexicon.graphemes
    assert lexicon.words == ("Mère", "tiế", "été")
    assert lexicon["été"] == (("é", "t", "é"),)
    assert lexicon["Mère"] == (("m", "e", f"{CIRCLE}\u0300", "r", "e"),)
    assert lexicon["tiế"] == (("t", "i", "e", f"{CIRCLE}\u0302", f"{CIRCLE}\u0301"),)
    assert not lexicon.untrained_phones([("été", "Mère", "tiế")])


def test_grapheme_lexicon_without_words_raises():
    with pytest.raises(LexiconError, match="graphemes"):
        grapheme_lexicon([("50", "mp3"), ()])


def test_spell_uses_known_phones_only():
    phones = {"e", "é", "t", f"{CIRCLE}\u0300"}
    assert spell("Tète", phones) == ("t", "e", f"{CIRCLE}\u0300", "t", "e")
    assert spell("té", phones) == ("t", "é")
    assert spell("tôt", phones) is None
    assert spell("t3", phones) is None


def test_with_spelled_words_changes_grapheme_lexicons_only():
    lexicon = grapheme_lexicon([("tea", "eat")])
    assert with_spelled_words(lexicon, ["tea", "ate", "sea"], lexicon.phones)["ate"] == (("a", "t", "e"),)
    assert "sea" not in with_spelled_words(lexicon, ["sea"], lexicon.phones)
    other = Lexicon({"tea": (("t", "iy"),)})
    assert with_spelled_words(other, ["tt"], other.phones) is other


def test_is_graphemes_of_names_and_paths(tmp_path):
    assert is_graphemes("graphemes")
    assert not is_graphemes(tmp_path / "graphemes")
    assert not is_graphemes(None)
