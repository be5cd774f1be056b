"""A model, its word loop, and held-out speech."""

from pathlib import Path

import pytest

from asr.acoustic.model_file import SpeechModel, load_model
from asr.corpus.data_directory import read_data_directory
from asr.decode.graph_compiler import compile_graph
from asr.features.config import FeatureConfig
from asr.features.extraction import extract_static
from asr.grammar import word_loop
from asr.hmm.state_graph import StateGraph
from asr.training.dataset import Dataset


@pytest.fixture(scope="module")
def model(toy_model: Path) -> SpeechModel:
    return load_model(toy_model)


@pytest.fixture(scope="module")
def graph(model: SpeechModel) -> StateGraph:
    return compile_graph(model.lexicon, word_loop(model.lexicon.words), model.hmm.topology)


@pytest.fixture(scope="module")
def held_out(toy_corpus: Path) -> Dataset:
    corpus = read_data_directory(toy_corpus / "test")
    static, _ = extract_static(corpus, FeatureConfig(sample_rate=8000))
    return Dataset(static, {utterance.id: utterance.words or () for utterance in corpus.utterances})
