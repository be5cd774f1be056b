"""Binary files of OpenFst as grammars."""

import math
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from random import Random

import kaldifst
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.grammar import (
    Grammar,
    arpa_grammar,
    estimate_ngram,
    read_grammar,
    sample_sentence,
    score_sentence,
    word_pair,
)
from asr.grammar.automaton import Arc
from asr.grammar.determinization import determinize
from asr.grammar.openfst import parse_openfst
from asr.grammar.openfst_automaton import BACK_OFF
from asr.util.errors import GrammarError
from tests.fuzz.mutators.byte_mutators import spoil_bytes
from tests.openfst_files import State, fst_bytes, word_pair_states

INF = math.inf
SYMBOLS = {"<eps>": 0, "a": 1, "b": 2, "#0": 3, "<s>": 4, "</s>": 5, "#1": 6}
KINDS = [("vector", 2), ("const", 1), ("const", 2)]
# <s>, a or b, then a any number of times, through a back-off, and </s>
STATES: list[State] = [
    (INF, [(4, 4, 0.5, 1)]),
    (INF, [(1, 1, 0.1, 2), (2, 2, 2.5, 2)]),
    (INF, [(3, 0, 0.7, 3), (5, 5, 0.25, 4)]),
    (INF, [(1, 1, 0.3, 2)]),
    (0.125, []),
]


def saved(folder: Path, content: bytes, words: str | None = None) -> Path:
    path = folder / "G.fst"
    path.write_bytes(content)
    if words is not None:
        (folder / "words.txt").write_text(words)
    return path


def one_arc(ilabel: int = 1, olabel: int = 1, weight: float = 0.0, target: int = 1) -> list[State]:
    return [(INF, [(ilabel, olabel, weight, target)]), (0.0, [])]


def walked(arcs: list[Arc], final_costs: Mapping[int, float], sentence: tuple[str, ...]) -> float:
    """Oracle: from state 0 the best path of a sentence's words, all empty arcs (`#0` too) walked wherever they are."""

    def best(state: int, left: tuple[str, ...]) -> float:
        found = final_costs.get(state, INF) if not left else INF
        for arc in arcs:
            if arc.source == state and arc.word in (None, BACK_OFF):
                found = min(found, arc.cost + best(arc.target, left))
            elif arc.source == state and left and arc.word == left[0]:
                found = min(found, arc.cost + best(arc.target, left[1:]))
        return found

    return best(0, sentence)


@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_a_file_of_any_kind_gives_the_costs_of_its_paths(tmp_path: Path, kind: str, version: int) -> None:
    grammar = read_grammar(saved(tmp_path, fst_bytes(STATES, inputs=SYMBOLS, kind=kind, version=version)))
    assert grammar.words == ("a", "b")
    assert score_sentence(grammar, ["a"]) == pytest.approx(-0.975)
    assert score_sentence(grammar, ["b", "a", "a"]) == pytest.approx(-(0.5 + 2.5 + 0.7 + 0.3 + 0.7 + 0.3 + 0.375))
    assert score_sentence(grammar, ["a", "b"]) == -INF
    assert score_sentence(grammar, []) == -INF


@pytest.mark.parametrize("kind", ["vector", "const"])
def test_a_file_that_openfst_wrote_is_read(tmp_path: Path, kind: str) -> None:
    fst = kaldifst.StdVectorFst()
    for _ in STATES:
        fst.add_state()
    fst.start = 0
    for state, (final, arcs) in enumerate(STATES):
        if final != INF:
            fst.set_final(state, final)
        for arc in arcs:
            fst.add_arc(state, kaldifst.StdArc(*arc))
    table = kaldifst.SymbolTable("words")
    for symbol, number in SYMBOLS.items():
        table.add_symbol(symbol, number)
    fst.input_symbols = table
    fst.output_symbols = table
    path = tmp_path / "G.fst"
    (fst if kind == "vector" else kaldifst.StdConstFst(fst)).write(str(path))
    grammar = read_grammar(path)
    assert score_sentence(grammar, ["b", "a"]) == pytest.approx(-(0.5 + 2.5 + 0.7 + 0.3 + 0.375))


