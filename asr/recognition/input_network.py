"""Unsupervised speaker adaptation of hybrids in several passes, with a linear input network (Neto et al. 1995).

As with fMLLR for mixtures (Gales 1998), each speaker's recognized words are the targets. For single-word utterances
each possible word is weighted by its posterior, kept flat in early passes so that errors do not reinforce themselves.
Otherwise the best path is used.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

import numpy as np
from pydantic import Field
from scipy.special import softmax
from threadpoolctl import threadpool_limits

from asr.acoustic.composite import CompositeAcousticModel, hybrid_stream
from asr.acoustic.fmllr import SpeakerMaps
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.model_file import SearchSettings, SpeechModel
from asr.acoustic.phone_hmm import AcousticModel, PhoneHmm
from asr.decode.path_segments import frame_states
from asr.decode.token_passing import BestPath
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph
from asr.lattices.generation import LatticeBeam
from asr.recognition.decoder import (
    Found,
    Recognition,
    SearchParts,
    collected,
    recognize_batch,
    search_parts,
    without_silence,
)
from asr.recognition.search import BATCH_FRAMES, search_path
from asr.recognition.speaker_transforms import frames_of, recognized_maps
from asr.util.config_base import Settings
from asr.util.errors import ConfigError, Issue
from discriminants.kernels import GaussianKernel
from discriminants.logistic.affine_transform import AffineTransform, fit_input_map, identity_map
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.sparse.sparse_logistic import SparseKernelLogisticClassifier

OF_MIXTURES = (
    'fMLLR, or vocal-tract length if there are only seconds of speech: --adapt fmllr or vtln, adapt="fmllr" or '
    '"vtln" in Python'
)
_MIN_PROBABILITY = 0.03
_MAX_WORDS = 200  # grammars of more single words are searched as a whole


class AdaptationSettings(Settings):
    """Settings of the speaker adaptation of hybrids."""

    sharpness: tuple[Annotated[float, Field(gt=0, le=1000)], ...] = Field(
        (0.05, 0.05, 0.1, 0.2), min_length=1, max_length=100
    )
    """Factor, one per pass, on the scores of single words before they become posteriors."""
    ridge: float = Field(1e-2, ge=0, le=1e9)
    """L2 penalty on the transform's deviation from the identity."""
    iterations: int = Field(15, ge=1, le=10_000)
    """Optimizer steps per fit."""


@dataclass(frozen=True)
class UtteranceHypotheses:
    """Possible readings of one utterance."""

    rows: np.ndarray  # int (n_frames,): its rows in the table
    graphs: np.ndarray  # int (n,): indices of possible graphs, one per word for single words
    scores: np.ndarray  # float (n,): natural log-likelihoods
    states: Mapping[int, np.ndarray]  # int32 (n_frames,) by graph, for probable ones


@dataclass(frozen=True)
class MappedModel:
    """Hybrid with an affine transform of its input frames."""

    model: HybridAcousticModel
    frame_map: AffineTransform

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """Return scaled log-likelihoods, float32 (n_frames, n_states)."""
        return self.model.log_likelihood(self.frame_map(frames))


