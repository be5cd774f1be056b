"""Recognition in several passes: what was recognized of a speaker adapts the model to them.

Unsupervised and by speaker, as fMLLR is for mixtures (Gales 1998); the map is that of a linear input network (Neto et
al. 1995). Where an utterance is a single word, each word that it may be counts with its posterior probability, which
is kept flat at first, so that early errors do not confirm themselves; elsewhere the best path counts.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from pydantic import Field
from threadpoolctl import threadpool_limits

from asr.acoustic.composite import CompositeAcousticModel, hybrid_stream
from asr.acoustic.fmllr import SpeakerMaps
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.model_file import SearchSettings, SpeechModel
from asr.acoustic.phone_hmm import AcousticModel, PhoneHmm
from asr.decode.path_segments import frame_states
from asr.decode.token_passing import BestPath
from asr.errors import ConfigError, Fault
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph
from asr.recognition.recognition import Found, Recognition, collected, recognize_batch, without_silence
from asr.recognition.searching import search_path
from asr.recognition.speaker_maps import frames_of, recognized_maps
from asr.settings import Settings
from discriminants.kernels import GaussianKernel
from discriminants.logistic.input_map import InputMap, fit_input_map, identity_map
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.sparse_logistic import SparseKernelLogisticClassifier

_LEAST_PROBABILITY = 0.03
_MOST_WORDS = 200  # of a grammar of single words; each is searched for by itself


class AdaptationSettings(Settings):
    """How a hybrid is adapted to the speaker whom it recognizes."""

    sharpness: tuple[Annotated[float, Field(gt=0, le=1000)], ...] = Field(
        (0.05, 0.05, 0.1, 0.2), min_length=1, max_length=100
    )
    """One number a pass: by what the scores of single words are multiplied before they become posteriors."""
    ridge: float = Field(1e-2, ge=0, le=1e9)
    """How strongly the map is held to the identity."""
    iterations: int = Field(15, ge=1, le=10_000)
    """Steps of each fit."""


@dataclass(frozen=True)
class MappedModel:
    """A hybrid whose classifier sees its frames through an affine map."""

    model: HybridAcousticModel
    frame_map: InputMap

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """Scaled log-likelihoods, float32 (n_frames, n_states)."""
        return self.model.log_likelihood(self.frame_map(frames))


def mapped(acoustic: AcousticModel, frame_map: InputMap) -> AcousticModel:
    """The acoustic model with the map before its hybrid; other streams stay as they are."""
    found = hybrid_stream(acoustic)
    assert found is not None
    number, hybrid = found
    adapted = MappedModel(hybrid, frame_map)
    return acoustic.with_model(number, adapted) if isinstance(acoustic, CompositeAcousticModel) else adapted


def recognize_adapted(
    model: SpeechModel,
    static: FrameTable,
    graph: StateGraph,
    search: SearchSettings | None = None,
    settings: AdaptationSettings = AdaptationSettings(),  # noqa: B008 (frozen)
    *,
    maps: SpeakerMaps | None = None,
    lattice_beam: float | None = None,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> Recognition:
    """Recognize every speaker's utterances with the model adapted to that speaker; parameters as of `recognize`.

    Raises
    ------
    ConfigError
        If the model is no hybrid of a kernel logistic classifier, or its kernel is not Gaussian with one width.
    """
    hybrid = hybrid_stream(model.hmm.acoustic_model)
    if hybrid is None or not isinstance(hybrid[1].classifier, SparseKernelLogisticClassifier):
        raise ConfigError(
            "an input network adapts hybrids of the classifier 'kernel-logistic' alone; mixtures adapt by fMLLR: "
            '--adapt fmllr, adapt="fmllr" in Python'
        )
    kernel = hybrid[1].classifier.kernel_
    if not isinstance(kernel, GaussianKernel) or not kernel.centers_are_points:
        raise ConfigError(f"only a Gaussian kernel of one width can be adapted through, not {type(kernel).__name__}")
    seconds = 0.0
    if maps is None:
        maps, seconds = recognized_maps(model, static, graph, workers=workers)
    started = time.process_time()
    with threadpool_limits(1):
        frames = frames_of(model, static, maps)
    seconds += time.process_time() - started
    of_speaker: dict[str, list[str]] = {}
    for name, speaker in zip(frames.ids, frames.speakers, strict=True):
        of_speaker.setdefault(speaker, []).append(name)
    tables = [frames.subset(names) for names in of_speaker.values()]
    workers = in_threads(workers)
    chosen = model.search if search is None else search
    results = workers.map(_recognize_speaker, tables, workers.share((model.hmm, graph, chosen, settings, lattice_beam)))
    found = collected(tables, results, seconds)
    in_order = Recognition(
        {name: found.words[name] for name in frames.ids if name in found.words},
        {name: found.failed[name] for name in frames.ids if name in found.failed},
        found.cpu_seconds,
        {name: found.lattices[name] for name in frames.ids if name in found.lattices},
    )
    return without_silence(in_order, model, static)


def _recognize_speaker(
    table: FrameTable, constants: tuple[PhoneHmm, StateGraph, SearchSettings, AdaptationSettings, float | None]
) -> tuple[list[Found | Fault], float]:
    """Words of every utterance of one speaker, or why there are none, and the processor time that this took."""
    hmm, graph, search, settings, lattice_beam = constants
    started = time.thread_time()
    hybrid = hybrid_stream(hmm.acoustic_model)
    assert hybrid is not None
    number, acoustic = hybrid
    whole = hmm.acoustic_model
    first = whole.streams[number].frames(table.frames) if isinstance(whole, CompositeAcousticModel) else table.frames
    frame_map = identity_map(first.shape[1])
    readings = _single_words(graph) or [graph]
    for sharpness in settings.sharpness:
        adapted = PhoneHmm(hmm.topology, mapped(whole, frame_map), hmm.self_loops)
        rows, states, weight = _probable_states(adapted, table, readings, search, sharpness)
        codes = np.searchsorted(acoustic.classifier.classes_, states)
        codes = np.minimum(codes, len(acoustic.classifier.classes_) - 1)
        known = acoustic.classifier.classes_[codes] == states  # a state without training frames has no output
        if not known.any():
            break
        frame_map = fit_input_map(
            acoustic.classifier,
            first[rows[known]],
            codes[known],
            weight[known],
            loss=acoustic.classifier.loss,
            ridge=settings.ridge,
            max_iter=settings.iterations,
            start=frame_map,
        )
    adapted = PhoneHmm(hmm.topology, mapped(whole, frame_map), hmm.self_loops)
    spent = time.thread_time() - started
    found, seconds = recognize_batch(table, (adapted, graph, search, lattice_beam))
    return found, spent + seconds


def _single_words(graph: StateGraph) -> list[StateGraph]:
    """The graph with all words but one made impossible, for each; none unless its sentences are single words."""
    if len(graph.words) > _MOST_WORDS or most_words(graph) != 1:
        return []

    def without_others(weights: np.ndarray, words: np.ndarray, word: int) -> np.ndarray:
        return np.where((words >= 0) & (words != word), -np.inf, weights)

    return [
        replace(
            graph,
            arc_weight=without_others(graph.arc_weight, graph.arc_word, word),
            jump_weight=without_others(graph.jump_weight, graph.jump_word, word),
        )
        for word in range(len(graph.words))
    ]


def most_words(graph: StateGraph) -> float:
    """Words of the sentence that has most; infinite where words lead around in a circle."""
    try:
        order = graph.topological_order()
    except ValueError:
        return np.inf
    most = np.full(graph.n_nodes, -np.inf)
    most[graph.initial] = 0
    for node in order:
        for starts, ends, words in (
            (graph.arc_start, graph.arc_end, graph.arc_word),
            (graph.jump_start, graph.jump_end, graph.jump_word),
        ):
            following = slice(starts[node], starts[node + 1])
            np.maximum.at(most, ends[following], most[node] + (words[following] >= 0))
    return float(most[np.isfinite(graph.final_weight)].max())


def _probable_states(
    hmm: PhoneHmm, table: FrameTable, readings: Sequence[StateGraph], search: SearchSettings, sharpness: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the table, their states under every reading, and with what probability; int, int and float."""
    rows, states, weight = [np.zeros(0, np.intp)], [np.zeros(0, np.int32)], [np.zeros(0)]
    for number in range(len(table)):
        frames = table.utterance(number)
        if not np.isfinite(frames).all():
            continue
        scores = hmm.log_likelihood(frames)
        searched = [(search_path(hmm, scores, graph, search), graph) for graph in readings]
        found: list[tuple[BestPath, StateGraph]] = [(path, graph) for path, graph in searched if path is not None]
        if not found:
            continue
        flat = sharpness * np.array([path.score for path, _ in found])
        probability = np.exp(flat - flat.max())
        probability /= probability.sum()
        for (path, graph), share in zip(found, probability, strict=True):
            if share > _LEAST_PROBABILITY:
                rows.append(np.arange(table.offsets[number], table.offsets[number + 1]))
                states.append(frame_states(path, graph, hmm.topology))
                weight.append(np.full(path.n_frames, share))
    return np.concatenate(rows), np.concatenate(states), np.concatenate(weight)
