"""Sequences: paths get more of their frames right, whoever works, and what cannot be trained so is refused."""

import logging

import numpy as np
import pytest

from asr.acoustic import sequence_training
from asr.acoustic.composite import hybrid_stream
from asr.acoustic.gmm_training import train_gmm
from asr.acoustic.hybrid_training import HybridSettings, train_hybrid
from asr.acoustic.model_file import SearchSettings
from asr.acoustic.phone_hmm import PhoneHmm
from asr.acoustic.sequence_training import train_sequences
from asr.alignment.batch_alignment import align_table
from asr.decode.graph_compiler import compile_graph
from asr.features.frame_table import FrameTable
from asr.grammar import word_loop
from asr.util.errors import ConfigError
from discriminants.parallel.workers import LocalWorkers, SerialWorkers
from tests.acoustic.test_gmm_training import LEXICON, TOPOLOGY, Corpus, settings

GRAPH = compile_graph(LEXICON, word_loop(LEXICON.words), TOPOLOGY)
SEARCH = SearchSettings(lm_scale=4.0)


class Start:
    """Overlapping phones, their alignment, and hybrids of few centres trained on its frames."""

    def __init__(self) -> None:
        corpus = Corpus()
        noise = np.random.default_rng(1).normal(scale=3.0, size=corpus.table.frames.shape).astype(np.float32)
        *_, (_, hmm, _) = train_gmm(corpus.table, corpus.graphs, TOPOLOGY, settings())
        self.states = align_table(hmm.log_likelihood, corpus.table, corpus.graphs, TOPOLOGY, hmm.self_loops).states
        own = corpus.table
        self.table = FrameTable(own.ids, own.speakers, own.frames + noise, own.offsets)
        self.graphs, self.self_loops = corpus.graphs, hmm.self_loops

    def hybrid(self, *, classifier: str = "kernel-logistic", mixtures: int = 0, **parameters) -> PhoneHmm:
        small = {"n_centers": 20, "n_candidates": 40, "max_iter": 1, "min_steps": 5, **parameters}
        chosen = small if classifier == "kernel-logistic" else parameters
        table, append_static = self.table, 0
        if mixtures:
            frames = np.concatenate([table.frames, table.frames], axis=1)
            table, append_static = FrameTable(table.ids, table.speakers, frames, table.offsets), 2
        return train_hybrid(
            table, self.states, self.graphs, TOPOLOGY, self.self_loops,
            HybridSettings(classifier=classifier, parameters=chosen, mixtures=mixtures), n_unspliced=append_static,
        ).hmm  # fmt: skip

    def train(self, hmm: PhoneHmm, *, passes: int = 3, mixtures: bool = False, **others) -> list[float]:
        table = self.table
        if mixtures:
            frames = np.concatenate([table.frames, table.frames], axis=1)
            table = FrameTable(table.ids, table.speakers, frames, table.offsets)
        return train_sequences(hmm, table, others.pop("states", self.states), GRAPH, SEARCH, passes=passes, **others)


@pytest.fixture(scope="module")
def start() -> Start:
    return Start()


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["multinomial", "ovr"])
@pytest.mark.parametrize("mixtures", [0, 2])
def test_more_frames_are_expected_right_after_every_pass(start: Start, loss: str, mixtures: int) -> None:
    hmm = start.hybrid(loss=loss, mixtures=mixtures)
    shares = start.train(hmm, passes=4, mixtures=bool(mixtures))
    assert len(shares) == 4
    assert hybrid_stream(hmm.acoustic_model)[1].smbr_epochs == 4
    assert shares[-1] > shares[0] + 0.2
    assert 0 < shares[0] < 100


def test_what_is_learnt_does_not_depend_on_the_workers(start: Start) -> None:
    weights, done = [], []
    for n_workers in (1, 2):
        hmm = start.hybrid()
        workers = SerialWorkers() if n_workers == 1 else LocalWorkers(2)
        start.train(hmm, workers=workers, progress=done.append)
        weights.append(hmm.acoustic_model.classifier.dual_coef_)
    np.testing.assert_array_equal(*weights)
    assert done[-1] == 3 * len(start.table)
    assert sorted(done[: len(done) // 2]) == done[: len(done) // 2]


def test_utterances_that_are_not_aligned_or_not_found_are_left_out(start: Start, caplog) -> None:
    first = start.table.rows(0)
    states = start.states.copy()
    states[first.start] = -1
    hmm = start.hybrid()
    done: list[int] = []
    start.train(hmm, passes=1, states=states, progress=done.append)
    assert done[-1] == len(start.table) - 1
    assert start.train(hmm, states=np.full_like(start.states, -1)) == []
    assert "is completely aligned" in caplog.text
    short = FrameTable.from_utterances(("a", "b"), ("s", "s"), [start.table.utterance(0), np.zeros((1, 2), np.float32)])
    states = np.append(start.states[first], np.int32(0))
    with caplog.at_level(logging.DEBUG, logger=sequence_training.__name__):
        train_sequences(hmm, short, states, GRAPH, SEARCH, passes=1)
    assert "utterances without a path within the beam: 1" in caplog.text
    alone = short.subset(("b",))
    assert train_sequences(hmm, alone, states[-1:], GRAPH, SEARCH, passes=1) == []
    assert "Sequence training skipped" in caplog.text
    assert hmm.acoustic_model.smbr_epochs == 2


def test_other_classifiers_are_refused(start: Start) -> None:
    hmm = start.hybrid(classifier="npd", n_centers=20)
    with pytest.raises(ConfigError, match="kernel-logistic"):
        start.train(hmm)
