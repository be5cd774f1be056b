"""Tables of letters that are one sound, and their use in the lexicon of graphemes."""

from math import log2

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asr.lexicon import read_lexicon, write_lexicon
from asr.lexicon.graphemes import GRAPHEMES, grapheme_lexicon, is_graphemes, spell, with_spelled_words
from asr.lexicon.multigraphs import multigraphs_of, propose_multigraphs, read_multigraphs, write_proposal
from asr.util.errors import LexiconError

TABLE = {"ch": ("ch",), "sch": ("sch",), "ss": ("s",), "h": (), "x": ("k", "s")}


@pytest.mark.parametrize(
    ("word", "phones"),
    [
        ("schuh", ["sch", "u"]),  # the longest first, silent h
        ("achse", ["a", "ch", "s", "e"]),
        ("Hexe", ["e", "k", "s", "e"]),
        ("masse", ["m", "a", "s", "e"]),
        ("s-s", ["s"]),
    ],
)
def test_grapheme_lexicon_uses_the_table(word, phones):
    lexicon = grapheme_lexicon([(word, "hh")], TABLE)
    assert lexicon.pronunciations == {word: (tuple(phones),)}  # hh is silent
    assert spell(word, lexicon.phones, TABLE) == tuple(phones)
    assert spell("hh", lexicon.phones, TABLE) is None


def test_lexicon_keeps_its_table():
    lexicon = grapheme_lexicon([("schuh", "s")], TABLE)
    assert lexicon.digest() != grapheme_lexicon([("schuh", "s")], TABLE | {"q": ("k",)}).digest()
    assert with_spelled_words(lexicon, ["husch"], lexicon.phones)["husch"] == (("u", "sch"),)
    assert lexicon.subset(["s"]).multigraphs == TABLE


def test_read_multigraphs_of_a_named_file(tmp_path):
    path = tmp_path / "table"
    path.write_text("# one\nCH ch  # as in such\n\nss s\nh\nh\u0300 # nothing\nx k s\n", encoding="utf-8")
    table = {"ch": ("ch",), "ss": ("s",), "h": (), "h\u0300": (), "x": ("k", "s")}
    name = f"{GRAPHEMES}:{path}"
    assert is_graphemes(name)
    assert multigraphs_of(name) == read_multigraphs(path) == table
    assert multigraphs_of(GRAPHEMES) == {}


@pytest.mark.parametrize("line", ["c4 ch", "ch SIL", "ss s", "# x\nch a\x07"])
def test_read_multigraphs_of_a_wrong_line_raises(tmp_path, line):
    (tmp_path / "table").write_text(f"SS s\n{line}\n")
    with pytest.raises(LexiconError, match=r"table:[23]: '(c4|ch|ss)'"):
        read_multigraphs(tmp_path / "table")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(st.text(alphabet="abcß\u0301#4 \t\n", max_size=40))
def test_any_table_gives_a_lexicon_or_an_error(tmp_path, text):
    (tmp_path / "table").write_text(text, encoding="utf-8")
    try:
        lexicon = grapheme_lexicon([("abc", "cab", "baß")], read_multigraphs(tmp_path / "table"))
        write_lexicon(lexicon, tmp_path / "lexicon")
    except LexiconError:
        return
    assert read_lexicon(tmp_path / "lexicon", format="kaldi", strip_stress=False) == lexicon


def test_proposed_pairs_match_their_definition(tmp_path):
    words = [f"qu{vowel}{other}" for vowel in "aeio" for other in "lmnt"]
    words += [f"{one}a{other}o" for one in "lmnt" for other in "lmnt"] + ["allo" + one for one in "lmnstkprbd"]
    proposed = propose_multigraphs([*words, *words])
    assert set(proposed) == {"ll", "qu"}
    pairs = [word[n : n + 2] for word in words for n in range(len(word) - 1)]
    first = sum(pair[0] == "q" for pair in pairs)
    second = sum(pair[1] == "u" for pair in pairs)
    n = pairs.count("qu")
    assert proposed["qu"] == (n, pytest.approx(log2(n * len(pairs) / (first * second))), "qual")
    assert write_proposal(words, tmp_path / "table") == 2
    assert read_multigraphs(tmp_path / "table") == {"ll": ("l",), "qu": ("qu",)}
