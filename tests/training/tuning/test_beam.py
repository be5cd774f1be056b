"""The width chosen finds the words of a wide search, and is no wider than speech of this kind needs."""

import logging
from dataclasses import replace

import pytest

from asr.acoustic.model_file import SpeechModel, load_model
from asr.decode.graph_compiler import compile_graph
from asr.grammar import word_loop
from asr.lexicon import Lexicon
from asr.recognition.decoder import recognize
from asr.recognition.search import WIDE_BEAM
from asr.training.tuning import beam
from asr.training.tuning.beam import WIDER, WIDEST, choose_width
from asr.training.tuning.search import FoldScores
from discriminants.parallel.workers import LocalWorkers, SerialWorkers


@pytest.fixture(autouse=True)
def few_words_suffice(monkeypatch):
    monkeypatch.setattr(beam, "MIN_WORDS", 0)
    monkeypatch.setattr(beam, "SMALL_GRAPH", 0)


@pytest.fixture(scope="module")
def model(toy_model) -> SpeechModel:
    loaded = load_model(toy_model)
    wide = {"lm_scale": 4.0, "insertion_penalty": 0.0, "beam": 100.0, "max_active": 0}
    return replace(loaded, search=loaded.search.model_copy(update=wide))


def words(model, held_out, graph, **width):
    return recognize(model, held_out.static, graph, model.search.model_copy(update=width)).hypotheses


def width_for(model, held_out, graph, search, workers=None):
    return choose_width([FoldScores.of(model, held_out, graph, workers or SerialWorkers())], search)


def test_width_chosen_finds_the_words_of_a_wide_search(model, graph, held_out):
    chosen = width_for(model, held_out, graph, model.search)
    right = words(model, held_out, graph, beam=2 * model.search.beam)
    assert chosen.beam < model.search.beam
    assert words(model, held_out, graph, beam=chosen.beam, max_active=chosen.max_active) == right
    assert chosen.max_active == 0  # of such a small graph
    assert width_for(model, held_out, graph, model.search, LocalWorkers(2)) == chosen


def test_a_small_graph_is_searched_widely_without_trials(model, graph, held_out, monkeypatch):
    monkeypatch.setattr(beam, "SMALL_GRAPH", graph.n_arcs)
    monkeypatch.setattr(FoldScores, "recognized", None)
    chosen = width_for(model, held_out, graph, model.search)
    assert chosen == model.search.model_copy(update={"beam": max(WIDE_BEAM, model.search.beam)})


def test_a_limit_is_chosen_where_the_graph_is_larger(model, held_out):
    many = {f"{word}{n}": variants for word, variants in model.lexicon.pronunciations.items() for n in range(8)}
    lexicon = Lexicon({**many, "LONG": (("W", "IY") * 120,)})
    large = compile_graph(lexicon, word_loop(lexicon.words), model.hmm.topology)
    wide = model.search.model_copy(update={"beam": 400.0})
    assert 100 <= width_for(model, held_out, large, wide).max_active < large.n_arcs


def test_a_beam_that_loses_words_is_widened(model, graph, held_out):
    def changes(beam):
        return words(model, held_out, graph, beam=beam) != words(model, held_out, graph, beam=WIDER * beam)

    lossy = next(float(beam) for beam in range(1, 40) if changes(float(beam)))
    narrow = model.search.model_copy(update={"beam": lossy})
    assert width_for(model, held_out, graph, narrow).beam == WIDER * lossy


def test_an_infinite_beam_becomes_a_finite_one(model, graph, held_out):
    infinite = model.search.model_copy(update={"beam": 1e30})
    assert width_for(model, held_out, graph, infinite).beam < WIDEST / WIDER


def test_few_words_narrow_nothing(model, graph, held_out, monkeypatch, caplog):
    monkeypatch.setattr(beam, "MIN_WORDS", 200)
    with caplog.at_level(logging.DEBUG, logger="asr.training.tuning.beam"):
        assert width_for(model, held_out, graph, model.search) == model.search
    n_words = sum(map(len, words(model, held_out, graph, beam=2 * model.search.beam).values()))
    assert f"{n_words} of 200 words" in caplog.text
