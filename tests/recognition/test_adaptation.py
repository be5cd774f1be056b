"""Adaptation to a speaker: better on speakers unlike those of training, the same for any workers."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from asr.acoustic.composite import beside
from asr.acoustic.gmm import single_gaussians
from asr.acoustic.model_file import SpeechModel, load_model
from asr.acoustic.word_shares import WordShares
from asr.corpus.data_directory import read_data_directory
from asr.decode.graph_compiler import compile_graph
from asr.errors import ConfigError
from asr.features.extraction import extract_static
from asr.features.frame_table import FrameTable
from asr.features.warping import warping_matrix
from asr.grammar import one_word, word_loop
from asr.recognition import adaptation
from asr.recognition.adaptation import AdaptationSettings, recognize_adapted
from asr.recognition.decoding import chosen_grammar
from asr.recognition.recognition import recognize
from asr.recognition.speaker_passes import recognize_speakers
from asr.scoring.wer import score_utterances
from discriminants.kernels import LinearKernel
from discriminants.logistic.input_map import InputMap
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
    assert done == sorted(done) and done[-1] == adaptation.n_steps(len(strangers), settings) == 3 * len(strangers)
    shared = recognize_adapted(model, strangers, graph, settings=settings, workers=LocalWorkers(2))
    assert alone.words == shared.words
    assert list(alone.words) == list(strangers.ids)


def test_single_words_are_weighed_against_each_other(model, strangers):
    words = compile_graph(model.lexicon, one_word(model.lexicon.words), model.hmm.topology)
    graphs = adaptation._single_words(words)
    assert len(graphs) == len(model.lexicon.words)
    frames = model.front_end.transform(strangers).batches(1)[0]
    sharp, flat = (
        adaptation.probable_states(adaptation._readings(model.hmm, frames, graphs, model.search, sharpness, 0.0))
        for sharpness in (1.0, 1e-6)
    )
    assert len(sharp[0]) == frames.n_frames
    np.testing.assert_allclose(sharp[2], 1.0, atol=0.05)
    assert len(flat[0]) == len(graphs) * frames.n_frames
    np.testing.assert_allclose(flat[2], 1.0 / len(graphs), atol=1e-3)
    assert [len(part) for part in adaptation.probable_states([])] == [0, 0, 0]


def confused_words() -> np.ndarray:
    """Scores of 40 utterances of each of four words; every one of the last word sounds like the first a little more."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 40)
    scores = rng.normal(size=(160, 4))
    scores[np.arange(160), truth] += 6.0
    scores[truth == 3, 0] += 8.0
    scores[5, 2] = -np.inf
    return scores


def test_words_are_counted_as_often_as_they_are_expected():
    scores, alike = confused_words(), np.full(4, 0.25)

    def counts(offsets):
        return np.bincount((scores + offsets).argmax(axis=1), minlength=4)

    assert counts(np.zeros(4))[3] < 10
    offsets = adaptation.balancing_offsets(scores, alike)
    np.testing.assert_allclose(counts(offsets), 40, atol=16)
    gap = 40.0 - adaptation.softmax(scores + offsets, axis=1).sum(axis=0)
    np.testing.assert_allclose(gap, 10.0 * offsets, atol=1e-2)
    few = adaptation.balancing_offsets(scores[[0, 50, 51, 90]], alike)
    assert np.abs(few).max() < 0.2  # of four utterances nothing follows
    states = {word: np.full(2, word) for word in range(4)}
    readings = [adaptation.Reading(np.arange(2), np.arange(4), row, states) for row in scores]
    for expected, most in ((None, 10), ((alike, 0.0), 40)):
        _, heard, weight = adaptation.probable_states(readings, expected)
        assert weight[heard == 3].sum() / 2 < most
    assert weight[heard == 3].sum() / 2 > 20


def test_expectations_of_speakers_who_differ_hardly_count():
    scores, shares = confused_words(), np.array([0.1, 0.2, 0.3, 0.4])
    firm, loose = (adaptation.balancing_offsets(scores, shares, spread) for spread in (0.0, 0.5))
    for spread, offsets in ((0.0, firm), (0.5, loose)):
        gap = 160 * shares - adaptation.softmax(scores + offsets, axis=1).sum(axis=0)
        np.testing.assert_allclose(gap, (10.0 + spread * 160**2 * shares * (1 - shares)) * offsets, atol=1e-2)
    assert np.abs(loose).max() < 0.1 < np.abs(firm).max()


