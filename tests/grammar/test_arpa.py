"""ARPA files and their automata, beside the back-off recursion."""

import gzip
import itertools
import math
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asr.grammar import (
    ArpaModel,
    arpa_grammar,
    estimate_ngram,
    perplexity,
    read_arpa,
    read_grammar,
    sample_sentence,
    score_sentence,
    write_arpa,
)
from asr.grammar.arpa_file import parse_arpa
from asr.grammar.back_off_check import ROUNDING, more_than_certain
from asr.util.errors import GrammarError

BIGRAM = r"""A comment
\data\
ngram 1=4
ngram 2=3

\1-grams:
-99 <s> -0.30103
-0.5 a -0.2
-0.6 b
-0.7 </s>

\2-grams:
-0.1 <s> a
-0.2 a b
-0.3 b </s>

\end\
"""
SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
COSTS = st.floats(-5, 0).map(lambda value: round(value, 3))
WEIGHTS = st.sampled_from([0.0]) | st.floats(-2, 1).map(lambda value: round(value, 3))
LOSSES = st.sampled_from([0.0]) | st.floats(-2, 0).map(lambda value: round(value, 3))


@st.composite
def models(draw: st.DrawFn, weights: st.SearchStrategy[float] = WEIGHTS) -> ArpaModel:
    """Models of order 1 to 4 over a and b, with holes: the prefix or suffix of an n-gram may be missing."""
    order = draw(st.integers(1, 4))
    sections = [{(word,): draw(COSTS) for word in ("<s>", "</s>", "a", "b")}]
    for length in range(2, order + 1):
        possible = list(itertools.product(("<s>", "a", "b"), *[("a", "b")] * (length - 2), ("a", "b", "</s>")))
        chosen = draw(st.lists(st.sampled_from(possible), unique=True, max_size=5))
        sections.append({ngram: draw(COSTS) for ngram in chosen})
    back_offs = {ngram: draw(weights) for section in sections[:-1] for ngram in section if draw(st.booleans())}
    return ArpaModel(tuple(sections), back_offs)


def saved(folder: Path, text: str) -> Path:
    path = folder / "model.arpa"
    path.write_text(text, encoding="utf-8", newline="")
    return path


@settings(deadline=None)
@given(model=models(), words=st.lists(st.sampled_from("ab"), max_size=6))
def test_the_automaton_gives_the_score_of_the_back_off_recursion(model: ArpaModel, words: list[str]) -> None:
    expected = model.log10_sentence(words) * math.log(10)
    assert score_sentence(arpa_grammar(model), words) == pytest.approx(expected, abs=1e-4)


def test_the_recursion_takes_the_listed_ngram_or_backs_off(tmp_path: Path) -> None:
    model = read_arpa(saved(tmp_path, BIGRAM))
    assert model.order == 2
    assert model.words == ("a", "b")
    assert model.log10_probability(["<s>"], "a") == -0.1
    assert model.log10_probability(["<s>"], "b") == pytest.approx(-0.30103 - 0.6)
    assert model.log10_probability(["a", "b"], "a") == -0.5
    assert model.log10_sentence(["a", "b"]) == pytest.approx(-0.1 - 0.2 - 0.3)
    with pytest.raises(GrammarError, match="no unigram 'c'"):
        model.log10_probability([], "c")


def test_back_off_arcs_read_the_last_symbol_and_write_nothing(tmp_path: Path) -> None:
    import kaldifst

    grammar = arpa_grammar(read_arpa(saved(tmp_path, BIGRAM)))
    arcs = [arc for state in range(grammar.fst.num_states) for arc in kaldifst.ArcIterator(grammar.fst, state)]
    assert grammar.name == "bigram"
    assert {(arc.ilabel, arc.olabel) for arc in arcs} == {(1, 1), (2, 2), (3, 0)}
    assert grammar.fst.is_ilabel_sorted


def test_words_outside_the_vocabulary_are_dropped_and_reported(tmp_path: Path) -> None:
    grammar = read_grammar(saved(tmp_path, BIGRAM), vocabulary=["b", "z", "<s>"])
    assert grammar.words == ("b",)
    assert grammar.left_out == ("a",)
    assert score_sentence(grammar, ["b"]) == pytest.approx((-0.30103 - 0.6 - 0.3) * math.log(10))
    assert score_sentence(grammar, ["a", "b"]) == -math.inf


def test_a_vocabulary_in_another_case_is_refused_with_examples(tmp_path: Path) -> None:
    with pytest.raises(GrammarError, match="The model has a b, the vocabulary A B"):
        read_grammar(saved(tmp_path, BIGRAM), vocabulary=["A", "B"])


def test_the_unknown_word_is_a_word_only_where_the_vocabulary_names_it(tmp_path: Path) -> None:
    model = read_arpa(saved(tmp_path, BIGRAM.replace("-0.6 b", "-0.6 <unk>").replace(" b", " <unk>")))
    assert arpa_grammar(model).words == ("a",)
    assert arpa_grammar(model).left_out == ()
    assert arpa_grammar(model, ["a", "<unk>"]).words == ("<unk>", "a")


