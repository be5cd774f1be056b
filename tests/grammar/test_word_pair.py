"""Word-pair grammars: their file, their automaton, their restriction to a vocabulary."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asr.grammar import (
    read_grammar,
    read_word_pair,
    sample_sentence,
    score_sentence,
    word_pair,
    write_word_pair,
)
from asr.grammar.word_pair import SENTENCE_END
from asr.util.errors import GrammarError

SHIPS = {
    SENTENCE_END: ("show", "list"),
    "show": ("the", "all"),
    "list": ("the", "all"),
    "the": ("ships",),
    "all": ("ships", "the"),
    "ships": (SENTENCE_END, "the"),
}
SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
WORDS = st.sampled_from(["a", "b", "c", "d", SENTENCE_END])
WRITTEN = settings(SAME_FOLDER, max_examples=30)
PAIRS = st.dictionaries(WORDS, st.sets(WORDS, min_size=1), max_size=5)
COMPLETE = st.sets(st.sampled_from("abc*")).flatmap(
    lambda words: st.fixed_dictionaries(
        dict.fromkeys([*words, SENTENCE_END], st.sets(st.sampled_from([*words, SENTENCE_END]), min_size=1))
    )
)


def saved(folder: Path, text: str) -> Path:
    path = folder / "wp_gram.txt"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def sentences(successors: dict, allowed: set[str], length: int) -> dict[tuple[str, ...], float]:
    """Oracle: every sentence of up to `length` words with its log probability, by walking the lists."""
    found, open_paths = {}, {(): (SENTENCE_END, 0.0)}
    for _ in range(length + 1):
        longer = {}
        for words, (last, score) in open_paths.items():
            following = [word for word in successors.get(last, ()) if word in allowed]
            for word in following:
                step = score - math.log(len(following))
                if word == SENTENCE_END:
                    found[words] = step
                else:
                    longer[(*words, word)] = (word, step)
        open_paths = longer
    return found


def test_successors_are_equally_likely_and_the_end_is_one_of_them() -> None:
    grammar = word_pair(SHIPS)
    assert score_sentence(grammar, ["show", "the", "ships"]) == pytest.approx(math.log(1 / 2 * 1 / 2 * 1 * 1 / 2))
    assert score_sentence(grammar, ["show", "ships"]) == -math.inf
    assert score_sentence(grammar, ["show", "the"]) == -math.inf


def test_words_with_the_same_successors_share_a_state() -> None:
    assert word_pair(SHIPS).fst.num_states == 5


def test_a_word_outside_the_vocabulary_takes_along_the_words_that_need_it() -> None:
    pairs = {**SHIPS, "list": ("fleets",), "fleets": (SENTENCE_END,)}
    grammar = word_pair(pairs, vocabulary=["show", "list", "the", "ships"])
    assert grammar.words == ("ships", "show", "the")
    assert grammar.left_out == ("all", "fleets", "list")
    assert score_sentence(grammar, ["show", "the", "ships"]) == pytest.approx(math.log(1 / 2))


@pytest.mark.parametrize("vocabulary", [["show", "the"], [], ["unheard"]])
def test_a_vocabulary_that_leaves_no_sentence_is_refused(vocabulary: list[str]) -> None:
    with pytest.raises(GrammarError, match="no sentence"):
        word_pair(SHIPS, vocabulary)


@given(successors=PAIRS, vocabulary=st.sets(WORDS))
def test_the_automaton_accepts_the_sentences_of_the_lists(successors: dict, vocabulary: set[str]) -> None:
    useful = {word for sentence in sentences(successors, vocabulary | {SENTENCE_END}, 8) for word in sentence}
    if not useful - {SENTENCE_END}:
        with pytest.raises(GrammarError):
            word_pair(successors, vocabulary)
        return
    grammar = word_pair(successors, vocabulary)
    assert set(grammar.words) == useful
    for sentence, score in sentences(successors, useful | {SENTENCE_END}, 3).items():
        assert score_sentence(grammar, sentence) == pytest.approx(score, abs=1e-5)


def test_sampled_sentences_are_accepted_and_follow_the_probabilities() -> None:
    grammar = word_pair(SHIPS)
    rng = np.random.default_rng(3)
    drawn = [sample_sentence(grammar, rng) for _ in range(2000)]
    assert all(score_sentence(grammar, sentence) > -math.inf for sentence in drawn)
    share = drawn.count(("show", "the", "ships")) / len(drawn)
    assert share == pytest.approx(1 / 8, abs=0.03)
    again = np.random.default_rng(3)
    assert drawn[:5] == [sample_sentence(grammar, again) for _ in range(5)]


def test_a_file_is_read_with_its_comments_left_out(tmp_path: Path) -> None:
    text = "* The grammar\n*\n\n>SENTENCE-END\r\n a\nb\n>a\n*\na\n>*\nSENTENCE-END\n>b\n" + "SENTENCE-END\n" * 2
    expected = {SENTENCE_END: ("a", "b"), "a": ("*", "a"), "*": (SENTENCE_END,), "b": (SENTENCE_END,)}
    assert read_word_pair(saved(tmp_path, text)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n>SENTENCE-END\na\n", "line 1: 'a' is before"),
        (">SENTENCE-END\na b\n", "line 2: 'a b'. Expected one word"),
        (">\na\n", "line 1: '>'. Expected one word"),
        (">SENTENCE-END\na\n>a\nSENTENCE-END\n>a\na\n", "line 5: 'a' already has a list, on line 3"),
        (">SENTENCE-END\na\n>a\n", "line 3: 'a' has no successors"),
        (">SENTENCE-END\n\na\n", "line 3: 'a' follows 'SENTENCE-END' but has no line '>a'"),
        (">a\na\n", "no line '>SENTENCE-END'"),
        ("", "no line '>SENTENCE-END'"),
    ],
)
def test_a_bad_file_is_refused_with_line_and_value(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        read_word_pair(saved(tmp_path, text))


def test_list_of_the_discs_keeps_its_letter_case(tmp_path: Path) -> None:
    text = "*\n* Word pairs of a task\n*>not a word\n>SENTENCE-END\n SHOW\n>SHOW\n Ships\n ships\n"
    text += ">Ships\n SENTENCE-END\n>ships\n SENTENCE-END\n SHOW\n"
    grammar = read_grammar(saved(tmp_path, text))
    assert grammar.words == ("SHOW", "Ships", "ships")
    assert score_sentence(grammar, ["SHOW", "Ships"]) == pytest.approx(math.log(1 / 2))
    assert score_sentence(grammar, ["SHOW", "ships"]) == pytest.approx(math.log(1 / 4))
    assert score_sentence(grammar, ["Show", "Ships"]) == -math.inf
    assert score_sentence(grammar, ["SHOW"]) == -math.inf


def test_a_successor_without_a_list_is_refused_with_file_and_line(tmp_path: Path) -> None:
    path = saved(tmp_path, "* comment\n>SENTENCE-END\n A\n>A\n SENTENCE-END\n B\n")
    with pytest.raises(GrammarError, match=rf"{path}, line 6: 'B' follows 'A' but has no line '>B'"):
        read_grammar(path)


@WRITTEN
@given(successors=COMPLETE)
def test_a_written_file_reads_back_equal(tmp_path: Path, successors: dict) -> None:
    path = tmp_path / "written.txt"
    write_word_pair(successors, path, comment="made for a test\n>not a word")
    assert read_word_pair(path) == {word: tuple(sorted(following)) for word, following in successors.items()}


def test_names_that_would_not_read_back_are_not_written(tmp_path: Path) -> None:
    for name in ("a b", ">a", ""):
        with pytest.raises(GrammarError, match="cannot be written"):
            write_word_pair({SENTENCE_END: (name,)}, tmp_path / "x.txt")


@SAME_FOLDER
@given(text=st.text(max_size=60) | st.text(alphabet="ab>*\n \rSENTC-D", max_size=60))
def test_any_text_gives_a_grammar_or_a_grammar_error(tmp_path: Path, text: str) -> None:
    for read in (read_word_pair, read_grammar):
        try:
            assert read(saved(tmp_path, text))
        except GrammarError:
            continue
