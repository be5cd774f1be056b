"""Frame accuracy against the hand labels, in the 39 classes of scoring."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from asr.acoustic.composite import CompositeAcousticModel
from asr.acoustic.fmllr import SpeakerMaps
from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.model_file import SpeechModel
from asr.decode.graph_compiler import compile_graph
from asr.grammar import Grammar
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology
from asr.recognition.speaker_transforms import frames_of, recognized_maps
from asr.training.dataset import Dataset
from asr.training.given_alignment import Interval, phone_runs
from asr.training.gmm_stages import TrainingContext
from recipes.comparison import System
from recipes.timit import corpus

BLOCK = 8192  # frames


def labelled_phones(
    context: TrainingContext, dataset: Dataset, labels: Mapping[str, list[Interval]], topology: Topology
) -> np.ndarray:
    """Return the phone number of each frame of the data by the hand labels, int64 (n_frames,)."""
    features = context.config.features
    shift, window = features.shift_samples / features.sample_rate, features.window_samples / features.sample_rate
    found = np.empty(dataset.static.n_frames, np.int64)
    for name in dataset.static.ids:
        rows = dataset.static.rows(name)
        for phone, first, end in phone_runs(labels[name], rows.stop - rows.start, shift, window, topology):
            found[rows.start + first : rows.start + end] = phone
    return found


def phone_classes(topology: Topology, fold: Mapping[str, str]) -> np.ndarray:
    """Return the number of each phone's class, int64 (n_phones,)."""
    silences = (SILENCE, SHORT_PAUSE)
    names = [fold[corpus.SILENCE if phone in silences else phone] for phone in topology.phone_names]
    return np.unique(names, return_inverse=True)[1]


def class_scores(scores: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Add the probabilities of each class's states.

    Parameters
    ----------
    scores : ndarray of shape (n_frames, n_states)
        Natural logarithms.
    classes : int64 ndarray of shape (n_states,)
        Class of every state; all numbers up to the largest one occur.

    Returns
    -------
    ndarray of shape (n_frames, n_classes)
        Natural logarithms.
    """
    order = np.argsort(classes, kind="stable")
    starts = np.searchsorted(classes[order], np.arange(classes.max() + 1))
    return np.logaddexp.reduceat(scores[:, order], starts, axis=1)


def frame_accuracies(
    context: TrainingContext,
    split: str,
    systems: Sequence[System],
    data: Mapping[str, Dataset],
    labels: Mapping[str, list[Interval]],
    fold: Mapping[str, str],
    grammar: Grammar,
) -> dict[str, float]:
    """Stage `SPLIT-frames`: return the percentage of frames whose most probable class is the labeled one.

    Mixtures use the relative frequencies of the phones in the hand labels of `data["train"]`. Speaker transforms are
    estimated without the labels.
    """

    def build(directory: Path) -> None:
        dataset, train = data[split], data[corpus.TRAIN]
        found = {}
        for system in systems:
            model = system.trained.load()
            topology = model.hmm.topology
            maps: SpeakerMaps = {}
            if model.speakers is not None:
                graph = compile_graph(context.lexicon, grammar, topology)
                maps, _ = recognized_maps(model, dataset.static, graph, workers=context.workers)
            classes = phone_classes(topology, fold)
            frequencies = np.bincount(labelled_phones(context, train, labels, topology), minlength=len(classes))
            with threadpool_limits(1):
                frames = frames_of(model, dataset.static, maps).frames
                best = _best_classes(model, frames, classes, frequencies)
            given = classes[labelled_phones(context, dataset, labels, topology)]
            found[system.name] = 100.0 * float(np.mean(best == given))
        (directory / "accuracy.json").write_text(json.dumps(found), encoding="utf-8")

    directory = context.stage(f"{split}-frames", build)
    found: dict[str, float] = json.loads((directory / "accuracy.json").read_text(encoding="utf-8"))
    return found


def _best_classes(model: SpeechModel, frames: np.ndarray, classes: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Return the most probable class of each frame, int64 (n_frames,)."""
    acoustic, topology = model.hmm.acoustic_model, model.hmm.topology
    phones = topology.unit_phone[: topology.n_states]
    prior = (frequencies[phones] + 1.0) / np.bincount(phones, minlength=len(classes))[phones]
    best = []
    for start in range(0, len(frames), BLOCK):
        block = frames[start : start + BLOCK]
        if isinstance(acoustic, GaussianMixtures):
            scores = acoustic.log_likelihood(block) + np.log(prior)
        else:
            assert isinstance(acoustic, HybridAcousticModel | CompositeAcousticModel)
            scores = acoustic.log_posterior(block)
        best.append(class_scores(scores, classes[phones]).argmax(axis=1))
    return np.concatenate(best)