def mapped(acoustic: AcousticModel, frame_map: AffineTransform) -> AcousticModel:
    """Return the acoustic model with a transform before its hybrid; other streams stay unchanged."""
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
    lattice_beam: LatticeBeam | None = None,
    ratios: bool = False,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
    progress: Callable[[int], None] | None = None,
) -> Recognition:
    """Recognize each speaker's utterances with a speaker-adapted model; parameters as in `recognize`.

    `progress` counts utterances once per search and once per fit, `n_steps` in total.

    Raises
    ------
    ConfigError
        If the model is not a hybrid with a kernel logistic classifier with a Gaussian kernel of a single width.
    """
    hybrid = hybrid_stream(model.hmm.acoustic_model)
    if hybrid is None:
        raise ConfigError(f"Input networks adapt only hybrids. Use {OF_MIXTURES}")
    if not isinstance(hybrid[1].classifier, SparseKernelLogisticClassifier):
        raise ConfigError(
            f"a hybrid of {type(hybrid[1].classifier).__name__} cannot be adapted. Use the classifier "
            f"'kernel-logistic', or the mixtures of the same training (gmm.safetensors) with {OF_MIXTURES}"
        )
    kernel = hybrid[1].classifier.kernel_
    if not isinstance(kernel, GaussianKernel) or not kernel.centers_are_points:
        raise ConfigError(
            f"{type(kernel).__name__} does not support adaptation. Expected a Gaussian kernel of one width"
        )
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
    owners = [number for number, table in enumerate(tables) for _ in table.batches(BATCH_FRAMES)]
    batches = [batch for table in tables for batch in table.batches(BATCH_FRAMES)]
    workers = in_threads(workers)
    chosen = model.search if search is None else search
    readings = _single_words(graph) or [graph]
    searching = workers.share((model.hmm, readings, chosen))
    fitting = workers.share((model.hmm.acoustic_model, settings))
    deciding = workers.share(search_parts(model, graph, chosen, lattice_beam, ratios))
    frame_maps = [identity_map(len(hybrid[1].classifier.basis_centers_[0])) for _ in tables]
    n_done = 0

    def counted(n: int, spent: float) -> None:
        nonlocal n_done, seconds
        n_done, seconds = n_done + n, seconds + spent
        if progress is not None:
            progress(n_done)

    def searched(function: Callable[..., tuple[T, float]], *constants: object) -> Iterator[T]:
        """Yield the function's results for each batch with its speaker's transform."""
        items = [(batch, frame_maps[number]) for batch, number in zip(batches, owners, strict=True)]
        for batch, (found, spent) in zip(batches, workers.map(function, items, *constants), strict=True):
            counted(len(batch), spent)
            yield found

    for sharpness in settings.sharpness:
        read: list[list[list[UtteranceHypotheses]]] = [[] for _ in tables]
        for number, of_batch in zip(owners, searched(_read_batch, searching, sharpness), strict=True):
            read[number].append(of_batch)
        fits = workers.map(_fitted_map, list(zip(tables, read, frame_maps, strict=True)), fitting)
        for number, (frame_map, spent) in enumerate(fits):
            frame_maps[number] = frame_map
            counted(len(tables[number]), spent)
    results = [(found, 0.0) for found in searched(_recognize_mapped, deciding)]
    found = collected(batches, results, seconds)
    in_order = Recognition(
        {name: found.words[name] for name in frames.ids if name in found.words},
        {name: found.failed[name] for name in frames.ids if name in found.failed},
        found.cpu_seconds,
        {name: found.lattices[name] for name in frames.ids if name in found.lattices},
        {name: found.ratios[name] for name in frames.ids if name in found.ratios},
        found.rejected,
    )
    return without_silence(in_order, model, static)


T = TypeVar("T")


def n_steps(n_utterances: int, settings: AdaptationSettings = AdaptationSettings()) -> int:  # noqa: B008 (frozen)
    """Return the total of the progress of `recognize_adapted`."""
    return n_utterances * (2 * len(settings.sharpness) + 1)


