"""The grammar language of HTK's HParse."""

import math
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.grammar import read_grammar, score_sentence
from asr.grammar.hparse import hparse_grammar, is_hparse
from asr.util.errors import GrammarError

CALLS = """/* who is called */
$name  = ANNA | BORIS [ "SMITH" ];
$digit = ONE | TWO;
( SENT-START ( CALL $name | DIAL <$digit> ) { PLEASE } SENT-END )
"""
WORDS = ("a", "b")
LONGEST = 4

expressions = st.recursive(
    st.sampled_from(WORDS),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: ("seq", *parts)),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: ("alt", *parts)),
        st.tuples(st.sampled_from("[<{"), inner),
    ),
    max_leaves=8,
)


def text_of(tree):
    if isinstance(tree, str):
        return tree
    kind, *parts = tree
    if kind in ("seq", "alt"):
        return f"({(' ' if kind == 'seq' else ' | ').join(map(text_of, parts))})"
    return f"{kind} {text_of(parts[0])} { {'[': ']', '<': '>', '{': '}'}[kind] }"


def sentences_of(tree) -> set[tuple[str, ...]]:
    """All of up to so many words, by going through them."""
    if isinstance(tree, str):
        return {(tree,)}
    kind, *parts = tree
    sets = [sentences_of(part) for part in parts]
    if kind == "alt":
        return set.union(*sets)
    if kind == "seq":
        return {said for way in product(*sets) if len(said := sum(way, ())) <= LONGEST}
    found = {()} if kind in "[{" else set()
    longer = sets[0]
    while not longer <= found:
        found |= longer
        if kind == "[":
            break
        longer = {one + other for one in found for other in sets[0] if len(one + other) <= LONGEST}
    return found


def repeats_what_may_be_empty(tree) -> bool:
    if isinstance(tree, str):
        return False
    kind, *parts = tree
    return (kind in "{<" and () in sentences_of(parts[0])) or any(map(repeats_what_may_be_empty, parts))


@given(expressions)
def test_a_grammar_says_what_going_through_its_sentences_says(tree):
    lines = [f"({text_of(tree)})"]
    if repeats_what_may_be_empty(tree):
        with pytest.raises(GrammarError, match="may be empty"):
            hparse_grammar(lines, "x")
        return
    grammar = hparse_grammar(lines, "x")
    expected = sentences_of(tree)
    for length in range(1, LONGEST + 1):
        for said in product(WORDS, repeat=length):
            assert (score_sentence(grammar, said) == 0.0) == (said in expected), said


def test_a_file_is_told_by_its_content_and_unknown_words_are_left_out(tmp_path: Path):
    path = tmp_path / "calls.gram"
    path.write_text(CALLS)
    known = ["CALL", "DIAL", "ANNA", "BORIS", "SMITH", "ONE", "TWO"]
    grammar = read_grammar(path, vocabulary=known)
    assert grammar.left_out == ("PLEASE",)
    for said in ("CALL ANNA", "CALL BORIS", "CALL BORIS SMITH", "DIAL ONE", "DIAL TWO ONE TWO"):
        assert score_sentence(grammar, said.split()) == 0.0
    for said in ("CALL", "CALL ANNA SMITH", "DIAL", "CALL ONE", "CALL ANNA PLEASE"):
        assert score_sentence(grammar, said.split()) == -math.inf


def test_what_begins_such_a_file():
    assert is_hparse(["", "  $a = b;"])
    assert is_hparse(["( A | B )"])
    assert is_hparse(["("])
    assert not is_hparse(["A B", "( A | B )"])
    assert not is_hparse(["(noise) A B"])
    assert not is_hparse([])


