"""Recognition in several passes: what was recognised of a speaker adapts the model to them.

Unsupervised and by speaker, as fMLLR is for mixtures (Gales 1998); the map is that of a linear input network (Neto et
al. 1995), and uncertain words count as the grammar's state posteriors say (expectation-maximisation, made flat by a
sharpness below one, which rises from pass to pass).
"""

import logging
import time
from dataclasses import dataclass, replace

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from threadpoolctl import threadpool_limits

from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.model_file import SearchSettings, SpeechModel
from asr.acoustic.phone_hmm import PhoneHmm
from asr.align.forward_backward import forward_backward
from asr.decode.path_segments import Segment
from asr.decode.token_passing import scaled
from asr.errors import ConfigError, reason_of
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph
from asr.recipe.recognition import Recognition, search_words
from discriminants.logistic.input_map import InputMap, fit_input_map, identity_map
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.sparse_logistic import SparseKernelLogisticClassifier

log = logging.getLogger(__name__)

_LEAST_OCCUPANCY = 0.03
_MOST_ENTRIES = 1 << 27  # frames times arcs of an utterance for which posteriors are worked out: a gigabyte


class AdaptationSettings(BaseModel):
    """How a hybrid is adapted to the speaker whom it recognises."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sharpness: tuple[float, ...] = (0.05, 0.05, 0.1, 0.2)
    """One number a pass: by what the scores of whole utterances are multiplied before they become posteriors."""
    ridge: float = Field(1e-2, ge=0)
    """How strongly the map is held to the identity."""
    iterations: int = Field(15, ge=1)
    """Steps of each fit."""


@dataclass(frozen=True)
class MappedModel:
    """An acoustic model that sees frames through an affine map."""

    model: HybridAcousticModel
    frame_map: InputMap

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """Scaled log-likelihoods, float32 (n_frames, n_states)."""
        return self.model.log_likelihood(self.frame_map(frames))


def recognise_adapted(
    model: SpeechModel,
    static: FrameTable,
    graph: StateGraph,
    search: SearchSettings | None = None,
    settings: AdaptationSettings = AdaptationSettings(),  # noqa: B008 (frozen)
    *,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> Recognition:
    """Recognise every speaker's utterances with the model adapted to that speaker; parameters as of `recognise`.

    Raises
    ------
    ConfigError
        If the model is no hybrid of a kernel logistic classifier, or the graph is too large for its posteriors.
    """
    acoustic = model.hmm.acoustic_model
    if not isinstance(acoustic, HybridAcousticModel) or not isinstance(
        acoustic.classifier, SparseKernelLogisticClassifier
    ):
        raise ConfigError("only hybrids of the classifier 'kernel-logistic' can be adapted to a speaker")
    longest = int(np.diff(static.offsets).max())
    if longest * graph.n_arcs > _MOST_ENTRIES:
        raise ConfigError(
            f"adapting needs state posteriors of {longest} frames over {graph.n_arcs} arcs, more than a gigabyte; "
            "use a smaller grammar or shorter utterances, or do without"
        )
    started = time.process_time()
    with threadpool_limits(1):
        frames = model.front_end.transform(static)
    seconds = time.process_time() - started
    of_speaker: dict[str, list[str]] = {}
    for name, speaker in zip(frames.ids, frames.speakers, strict=True):
        of_speaker.setdefault(speaker, []).append(name)
    tables = [frames.subset(names) for names in of_speaker.values()]
    workers = in_threads(workers)
    chosen = model.search if search is None else search
    words: dict[str, list[Segment]] = {}
    failed: dict[str, str] = {}
    results = workers.map(_recognise_speaker, tables, workers.share((model.hmm, graph, chosen, settings)))
    for table, (found, own_seconds) in zip(tables, results, strict=True):
        seconds += own_seconds
        for name, segments in zip(table.ids, found, strict=True):
            if isinstance(segments, str):
                failed[name] = segments
            else:
                words[name] = segments
    return Recognition(
        {name: words[name] for name in frames.ids if name in words},
        {name: failed[name] for name in frames.ids if name in failed},
        seconds,
    )


def _recognise_speaker(
    table: FrameTable, constants: tuple[PhoneHmm, StateGraph, SearchSettings, AdaptationSettings]
) -> tuple[list[list[Segment] | str], float]:
    """Words of every utterance of one speaker, or why there are none, and the processor time that this took."""
    hmm, graph, search, settings = constants
    started = time.thread_time()
    acoustic = hmm.acoustic_model
    assert isinstance(acoustic, HybridAcousticModel)
    frame_map = identity_map(table.n_features)
    for sharpness in settings.sharpness:
        adapted = PhoneHmm(hmm.topology, MappedModel(acoustic, frame_map), hmm.self_loops)
        rows, states, weight = _soft_states(adapted, table, graph, search, sharpness)
        codes = np.searchsorted(acoustic.classifier.classes_, states)
        codes = np.minimum(codes, len(acoustic.classifier.classes_) - 1)
        known = acoustic.classifier.classes_[codes] == states  # a state without training frames has no output
        if not known.any():
            break
        frame_map = fit_input_map(
            acoustic.classifier,
            table.frames[rows[known]],
            codes[known],
            weight[known],
            loss=acoustic.classifier.loss,
            ridge=settings.ridge,
            max_iter=settings.iterations,
            start=frame_map,
        )
    adapted = PhoneHmm(hmm.topology, MappedModel(acoustic, frame_map), hmm.self_loops)
    found: list[list[Segment] | str] = []
    for number in range(len(table)):
        frames = table.utterance(number)
        try:
            segments = search_words(adapted, adapted.log_likelihood(frames), graph, search)
        except Exception as error:
            found.append(reason_of(error))
            continue
        reason = f"no path through the grammar fits its {len(frames)} frames"
        found.append(reason if segments is None else segments)
    return found, time.thread_time() - started


def _soft_states(
    hmm: PhoneHmm, table: FrameTable, graph: StateGraph, search: SearchSettings, sharpness: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the table, their probable states under the grammar, and with what probability; int, int and float."""
    flat = _flattened(graph, search, sharpness)
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for number in range(len(table)):
        scores = hmm.log_likelihood(table.utterance(number))
        if not np.isfinite(scores).all():
            continue
        posteriors = forward_backward(sharpness * scores, flat, hmm.topology, hmm.self_loops)
        if posteriors is not None:
            frames, states = np.nonzero(posteriors.states > _LEAST_OCCUPANCY)
            found.append((frames + table.rows(number).start, states, posteriors.states[frames, states]))
    if not found:
        return np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0)
    rows, states, weight = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return rows, states, weight


def _flattened(graph: StateGraph, search: SearchSettings, sharpness: float) -> StateGraph:
    """The graph with the search's scale and penalty in its weights, all multiplied by the sharpness."""
    scale, penalty = sharpness * search.lm_scale, sharpness * search.insertion_penalty
    return replace(
        graph,
        arc_weight=scaled(graph.arc_weight, scale) + penalty * (graph.arc_word >= 0),
        jump_weight=scaled(graph.jump_weight, scale) + penalty * (graph.jump_word >= 0),
        final_weight=scaled(graph.final_weight, scale),
    )
