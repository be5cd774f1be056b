"""The width chosen finds the words of a wide search, and is no wider than speech of this kind needs."""

import logging
from dataclasses import replace

import pytest

from asr.acoustic.model_file import SpeechModel, load_model
from asr.corpus.data_directory import read_data_directory
from asr.decode.graph_compiler import compile_graph
from asr.features.config import FeatureConfig
from asr.features.extraction import extract_static
from asr.grammar import word_loop
from asr.hmm.state_graph import StateGraph
from asr.lexicon import Lexicon
from asr.recognition.decoder import recognize
from asr.recognition.search import WIDE_BEAM
from asr.training.dataset import Dataset
from asr.training.tuning import beam
from asr.training.tuning.beam import WIDER, WIDEST, choose_width
from asr.training.tuning.search import FoldScores, HeldOutModel
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


@pytest.fixture(scope="module")
def graph(model) -> StateGraph:
    return compile_graph(model.lexicon, word_loop(model.lexicon.words), model.hmm.topology)


@pytest.fixture(scope="module")
def dataset(toy_corpus) -> Dataset:
    corpus = read_data_directory(toy_corpus / "test")
    static, _ = extract_static(corpus, FeatureConfig(sample_rate=8000))
    return Dataset(static, {utterance.id: utterance.words or () for utterance in corpus.utterances})


def words(model, dataset, graph, **width):
    return recognize(model, dataset.static, graph, model.search.model_copy(update=width)).hypotheses


def test_the_width_chosen_is_narrower_and_finds_the_words_of_a_wide_search(model, graph, dataset):
    chosen = choose_width([FoldScores.of(HeldOutModel(model, dataset, graph), SerialWorkers())], model.search)
    right = words(model, dataset, graph, beam=2 * model.search.beam)
    assert chosen.beam < model.search.beam
    assert words(model, dataset, graph, beam=chosen.beam, max_active=chosen.max_active) == right
    assert chosen.max_active == 0  # of a graph so small
    assert choose_width([FoldScores.of(HeldOutModel(model, dataset, graph), LocalWorkers(2))], model.search) == chosen


def test_a_small_graph_is_searched_widely_without_trials(model, graph, dataset, monkeypatch):
    monkeypatch.setattr(beam, "SMALL_GRAPH", graph.n_arcs)
    monkeypatch.setattr(FoldScores, "recognized", None)
    chosen = choose_width([FoldScores.of(HeldOutModel(model, dataset, graph), SerialWorkers())], model.search)
    assert chosen == model.search.model_copy(update={"beam": max(WIDE_BEAM, model.search.beam)})


def test_a_limit_is_chosen_where_the_graph_is_larger(model, dataset):
    many = {f"{word}{n}": variants for word, variants in model.lexicon.pronunciations.items() for n in range(8)}
    lexicon = Lexicon({**many, "LONG": (("W", "IY") * 120,)})
    large = compile_graph(lexicon, word_loop(lexicon.words), model.hmm.topology)
    wide = model.search.model_copy(update={"beam": 400.0})
    chosen = choose_width([FoldScores.of(HeldOutModel(model, dataset, large), SerialWorkers())], wide)
    assert 100 <= chosen.max_active < large.n_arcs


def test_a_beam_that_loses_words_is_widened(model, graph, dataset):
    def changes(beam):
        return words(model, dataset, graph, beam=beam) != words(model, dataset, graph, beam=WIDER * beam)

    lossy = next(float(beam) for beam in range(1, 40) if changes(float(beam)))
    narrow = model.search.model_copy(update={"beam": lossy})
    assert (
        choose_width([FoldScores.of(HeldOutModel(model, dataset, graph), SerialWorkers())], narrow).beam
        == WIDER * lossy
    )


def test_an_infinite_beam_becomes_a_finite_one(model, graph, dataset):
    infinite = model.search.model_copy(update={"beam": 1e30})
    assert (
        choose_width([FoldScores.of(HeldOutModel(model, dataset, graph), SerialWorkers())], infinite).beam
        < WIDEST / WIDER
    )


def test_few_words_narrow_nothing(model, graph, dataset, monkeypatch, caplog):
    monkeypatch.setattr(beam, "MIN_WORDS", 200)
    with caplog.at_level(logging.INFO, logger="asr.training.tuning.beam"):
        assert (
            choose_width([FoldScores.of(HeldOutModel(model, dataset, graph), SerialWorkers())], model.search)
            == model.search
        )
    n_words = sum(map(len, words(model, dataset, graph, beam=2 * model.search.beam).values()))
    assert f"a wide search recognizes {n_words} words, and 200 are needed to narrow them" in caplog.text