@pytest.mark.parametrize(
    "text", ["(ONE | TWO)", "(ONE|TWO)\n", "(ONE\n| TWO\n)", "( ONE |\nTWO )", "(ONE [ TWO ] | TWO)"]
)
def test_read_grammar_bracket_without_blank_is_hparse(tmp_path: Path, text: str) -> None:
    path = tmp_path / "g"
    path.write_text(text)
    grammar = read_grammar(path, vocabulary=("ONE", "TWO"))
    assert score_sentence(grammar, ["ONE"]) == score_sentence(grammar, ["TWO"]) == 0.0


def test_read_grammar_words_in_brackets_are_sentences(tmp_path: Path) -> None:
    path = tmp_path / "sentences"
    path.write_text("(noise) ONE\nTWO (noise)\n(noise)\n")
    grammar = read_grammar(path, vocabulary=("ONE", "TWO", "(noise)"))
    assert score_sentence(grammar, ["TWO", "(noise)"]) > -math.inf


@pytest.mark.parametrize("text", ["(ONE TWO", "(ONE | TWO\n", "(ONE\n| (TWO)\n"])
def test_read_grammar_open_bracket_names_its_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "g"
    path.write_text(text)
    with pytest.raises(GrammarError, match="of line 1"):
        read_grammar(path, vocabulary=("ONE", "TWO"))


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("( A | )", r"line 1: found '\)'. Expected a word"),
        ("( A", r"line 1: found the end. Expected '\)' for the '\(' of line 1"),
        ("( A\n B ]", r"line 2: found '\]'. Expected '\)' for the '\(' of line 1"),
        ("( A ) B )", "line 1: found 'B'. Expected the end"),
        ("A B", r"line 1: found 'A'. Expected '\('"),
        ("$a = A\n( B )", r"line 2: found the end. Expected ';' after \$a"),
        ("$a = $b;\n$b = A;\n( $a )", r"line 1: \$b is not defined"),
        ("$a = A\n( $a )", r"line 2: the definition of \$a on line 1 has no ';' before \$a"),
        ("$a = A\n$b = B;\n( $b )", r"line 2: the definition of \$a on line 1 has no ';' before \$b"),
        ("( A << B >> )", r"line 1: loops in context, << >>"),
        ("( A%x )", "line 1: output names"),
        ("( { [ A ] } )", r"line 1: the expression repeated by \{ \}"),
        ("\n/* A\n( A )", r"line 2: the comment /\* is not closed"),
        ('( "A B" )', "line 1: '\\\"A B\\\"' is not a word"),
        ('( "A )', r"line 1: the quote \" is not closed"),
        ("(" * 51 + "A" + ")" * 51, "line 1: brackets and variables are nested more than 50 deep"),
        ("$a = A;", r"line 1: found the end. Expected '\('"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text, texts):
    with pytest.raises(GrammarError, match=texts):
        hparse_grammar(text.split("\n"), "x")


@pytest.mark.parametrize(
    ("first", "doubled", "n"), [("A | B", "[ $v{0} ] [ $v{0} ]", 20), ("[ A ]", "[ $v{0} $v{0} ]", 15)]
)
def test_variables_that_double_are_stopped(first, doubled, n):
    lines = [f"$v0 = {first};", *(f"$v{k + 1} = {doubled.format(k)};" for k in range(n - 1)), f"( $v{n - 1} )"]
    assert sum(map(len, lines)) < 600
    with pytest.raises(GrammarError, match=r"40,000 arcs.*variable"):
        hparse_grammar(lines, "x")


def test_hparse_grammar_long_file_may_have_more_arcs():
    lines = ["$w = " + " | ".join(f"W{number}" for number in range(15_000)) + ";", "( $w [ $w $w ] )"]
    assert len(hparse_grammar(lines, "x").words) == 15_000


def test_variables_of_variables_nested_too_deep_raise(tmp_path):
    path = tmp_path / "deep"
    path.write_text("$v0 = A;\n" + "".join(f"$v{n} = $v{n - 1} A;\n" for n in range(1, 2000)) + "( $v1999 )\n")
    with pytest.raises(GrammarError, match="nested"):
        read_grammar(path)
