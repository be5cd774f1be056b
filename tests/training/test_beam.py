"""The beam chosen finds the words of a wide one, and is no wider than speech of this kind needs."""

import pytest

from asr.acoustic.model_file import SpeechModel, load_model
from asr.corpus.data_directory import read_data_directory
from asr.decode.graph_compiler import compile_graph
from asr.features.config import FeatureConfig
from asr.features.extraction import extract_static
from asr.grammar import word_loop
from asr.hmm.state_graph import StateGraph
from asr.recognition.material import Material
from asr.recognition.recognition import recognize
from asr.training.beam import WIDER, WIDEST, choose_beam
from discriminants.parallel.workers import LocalWorkers


@pytest.fixture(scope="module")
def model(toy_model) -> SpeechModel:
    return load_model(toy_model)


@pytest.fixture(scope="module")
def graph(model) -> StateGraph:
    return compile_graph(model.lexicon, word_loop(model.lexicon.words), model.hmm.topology)


@pytest.fixture(scope="module")
def material(toy_corpus) -> Material:
    corpus = read_data_directory(toy_corpus / "test")
    static, _ = extract_static(corpus, FeatureConfig(sample_rate=8000))
    return Material(static, {utterance.id: utterance.words or () for utterance in corpus.utterances})


def words(model, material, graph, beam):
    return recognize(model, material.static, graph, model.search.model_copy(update={"beam": beam})).hypotheses


def test_the_beam_chosen_finds_the_words_of_a_wide_one_and_half_of_it_would_not_do_much_better(model, graph, material):
    beam = choose_beam(model, model.search, material, graph)
    assert beam < model.search.beam
    assert words(model, material, graph, beam) == words(model, material, graph, 2 * model.search.beam)
    assert words(model, material, graph, beam / 3) != words(model, material, graph, 2 * model.search.beam)
    assert choose_beam(model, model.search, material, graph, workers=LocalWorkers(2)) == beam


def test_a_beam_that_loses_words_is_widened(model, graph, material):
    narrow = model.search.model_copy(update={"beam": 3.0})
    assert words(model, material, graph, 3.0) != words(model, material, graph, 6.0)
    assert choose_beam(model, narrow, material, graph) == WIDER * 3.0


def test_an_infinite_beam_becomes_a_finite_one(model, graph, material):
    assert choose_beam(model, model.search.model_copy(update={"beam": 1e30}), material, graph) < WIDEST / WIDER