def test_a_model_that_cannot_end_a_sentence_is_refused() -> None:
    with pytest.raises(GrammarError, match="'</s>'"):
        arpa_grammar(ArpaModel(({("a",): -0.1},), {}))


def test_sentence_marks_in_impossible_places_are_left_out() -> None:
    unigrams = {("<s>",): -99.0, ("</s>",): -0.5, ("a",): -0.3}
    model = ArpaModel((unigrams, {("<s>", "<s>"): -0.1, ("</s>", "a"): -0.1, ("a", "</s>"): -0.2}), {("</s>",): -0.5})
    assert score_sentence(arpa_grammar(model), ["a"]) == pytest.approx(-0.5 * math.log(10))


@settings(SAME_FOLDER, max_examples=40)
@given(model=models(LOSSES))
def test_a_written_model_reads_back_equal(tmp_path: Path, model: ArpaModel) -> None:
    path = tmp_path / "written.arpa"
    write_arpa(model, path)
    again = read_arpa(path)
    assert again.log_probabilities == model.log_probabilities
    assert again.back_offs == model.back_offs


def test_a_weight_the_format_cannot_hold_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(GrammarError, match="'a b'"):
        write_arpa(ArpaModel(({("a",): -0.1},), {("a", "b"): -0.2}), tmp_path / "x.arpa")


