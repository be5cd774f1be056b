"""Spoken digits and models that several lessons of the course use.

The first call makes the folder `digits` with artificial speech, which needs the extra `synth`.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from asr.acoustic.gmm_training import GmmSettings, train_gmm
from asr.acoustic.phone_hmm import PhoneHmm
from asr.alignment.batch_alignment import align_table
from asr.corpus.data_directory import read_data_directory
from asr.corpus.synthesis import make_digit_corpus
from asr.decode.path_segments import word_segments
from asr.decode.token_passing import best_path
from asr.features.config import FeatureConfig
from asr.features.extraction import extract_static
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon, read_lexicon
from asr.training.dataset import Dataset

FOLDER = Path("digits")
FEATURES = FeatureConfig(sample_rate=8000, normalize="speaker")


def framed(samples: np.ndarray) -> np.ndarray:
    """Return the windows of 25 ms that begin every 10 ms, shape (n_frames, 200): exercise 1.1."""
    return np.lib.stride_tricks.sliding_window_view(samples, 200)[::80]


def _made() -> Path:
    return FOLDER if FOLDER.is_dir() else make_digit_corpus(FOLDER)


@cache
def lexicon() -> Lexicon:
    """Return the phones of the ten digits."""
    return read_lexicon(_made() / "lexicon.txt")


@cache
def digit_dataset(split: str) -> Dataset:
    """Return static features and transcripts of "train" or "test"; their speakers differ."""
    corpus = read_data_directory(_made() / split)
    static, _ = extract_static(corpus, FEATURES)
    return Dataset(static, {utterance.id: utterance.words or () for utterance in corpus.utterances}, corpus=corpus)


@cache
def front_end() -> FrontEnd:
    """Return the front end: differences, and normalization by speaker."""
    return FrontEnd(FEATURES).fit(digit_dataset("train").static)


@cache
def digit_table(split: str) -> FrameTable:
    """Return the frames of "train" or "test", 39 numbers each."""
    return front_end().transform(digit_dataset(split).static)


@cache
def mixtures(n_gaussians: int = 4) -> PhoneHmm:
    """Return the mixtures of lesson 3 with 1, 2 or 4 Gaussians for each state."""
    topology = Topology(lexicon().phones)
    graphs = digit_dataset("train").graphs(lexicon(), topology)
    settings = GmmSettings(mixtures=(1, 2, 4), iterations=(8, 4, 4), start="equal")
    return {n: hmm for n, hmm, _ in train_gmm(digit_table("train"), graphs, topology, settings)}[n_gaussians]


@cache
def aligned_frames(split: str) -> tuple[np.ndarray, np.ndarray, Topology]:
    """Return frames, float32 (n_frames, 39), and their states by the mixtures of lesson 3, int32 (n_frames,)."""
    hmm, table = mixtures(), digit_table(split)
    graphs = digit_dataset(split).graphs(lexicon(), hmm.topology)
    aligned = align_table(hmm.log_likelihood, table, graphs, hmm.topology, hmm.self_loops)
    return table.frames, aligned.states, hmm.topology


def decode(hmm: PhoneHmm, table: FrameTable, graph: StateGraph, lm_scale: float) -> Mapping[str, list[str]]:
    """Return the words of every utterance."""
    found = {}
    for name in table.ids:
        scores = hmm.log_likelihood(table.utterance(name))
        path = best_path(scores, graph, hmm.topology.unit_state, hmm.self_loops, lm_scale=lm_scale, beam=100.0)
        found[name] = [] if path is None else [one.label for one in word_segments(path, graph, hmm.topology)]
    return found