def _fitted_map(
    item: tuple[FrameTable, Sequence[Sequence[UtteranceHypotheses]], AffineTransform],
    constants: tuple[AcousticModel, AdaptationSettings],
) -> tuple[AffineTransform, float]:
    """Fit a speaker's transform to the readings of all batches, starting from the previous one; return the time too."""
    table, batches, start = item
    whole, settings = constants
    started = time.thread_time()
    hybrid = hybrid_stream(whole)
    assert hybrid is not None
    number, classifier = hybrid[0], hybrid[1].classifier
    frames = whole.streams[number].frames(table.frames) if isinstance(whole, CompositeAcousticModel) else table.frames
    firsts = np.cumsum([0, *(batch.n_frames for batch in table.batches(BATCH_FRAMES))])
    readings = [
        replace(reading, rows=first + reading.rows)
        for first, batch in zip(firsts[:-1], batches, strict=True)
        for reading in batch
    ]
    rows, states, weight = probable_states(readings)
    codes = np.minimum(np.searchsorted(classifier.classes_, states), len(classifier.classes_) - 1)
    known = classifier.classes_[codes] == states  # states without training frames have no output
    if not known.any():
        return start, time.thread_time() - started
    fitted = fit_input_map(
        classifier,
        frames[rows[known]],
        codes[known],
        weight[known],
        loss=classifier.whole_loss,
        ridge=settings.ridge,
        max_iter=settings.iterations,
        start=start,
    )
    return fitted, time.thread_time() - started


def _through(hmm: PhoneHmm, frame_map: AffineTransform) -> PhoneHmm:
    return replace(hmm, acoustic_model=mapped(hmm.acoustic_model, frame_map))


def _read_batch(
    item: tuple[FrameTable, AffineTransform],
    constants: tuple[PhoneHmm, Sequence[StateGraph], SearchSettings],
    sharpness: float,
) -> tuple[list[UtteranceHypotheses], float]:
    """Return the readings of a batch with its speaker's transform, and the processor time."""
    batch, frame_map = item
    hmm, graphs, search = constants
    started = time.thread_time()
    readings = _readings(_through(hmm, frame_map), batch, graphs, search, sharpness)
    return readings, time.thread_time() - started


def _recognize_mapped(
    item: tuple[FrameTable, AffineTransform], parts: SearchParts
) -> tuple[list[Found | Issue], float]:
    """Recognize a batch with its speaker's transform; return results or faults, and the time."""
    batch, frame_map = item
    return recognize_batch(batch, parts._replace(hmm=_through(parts.hmm, frame_map)))


def _single_words(graph: StateGraph) -> list[StateGraph]:
    """Return one graph for each word if all sentences are single words, else an empty list."""
    if len(graph.words) > _MAX_WORDS or graph.most_words != 1:
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


def _readings(
    hmm: PhoneHmm,
    table: FrameTable,
    graphs: Sequence[StateGraph],
    search: SearchSettings,
    sharpness: float,
) -> list[UtteranceHypotheses]:
    """Return the possible words of each utterance, with states of the probable ones, except if no path survives."""
    readings = []
    for number in range(len(table)):
        frames = table.utterance(number)
        if not np.isfinite(frames).all():
            continue
        scores = hmm.recording_scores(frames)
        searched = [(word, search_path(hmm, scores, graph, search)) for word, graph in enumerate(graphs)]
        paths: dict[int, BestPath] = {word: path for word, path in searched if path is not None}
        if not paths:
            continue
        flat = sharpness * np.array([path.score for path in paths.values()])
        states = {
            word: frame_states(path, graphs[word], hmm.topology)
            for (word, path), probability in zip(paths.items(), softmax(flat), strict=True)
            if probability > _MIN_PROBABILITY
        }
        rows = np.arange(table.offsets[number], table.offsets[number + 1])
        readings.append(UtteranceHypotheses(rows, np.array(list(paths)), flat, states))
    return readings


def probable_states(readings: Sequence[UtteranceHypotheses]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, their states under every probable reading, and its probability; int, int and float."""
    rows, all_states, weight = [np.zeros(0, np.intp)], [np.zeros(0, np.int32)], [np.zeros(0)]
    for reading in readings:
        for graph, probability in zip(reading.graphs, softmax(reading.scores), strict=True):
            if probability > _MIN_PROBABILITY:
                states = reading.states[int(graph)]
                rows.append(reading.rows)
                all_states.append(states)
                weight.append(np.full(len(states), probability))
    return np.concatenate(rows), np.concatenate(all_states), np.concatenate(weight)