def test_words_are_balanced_by_what_training_says_of_the_grammars_words(model, strangers):
    words = compile_graph(model.lexicon, one_word(model.lexicon.words), model.hmm.topology)
    settings = AdaptationSettings(sharpness=(0.1,), iterations=1, balanced=True)
    assert model.word_shares is None  # sentences teach nothing of single words
    with pytest.raises(ConfigError, match="does not tell how often a speaker says each word"):
        recognize_adapted(model, strangers, words, settings=settings)
    some = WordShares(shares=dict.fromkeys(model.lexicon.words[1:], 0.125), spread=0.0)
    with pytest.raises(ConfigError, match=f"no speaker of the training said '{model.lexicon.words[0]}' by itself"):
        recognize_adapted(replace(model, word_shares=some), strangers, words, settings=settings)
    every = WordShares(shares=dict.fromkeys(model.lexicon.words, 0.125), spread=0.0)
    found = recognize_adapted(replace(model, word_shares=every), strangers, words, settings=settings)
    assert not found.failed and all(len(sentence) == 1 for sentence in found.words.values())


def test_words_of_longer_sentences_are_not_balanced(model, graph, strangers):
    with pytest.raises(ConfigError, match="under a grammar of single words, and this one has longer sentences"):
        recognize_speakers(model, strangers, graph, adapt="balanced")


def test_grammars_with_loops_have_one_reading(graph):
    assert adaptation._single_words(graph) == []


def test_words_of_the_longest_sentence(model, graph):
    def compiled(wanted):
        return compile_graph(model.lexicon, chosen_grammar(model, model.lexicon, wanted), model.hmm.topology)

    assert graph.most_words == np.inf
    for length in (1, 2, 5):
        assert compiled(str(length)).most_words == length
    assert adaptation._single_words(compiled("2")) == []


def test_a_hybrid_of_another_classifier_is_refused_with_all_that_can_be_done(model, graph, strangers):
    acoustic = copy.copy(model.hmm.acoustic_model)
    acoustic.classifier = GaussianNB()
    other = replace(model, hmm=replace(model.hmm, acoustic_model=acoustic))
    with pytest.raises(
        ConfigError, match=r"'kernel-logistic'; or .* \(gmm\.safetensors\).*--adapt fmllr or vtln"
    ) as told:
        recognize_adapted(other, strangers, graph)
    assert "a hybrid of GaussianNB cannot be adapted" in str(told.value)


def test_mixtures_are_refused(toy_run, graph, strangers):
    with pytest.raises(ConfigError, match="adapt by fMLLR"):
        recognize_adapted(load_model(toy_run / "gmm.safetensors"), strangers, graph)


def test_of_two_streams_the_classifiers_alone_is_mapped(model, strangers):
    frames = model.front_end.transform(strangers).frames[:9]
    same = single_gaussians(np.zeros(2), np.ones(2), model.hmm.topology.n_states)  # for every state
    acoustic = beside(model.hmm.acoustic_model, same, 2, frames.shape[1] + 2, 0.5)
    two = replace(model, hmm=replace(model.hmm, acoustic_model=acoustic))
    both = np.hstack([frames, np.ones((9, 2), np.float32)])
    mapped = adaptation.mapped(acoustic, InputMap(2 * np.eye(frames.shape[1]), np.zeros(frames.shape[1])))
    np.testing.assert_array_equal(
        mapped.log_likelihood(both), two.hmm.log_likelihood(np.hstack([2 * frames, both[:, -2:]]))
    )


def test_another_kernel_is_refused(model, graph, strangers):
    acoustic = copy.copy(model.hmm.acoustic_model)
    acoustic.classifier = copy.copy(acoustic.classifier)
    acoustic.classifier.kernel_ = LinearKernel()
    other = replace(model, hmm=replace(model.hmm, acoustic_model=acoustic))
    with pytest.raises(ConfigError, match="not LinearKernel"):
        recognize_adapted(other, strangers, graph)