@pytest.mark.parametrize("table", ["inputs", "outputs", "both", "words.txt"])
def test_a_table_in_the_file_or_beside_it_names_the_words(tmp_path: Path, table: str) -> None:
    rows = "".join(f"{word} {number}\n" for word, number in SYMBOLS.items())
    tables = {name: SYMBOLS for name in ("inputs", "outputs") if table in (name, "both")}
    grammar = read_grammar(saved(tmp_path, fst_bytes(STATES, **tables), rows if table == "words.txt" else None))
    assert grammar.words == ("a", "b")


def test_a_word_outside_the_vocabulary_is_left_out(tmp_path: Path) -> None:
    path = saved(tmp_path, fst_bytes(STATES, inputs=SYMBOLS))
    grammar = read_grammar(path, vocabulary=["a", "c"])
    assert (grammar.words, grammar.left_out) == (("a",), ("b",))
    with pytest.raises(GrammarError, match="no sentence of one or more words over the vocabulary"):
        read_grammar(path, vocabulary=["b2"])


def test_states_written_to_a_pipe_are_not_counted(tmp_path: Path) -> None:
    grammar = read_grammar(saved(tmp_path, fst_bytes(STATES, inputs=SYMBOLS, n_states=-1)))
    assert grammar.words == ("a", "b")


def test_a_word_pair_grammar_of_1000_words_reads_as_the_lists_do(tmp_path: Path) -> None:
    random = Random(1)
    words = [f"W{number}" for number in range(1000)]
    successors = {word: tuple(random.sample(words, 20)) for word in words}
    successors["SENTENCE-END"] = tuple(words[::7])
    successors.update({word: (*successors[word], "SENTENCE-END") for word in words[::3]})
    labels = {"<eps>": 0, **{word: number for number, word in enumerate(words, 1)}}
    path = saved(tmp_path, fst_bytes(word_pair_states(successors, labels), inputs=labels, outputs=labels))
    found, expected = read_grammar(path), word_pair(successors)
    assert found.words == expected.words
    rng = np.random.default_rng(2)
    for _ in range(20):
        sentence = sample_sentence(expected, rng)
        assert score_sentence(found, sentence) == pytest.approx(score_sentence(expected, sentence), rel=1e-5)
        longer = (*sentence, "W1", "W1", "W1")
        assert score_sentence(found, longer) == score_sentence(expected, longer)


def test_an_n_gram_keeps_its_back_off_arcs_and_its_scores(tmp_path: Path) -> None:
    text = ["a b c", "a c", "c b a a", "b c a b", "c"]
    expected = arpa_grammar(estimate_ngram([line.split() for line in text], order=3))
    labels = {"<eps>": 0, **expected.labels, BACK_OFF: expected.back_off_label}
    last = expected.back_off_label
    states: list[State] = [
        (final, [(label, label if label < last else 0, cost, target) for label, (target, cost) in arcs.items()])
        for final, arcs in zip(expected.final_costs, expected.arcs, strict=True)
    ]
    content = fst_bytes(states, start=expected.fst.start, inputs=labels, outputs=labels)
    found = read_grammar(saved(tmp_path, content))
    assert found.fst.num_states == expected.fst.num_states
    for length in range(5):
        for sentence in product("abc", repeat=length):
            assert score_sentence(found, sentence) == pytest.approx(score_sentence(expected, sentence))


END = 5
ARCS = st.builds(
    Arc,
    st.integers(0, 4),
    st.sampled_from(["a", "b", None, BACK_OFF]),
    st.integers(0, 8).map(lambda n: n / 4),
    st.integers(1, END),
)


@settings(deadline=None)
@given(arcs=st.lists(ARCS, max_size=16))
def test_no_sentence_changes_its_cost_when_empty_arcs_go(arcs: list[Arc]) -> None:
    # Arcs lead only forward, so that the reference ends; cycles of words are in the tests above.
    leading_on = [arc for arc in arcs if arc.target > arc.source]
    found, final_costs, n_states = determinize("a test", leading_on, start=0, end=END)
    assert all(arc.word is not None and max(arc.source, arc.target) < n_states for arc in found)
    assert len({(arc.source, arc.word) for arc in found}) == len(found)
    for length in range(5):
        for sentence in product("ab", repeat=length):
            expected = walked(leading_on, {END: 0.0}, sentence)
            assert walked(found, final_costs, sentence) == pytest.approx(expected)


