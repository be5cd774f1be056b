"""Adaptation to a speaker: better on speakers unlike those of training, the same for any workers."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from asr.acoustic.composite import two_stream_model
from asr.acoustic.gmm import single_gaussians
from asr.acoustic.model_file import SpeechModel, load_model
from asr.corpus.data_directory import read_data_directory
from asr.decode.graph_compiler import compile_graph
from asr.features.extraction import extract_static
from asr.features.frame_table import FrameTable
from asr.features.warping import warping_matrix
from asr.grammar import one_word, word_loop
from asr.recognition import input_network
from asr.recognition.decoder import recognize
from asr.recognition.grammars import chosen_grammar
from asr.recognition.input_network import AdaptationSettings, recognize_adapted
from asr.scoring.wer import score_utterances
from asr.util.errors import ConfigError
from discriminants.kernels import LinearKernel
from discriminants.logistic.affine_transform import AffineTransform
from discriminants.parallel.workers import LocalWorkers, SerialWorkers


@pytest.fixture(scope="module")
def model(toy_model) -> SpeechModel:
    return load_model(toy_model)


@pytest.fixture(scope="module")
def graph(model):
    return compile_graph(model.lexicon, word_loop(model.lexicon.words), model.hmm.topology)


@pytest.fixture(scope="module")
def references(toy_corpus):
    return {utterance.id: utterance.words for utterance in read_data_directory(toy_corpus / "test").utterances}


@pytest.fixture(scope="module")
def strangers(toy_corpus, model) -> FrameTable:
    """The test speakers with vocal tracts much shorter than any in training."""
    config = model.front_end.config
    static, _ = extract_static(read_data_directory(toy_corpus / "test"), config)
    frames = np.array(static.frames)
    frames[:, :12] = frames[:, :12] @ warping_matrix(0.65, config).T.astype(np.float32)
    return FrameTable(static.ids, static.speakers, frames, static.offsets)


def test_strange_speakers_are_recognized_better_when_the_model_is_adapted(model, graph, strangers, references):
    before = score_utterances(references, recognize(model, strangers, graph).hypotheses).errors
    adapted = recognize_adapted(model, strangers, graph)
    after = score_utterances(references, adapted.hypotheses).errors
    assert before > 2
    assert after < before
    assert not adapted.failed
    assert adapted.cpu_seconds > 0


def test_adapted_words_do_not_depend_on_the_workers(model, graph, strangers):
    settings = AdaptationSettings(sharpness=(0.1,), iterations=3)
    done: list[int] = []
    alone = recognize_adapted(model, strangers, graph, settings=settings, workers=SerialWorkers(), progress=done.append)
    assert done == sorted(done) and done[-1] == input_network.n_steps(len(strangers), settings) == 3 * len(strangers)
    shared = recognize_adapted(model, strangers, graph, settings=settings, workers=LocalWorkers(2))
    assert alone.words == shared.words
    assert list(alone.words) == list(strangers.ids)


def test_single_words_are_weighed_against_each_other(model, strangers):
    words = compile_graph(model.lexicon, one_word(model.lexicon.words), model.hmm.topology)
    graphs = input_network._single_words(words)
    assert len(graphs) == len(model.lexicon.words)
    frames = model.front_end.transform(strangers).batches(1)[0]
    sharp, flat = (
        input_network.probable_states(input_network._readings(model.hmm, frames, graphs, model.search, sharpness))
        for sharpness in (1.0, 1e-6)
    )
    assert len(sharp[0]) == frames.n_frames
    np.testing.assert_allclose(sharp[2], 1.0, atol=0.05)
    assert len(flat[0]) == len(graphs) * frames.n_frames
    np.testing.assert_allclose(flat[2], 1.0 / len(graphs), atol=1e-3)
    assert [len(part) for part in input_network.probable_states([])] == [0, 0, 0]


def test_grammars_with_loops_have_one_reading(graph):
    assert input_network._single_words(graph) == []


def test_words_of_the_longest_sentence(model, graph):
    def compiled(wanted):
        return compile_graph(model.lexicon, chosen_grammar(model, model.lexicon, wanted), model.hmm.topology)

    assert graph.most_words == np.inf
    for length in (1, 2, 5):
        assert compiled(str(length)).most_words == length
    assert input_network._single_words(compiled("2")) == []


def test_a_hybrid_of_another_classifier_is_refused_with_all_that_can_be_done(model, graph, strangers):
    acoustic = copy.copy(model.hmm.acoustic_model)
    acoustic.classifier = GaussianNB()
    other = replace(model, hmm=replace(model.hmm, acoustic_model=acoustic))
    with pytest.raises(
        ConfigError, match=r"'kernel-logistic', or .* \(gmm\.safetensors\).*--adapt fmllr or vtln"
    ) as texts:
        recognize_adapted(other, strangers, graph)
    assert "a hybrid of GaussianNB cannot be adapted" in str(texts.value)


def test_mixtures_are_refused(toy_run, graph, strangers):
    with pytest.raises(ConfigError, match="Use fMLLR"):
        recognize_adapted(load_model(toy_run / "gmm.safetensors"), strangers, graph)


def test_of_two_streams_the_classifiers_alone_is_mapped(model, strangers):
    frames = model.front_end.transform(strangers).frames[:9]
    same = single_gaussians(np.zeros(2), np.ones(2), model.hmm.topology.n_states)  # for every state
    acoustic = two_stream_model(model.hmm.acoustic_model, same, 2, frames.shape[1] + 2, 0.5)
    two = replace(model, hmm=replace(model.hmm, acoustic_model=acoustic))
    both = np.hstack([frames, np.ones((9, 2), np.float32)])
    mapped = input_network.mapped(acoustic, AffineTransform(2 * np.eye(frames.shape[1]), np.zeros(frames.shape[1])))
    np.testing.assert_array_equal(
        mapped.log_likelihood(both), two.hmm.log_likelihood(np.hstack([2 * frames, both[:, -2:]]))
    )


def test_another_kernel_is_refused(model, graph, strangers):
    acoustic = copy.copy(model.hmm.acoustic_model)
    acoustic.classifier = copy.copy(acoustic.classifier)
    acoustic.classifier.kernel_ = LinearKernel()
    other = replace(model, hmm=replace(model.hmm, acoustic_model=acoustic))
    with pytest.raises(ConfigError, match="LinearKernel"):
        recognize_adapted(other, strangers, graph)
