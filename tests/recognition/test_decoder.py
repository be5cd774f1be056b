"""Recognition of a table: one bad utterance never loses the others, and all processor time is counted."""

import time

import numpy as np
import pytest

from asr.acoustic.model_file import SpeechModel, load_model
from asr.decode.graph_compiler import compile_graph
from asr.features.config import FeatureConfig
from asr.features.extraction import extract_static
from asr.features.frame_table import FrameTable
from asr.grammar import word_loop
from asr.hmm.state_graph import StateGraph
from asr.recognition.decoder import recognize
from asr.recognition.grammars import chosen_grammar
from discriminants.parallel.workers import LocalWorkers


@pytest.fixture(scope="module")
def model(toy_model) -> SpeechModel:
    return load_model(toy_model)


@pytest.fixture(scope="module")
def graph(model) -> StateGraph:
    return compile_graph(model.lexicon, word_loop(model.lexicon.words), model.hmm.topology)


@pytest.fixture(scope="module")
def static(toy_corpus) -> FrameTable:
    from asr.corpus.data_directory import read_data_directory

    return extract_static(read_data_directory(toy_corpus / "test"), FeatureConfig(sample_rate=8000))[0]


def test_words_and_processor_time_do_not_depend_on_the_workers(model, graph, static):
    recognize(model, static, graph)  # compiles
    started = time.process_time()
    alone = recognize(model, static, graph)
    spent = time.process_time() - started
    shared = recognize(model, static, graph, workers=LocalWorkers(2))
    assert alone.words == shared.words
    assert len(alone.words) == len(static)
    assert 0.5 * spent < alone.cpu_seconds <= spent
    assert 0.1 * spent < shared.cpu_seconds < 10 * spent  # of hundredths of a second, on a machine that may be busy


@pytest.mark.filterwarnings("ignore:invalid value")
def test_models_of_training_know_what_pauses_sound_like(toy_run):
    for name in ("gmm", "model"):
        model = load_model(toy_run / f"{name}.safetensors")
        assert model.hmm.pauses is not None
        assert model.hmm.pauses.spread.shape == (model.front_end.n_features_,)


def test_an_utterance_whose_scores_are_no_numbers_fails_alone_with_its_reason(model, graph, static):
    bad = static.ids[3]
    broken = SpeechModel(model.hmm, _Poisoning(model, bad), model.lexicon, model.search, model.source)
    found, whole = recognize(broken, static, graph), recognize(model, static, graph)
    assert set(found.failed) == {bad}
    assert found.failed[bad].code == "not-finite"
    assert found.words == {name: words for name, words in whole.words.items() if name != bad}


class _Poisoning:
    """A front end under which one utterance's frames are not numbers."""

    def __init__(self, model: SpeechModel, name: str) -> None:
        self.model = model
        self.name = name
        self.config = model.front_end.config

    def transform(self, static: FrameTable) -> FrameTable:
        frames = self.model.front_end.transform(static)
        frames.frames[frames.rows(self.name)] = np.nan
        return frames


def test_what_is_found_is_a_sentence_of_the_grammar_or_a_failure_with_its_reason(model, static):
    graph = compile_graph(model.lexicon, chosen_grammar(model, model.lexicon, "2"), model.hmm.topology)
    narrow = model.search.model_copy(update={"beam": 1.0, "max_active": 1})
    found = recognize(model, static, graph, narrow)
    assert not found.failed
    assert {len(said) for said in found.hypotheses.values()} == {2}
    few = FrameTable.from_utterances(["short"], ["anna"], [static.utterance(0)[:4]])
    failed = recognize(model, few, graph).failed
    assert "no sentence of the grammar fits the 4 frames" in failed["short"].message