def test_what_would_never_end_being_made_deterministic_is_refused(tmp_path: Path) -> None:
    states: list[State] = [
        (INF, [(1, 1, 0.0, 1), (1, 1, 0.0, 2)]),
        (0.0, [(1, 1, 1.0, 1), (2, 2, 0.0, 1)]),
        (0.0, [(1, 1, 2.0, 2)]),
    ]
    with pytest.raises(GrammarError, match=r"too many paths.*ARPA"):
        read_grammar(saved(tmp_path, fst_bytes(states, inputs=SYMBOLS)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (fst_bytes(STATES, kind="compact"), "byte 4: .* 'compact'"),
        (fst_bytes(STATES, arc_type="log"), "byte 14: .* 'log'"),
        (fst_bytes(STATES, version=1), "byte 26: .* version 1. Expected 2"),
        (fst_bytes(STATES, start=9, inputs=SYMBOLS), "byte 42: the start state is 9"),
        (fst_bytes(STATES, n_states=1 << 60), "byte 50: expected 1152921504606846976 states"),
        (fst_bytes(STATES, n_states=4), "byte 210: 12 bytes follow"),
        (fst_bytes(STATES)[:-1], r"byte \d+: the file ends before the number of arcs of a state"),
        (fst_bytes(one_arc(target=5), inputs={"a": 1}), r"byte \d+: an arc leads to state 5. Expected 0 to 1"),
        (fst_bytes(one_arc(weight=math.nan), inputs={"a": 1}), r"byte \d+: an arc has the cost nan"),
        (fst_bytes(one_arc(weight=-INF), inputs={"a": 1}), r"byte \d+: an arc has the cost -inf"),
        (fst_bytes([(math.nan, [])]), "byte 66: .* cost nan"),
        (fst_bytes(one_arc()), "has no symbol table, and .*words.txt"),
        (fst_bytes(one_arc(7, 7), inputs={"a": 1}), r"byte \d+: the label 7 is not in the symbol table"),
        (fst_bytes(one_arc(1, 2), inputs=SYMBOLS), r"byte \d+: an arc has the input 'a' and the output 'b'"),
        (fst_bytes(one_arc(1, 0), inputs=SYMBOLS), r"byte \d+: an arc has the input 'a' and the output '<eps>'"),
        (fst_bytes(one_arc(), inputs={"a b": 1}), r"byte \d+: 'a b' cannot be a word"),
        (fst_bytes(one_arc(), inputs={"a": 1, "b": 1}), r"byte \d+: the symbol 'b' or its number 1 appears twice"),
        (fst_bytes([(0.0, [(0, 0, 1.0, 0), (1, 1, 1.0, 0)])], inputs=SYMBOLS), r"byte \d+: .* cycle of empty arcs"),
        (fst_bytes([(0.0, [(5, 3, 1.0, 1)]), (0.0, [(3, 4, 1.0, 0), (1, 1, 0.0, 0)])], inputs=SYMBOLS), "cycle of"),
        (fst_bytes([(0.0, [])], inputs=SYMBOLS), "no sentence of one or more words"),
    ],
)
def test_a_bad_file_is_refused_with_the_place_in_it(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        read_grammar(saved(tmp_path, content))


@pytest.mark.parametrize("rows", ["a\n", "a one\n", "a 1 2\n", "a 1\na 2\n", "a 1\nb 1\n"])
def test_a_bad_table_beside_the_file_is_refused_with_its_line(tmp_path: Path, rows: str) -> None:
    with pytest.raises(GrammarError, match=r"words.txt, line [12]: "):
        read_grammar(saved(tmp_path, fst_bytes(one_arc()), rows))


def test_an_arc_of_infinite_cost_is_none(tmp_path: Path) -> None:
    states: list[State] = [(INF, [(1, 1, 0.5, 1), (2, 2, INF, 1)]), (0.0, [])]
    assert read_grammar(saved(tmp_path, fst_bytes(states, inputs=SYMBOLS))).words == ("a",)


@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_a_spoilt_file_gives_a_grammar_or_a_grammar_error(tmp_path: Path, kind: str, version: int) -> None:
    content, random = fst_bytes(STATES, inputs=SYMBOLS, kind=kind, version=version), Random(5)
    for length in range(len(content)):
        with pytest.raises(GrammarError, match=r"byte \d+: |no symbol table"):
            parse_openfst(content[:length], "a test")
    for _ in range(300):
        try:
            assert isinstance(read_grammar(saved(tmp_path, spoil_bytes(random, content, []))), Grammar)
        except GrammarError:
            continue