def test_gzip_minus_infinity_and_rounding_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "model.arpa.gz"
    text = BIGRAM.replace("-99 <s>", "-inf <s>").replace("-0.1 <s> a", "0.00001 <s> a")
    path.write_bytes(gzip.compress(text.encode()))
    model = read_arpa(path)
    assert model.log_probabilities[0][("<s>",)] == -99
    assert model.log10_probability(["<s>"], "a") == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\\data\\", "data", "no line"),
        ("ngram 1=4", "ngram 1=5", "line 12: the section .1-grams: has 4 n-grams, but its header has 5"),
        ("ngram 1=4\n", "", "line 3: 'ngram 2=3' is out of order"),
        ("ngram 1=4\nngram 2=3\n", "", "line 4: Expected 'ngram 1=COUNT'"),
        ("\\2-grams:", "\\3-grams:", "line 12: expected the line .*2-grams"),
        ("\\end\\", "", "at its end: expected the line .*end.*but the file ends"),
        ("-0.6 b", "-0.6 b c d", "line 9: '-0.6 b c d' is not an n-gram"),
        ("-0.6 b", "-0.6", "line 9: '-0.6' is not an n-gram"),
        ("-0.2 a b", "-0.2 a b -1", "line 14: '-0.2 a b -1' is not an n-gram"),
        ("-0.2 a b", "-0.2 a c", "line 14: the word 'c' of the 2-gram 'a c' is not a unigram"),
        ("-0.2 a b", "-0.2 <s> a", "line 14: the 2-gram '<s> a' is listed twice"),
        ("-0.2 a b", "0.2 a b", "line 14: the log10 probability '0.2' is above 0"),
        ("-0.2 a b", "nan a b", "line 14: 'nan' is not a number"),
        ("-0.5 a -0.2", "-0.5 a 1e999", "line 8: '1e999' is out of range"),
        ("-0.5 a -0.2", "-0.5 a 1e39", "line 8: '1e39' is out of range.* between -99 and 99"),
        ("-0.5 a -0.2", "-0.5 a 99.5", "line 8: '99.5' is out of range"),
        ("-0.5 a -0.2", "-0.5 a 98", "line 8: with the back-off weight 98 of 'a'"),
        ("-0.5 a -0.2", "-0.5 a 0.75", r"line 8: .* 'a' after it exceeds one \(its log10 would be 0.25\)"),
        ("-0.5 a -0.2", "-0.5 a " + 500_000 * "1" + "x", "line 8: .* is not a number"),
        ("ngram 2=3", "".join(f"ngram {n}=1\n" for n in range(2, 30)), "line 23: 'ngram 21=1': the order"),
    ],
)
def test_a_bad_file_is_refused_with_line_and_value(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in BIGRAM
    with pytest.raises(GrammarError, match=message):
        read_arpa(saved(tmp_path, BIGRAM.replace(old, new, 1)))


def test_a_weight_above_one_is_accepted_where_all_likely_words_are_listed(tmp_path: Path) -> None:
    # After a, both a and </s> are listed with lower probabilities than their unigrams; only b has the rest.
    text = BIGRAM.replace("-0.5 a -0.2", "-0.5 a 0.6").replace("ngram 2=3", "ngram 2=5")
    listed = text.replace("-0.2 a b", "-0.2 a b\n-3 a a\n-3 a </s>")
    assert read_arpa(saved(tmp_path, listed)).back_offs["a",] == 0.6
    with pytest.raises(GrammarError, match="of 'a', the probability of 'a'"):
        read_arpa(saved(tmp_path, text.replace("-0.2 a b", "-0.2 a b\n-3 b a\n-3 a </s>")))


@settings(deadline=None)
@given(model=models())
def test_a_word_is_more_than_certain_if_and_only_if_the_recursion_says_so(model: ArpaModel) -> None:
    after = {
        (history, word): model.log10_probability(history, word)
        for history in model.back_offs
        for word in ("a", "b", "</s>")
        if (*history, word) not in model.log_probabilities[len(history)]
    }
    found = more_than_certain(model)
    assert (found is not None) == any(value > ROUNDING for value in after.values())
    if found is not None:
        assert found.log10_probability == pytest.approx(after[found.history, found.word])


@settings(deadline=None, max_examples=30)
@given(
    text=st.lists(st.lists(st.sampled_from("abc"), max_size=5), min_size=1, max_size=8),
    order=st.integers(1, 4),
    smoothing=st.sampled_from(["kneser-ney", "witten-bell"]),
)
def test_no_estimated_model_makes_a_word_more_than_certain(text: list[list[str]], order: int, smoothing) -> None:
    model = estimate_ngram(text, order, smoothing=smoothing, vocabulary=["a", "b", "c"])
    assert more_than_certain(model) is None


def test_the_check_of_the_weights_is_linear_in_the_size_of_the_model() -> None:
    words = [f"w{number}" for number in range(20_000)]
    unigrams = {("</s>",): -4.0} | {(word,): -4.0 for word in words}
    bigrams = {("w0", word): -4.3 for word in words} | {(word, "</s>"): -0.5 for word in words}
    weights = dict.fromkeys(unigrams, 3.9)
    started = time.monotonic()
    assert more_than_certain(ArpaModel((unigrams, bigrams), weights)) is None
    assert time.monotonic() - started < 3.0


@SAME_FOLDER
@given(text=st.text(max_size=40), at=st.integers(0, len(BIGRAM)), cut=st.integers(0, 30))
def test_any_damage_gives_a_grammar_or_a_grammar_error(tmp_path: Path, text: str, at: int, cut: int) -> None:
    try:
        grammar = read_grammar(saved(tmp_path, BIGRAM[:at] + text + BIGRAM[at + cut :]))
    except GrammarError:
        return
    assert grammar.words


def test_files_of_neither_kind_are_refused_with_what_was_found(tmp_path: Path) -> None:
    with pytest.raises(GrammarError, match="is not a grammar: line 2 is 'hello there'"):
        read_grammar(saved(tmp_path, "\nhello there\n"))
    with pytest.raises(GrammarError, match="it is empty"):
        read_grammar(saved(tmp_path, "* only a comment\n"))


def test_perplexity_counts_words_and_sentence_ends(tmp_path: Path) -> None:
    grammar = read_grammar(saved(tmp_path, BIGRAM))
    assert perplexity(grammar, [["a", "b"], ["a", "b"]]) == pytest.approx(10 ** (0.6 / 3), rel=1e-5)
    assert perplexity(grammar, [["a"], ["c"]]) == math.inf
    assert math.isnan(perplexity(grammar, []))


def test_samples_of_a_back_off_model_follow_its_probabilities() -> None:
    unigrams = {("<s>",): -99.0, ("a",): math.log10(0.2), ("b",): math.log10(0.3), ("</s>",): math.log10(0.5)}
    back_off = {("<s>",): math.log10(0.4 / 0.8)}
    grammar = arpa_grammar(ArpaModel((unigrams, {("<s>", "a"): math.log10(0.6)}), back_off))
    rng = np.random.default_rng(0)
    first = [(sample_sentence(grammar, rng) or ("",))[0] for _ in range(3000)]
    for word, probability in (("a", 0.6), ("b", 0.15), ("", 0.25)):
        assert first.count(word) / len(first) == pytest.approx(probability, abs=0.035)


@pytest.mark.corpus
def test_the_published_an4_model_is_read(speech_data: Path) -> None:
    model = read_arpa(speech_data / "an4" / "etc" / "an4.ug.lm")
    assert model.order == 2
    assert len(model.words) == 104  # of 107 unigrams, including <s>, </s> and <UNK>


def test_a_model_that_lacks_nearly_all_its_histories_is_refused() -> None:
    unigrams = {(word,): -1.0 for word in ("</s>", "a", "b")}
    long = {tuple("ab"[number >> place & 1] for place in range(20)): -1.0 for number in range(2048)}
    model = ArpaModel((unigrams, *[{} for _ in range(18)], long), {})
    with pytest.raises(GrammarError, match=r"more than 51[0-9]{2} of their histories are missing, such as '[ab] "):
        arpa_grammar(model)


def test_parse_arpa_sentence_marks_in_capitals_are_marks() -> None:
    lines = ["\\data\\", "ngram 1=3", "ngram 2=1", "\\1-grams:", "-1 <S> -0.5", "-0.5 </S>", "-0.5 ONE"]
    lines += ["\\2-grams:", "-0.1 <S> ONE", "\\end\\"]
    model = parse_arpa(lines, "small")
    assert model.words == ("ONE",)
    assert model.log10_probability(("<s>",), "ONE") == -0.1
