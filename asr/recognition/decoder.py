"""Recognition of a table of static features: front end, state scores and search."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from asr.acoustic.fmllr import SpeakerMaps
from asr.acoustic.model_file import SearchSettings, SpeechModel
from asr.acoustic.phone_hmm import PhoneHmm
from asr.alignment.transcript_scores import phone_loop
from asr.decode.path_segments import Segment, word_segments
from asr.features.frame_table import NOT_FINITE, FrameTable
from asr.features.level import silent_utterances
from asr.grammar.filler import FILLER_WORD, without_filler
from asr.hmm.state_graph import StateGraph
from asr.lattices.generation import LatticeBeam
from asr.lattices.lattice import Lattice
from asr.recognition.search import BATCH_FRAMES, search_lattice, search_path
from asr.recognition.speaker_transforms import frames_of, recognized_maps
from asr.recognition.speech_ratios import SpeechRatios, rejected, speech_ratios
from asr.util.errors import DecodeError, FeatureError, Issue, attempt
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.util.blas_threads import one_blas_thread


@dataclass(frozen=True)
class Recognition:
    """Results of a recognition."""

    words: Mapping[str, list[Segment]]
    """Word segments by utterance id, times in frames; utterances without a surviving path are missing."""
    failed: Mapping[str, Issue]  # faults of the utterances missing in `words`
    cpu_seconds: float  # processor time of front end, scoring and search over all workers
    lattices: Mapping[str, Lattice] = field(default_factory=dict)
    """Lattices by utterance id, if requested; of all utterances except silent ones."""
    ratios: Mapping[str, SpeechRatios] = field(default_factory=dict)
    """Likelihood ratios of the best paths, if requested or needed by the search; of utterances with words."""
    rejected: frozenset[str] = frozenset()  # utterances whose words were rejected; their only word is the filler

    @property
    def hypotheses(self) -> dict[str, tuple[str, ...]]:
        """Words without the filler."""
        return {name: without_filler(part.label for part in segments) for name, segments in self.words.items()}


def recognize(
    model: SpeechModel,
    static: FrameTable,
    graph: StateGraph,
    search: SearchSettings | None = None,
    *,
    maps: SpeakerMaps | None = None,
    lattice_beam: LatticeBeam | None = None,
    ratios: bool = False,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
    progress: Callable[[int], None] | None = None,
) -> Recognition:
    """Recognize every utterance of a table; digital silence (all samples 0) has no words.

    Models with speaker transforms take several passes unless `maps` are given.

    Parameters
    ----------
    static : FrameTable
        Static features, with all utterances of a speaker if frames are normalized or transformed by speaker.
    graph : StateGraph
        From `compile_graph`.
    search : SearchSettings, optional
        Default: the model's own.
    maps : mapping of speaker to AffineTransform, optional
        Speaker transforms, for models that use them.
    lattice_beam : LatticeBeam, optional
        Also return lattices with this beam.
    ratios : bool
        Also return likelihood ratios.
    workers : Workers
        Workers for scoring and search; results do not depend on them.
    progress : callable, optional
        Called with the number of utterances recognized so far.
    """
    chosen = model.search if search is None else search
    cpu_seconds = 0.0
    if maps is None:
        maps, cpu_seconds = recognized_maps(model, static, graph, workers=workers)
    started = time.process_time()
    with one_blas_thread():
        frames = frames_of(model, static, maps)
    cpu_seconds += time.process_time() - started
    workers, batches = in_threads(workers), frames.batches(BATCH_FRAMES)
    results = workers.map(
        recognize_batch, batches, workers.share(search_parts(model, graph, chosen, lattice_beam, ratios))
    )
    return without_silence(collected(batches, results, cpu_seconds, progress), model, static)


def without_silence(found: Recognition, model: SpeechModel, static: FrameTable) -> Recognition:
    """Remove words of digital silence; a grammar may force a search to find some."""
    silent = silent_utterances(static, model.front_end.config) if model.source == "audio" else set()
    if not silent:
        return found
    failed = {name: fault for name, fault in found.failed.items() if name not in silent}
    words = {name: [] if name in silent else found.words[name] for name in static.ids if name not in failed}
    lattices = {name: lattice for name, lattice in found.lattices.items() if name not in silent}
    ratios = {name: of_one for name, of_one in found.ratios.items() if name not in silent}
    return Recognition(words, failed, found.cpu_seconds, lattices, ratios, found.rejected - silent)


class Found(NamedTuple):
    """Words of an utterance, its lattice and likelihood ratios if needed, and whether it is rejected."""

    words: list[Segment]
    lattice: Lattice | None = None
    ratios: SpeechRatios | None = None
    rejected: bool = False


class SearchParts(NamedTuple):
    """Shared objects of the recognition of all utterances, with the phone loop of the likelihood ratios."""

    hmm: PhoneHmm
    graph: StateGraph
    search: SearchSettings
    lattice_beam: LatticeBeam | None
    loop: StateGraph | None


def search_parts(
    model: SpeechModel, graph: StateGraph, search: SearchSettings, lattice_beam: LatticeBeam | None, ratios: bool
) -> SearchParts:
    """Return the shared objects of a model; the phone loop if ratios are requested or used for rejection."""
    loop = phone_loop(model.hmm.topology) if ratios or search.rejects else None
    return SearchParts(model.hmm, graph, search, lattice_beam, loop)


def collected(
    batches: Sequence[FrameTable],
    results: Iterable[tuple[list[Found | Issue], float]],
    cpu_seconds: float,
    progress: Callable[[int], None] | None = None,
) -> Recognition:
    """Combine the results of `recognize_batch`; `cpu_seconds` is added to the time."""
    words: dict[str, list[Segment]] = {}
    failed: dict[str, Issue] = {}
    lattices: dict[str, Lattice] = {}
    ratios: dict[str, SpeechRatios] = {}
    rejected: set[str] = set()
    for batch, (found, seconds) in zip(batches, results, strict=True):
        cpu_seconds += seconds
        for name, one in zip(batch.ids, found, strict=True):
            if isinstance(one, Issue):
                failed[name] = one
            else:
                words[name] = one.words
                if one.lattice is not None:
                    lattices[name] = one.lattice
                if one.ratios is not None:
                    ratios[name] = one.ratios
                if one.rejected:
                    rejected.add(name)
        if progress is not None:
            progress(len(words) + len(failed))
    return Recognition(words, failed, cpu_seconds, lattices, ratios, frozenset(rejected))


def recognize_batch(batch: FrameTable, parts: SearchParts) -> tuple[list[Found | Issue], float]:
    """Return the result or fault of each utterance, and the processor time."""
    started = time.thread_time()
    results = [attempt(_recognize, batch.utterance(number), parts) for number in range(len(batch))]
    return results, time.thread_time() - started


def _recognize(frames: np.ndarray, parts: SearchParts) -> Found:
    if not np.isfinite(frames).all():
        raise FeatureError(NOT_FINITE, code="not-finite")
    hmm, graph, search = parts.hmm, parts.graph, parts.search
    scores = hmm.recording_scores(frames)
    lattice = None
    if parts.lattice_beam is None:
        path = search_path(hmm, scores, graph, search)
    else:
        path, lattice = search_lattice(hmm, scores, graph, search, parts.lattice_beam)
    if path is None:
        raise DecodeError(
            f"no sentence of the grammar fits the {len(frames)} frames: the audio is too short, or too different "
            "from all sentences"
        )
    words = word_segments(path, graph, hmm.topology)
    if parts.loop is None or not words:
        return Found(words, lattice)
    ratios = speech_ratios(path, graph, scores, hmm, parts.loop)
    if ratios is not None and rejected(ratios, search):
        return Found([Segment(FILLER_WORD, words[0].start, words[-1].end)], lattice, ratios, rejected=True)
    return Found(words, lattice, ratios)
