"""Static features in, words out: front end, state scores and search over the utterances of a table."""

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
from asr.features.silence import silent_utterances
from asr.grammar.filler import FILLER_WORD, without_filler
from asr.hmm.state_graph import StateGraph
from asr.lattices.generation import LatticeBeam
from asr.lattices.lattice import Lattice
from asr.recognition.rejection import rejected
from asr.recognition.search import BATCH_FRAMES, search_lattice, search_path
from asr.recognition.speaker_transforms import frames_of, recognized_maps
from asr.recognition.speech_ratios import SpeechRatios, speech_ratios
from asr.util.errors import DecodeError, Fault, FeatureError, attempt
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.util.blas_threads import one_blas_thread


@dataclass(frozen=True)
class Recognition:
    """What was recognized.

    Attributes
    ----------
    words : mapping of utterance id to word segments
        Times in frames; an utterance in which no path survived is missing here ...
    failed : mapping of utterance id to its fault
        ... and listed here.
    cpu_seconds : float
        Processor time of front end, scoring and search, wherever they ran.
    lattices : mapping of utterance id to lattice
        Where they were asked for, of all utterances in which there are words or might have been.
    ratios : mapping of utterance id to the likelihood ratios of its best path
        Where they were asked for or the search has limits of them, of utterances with words.
    rejected : set of utterance ids
        Those whose words fit less well than the search requires: their only word is the filler.
    """

    words: Mapping[str, list[Segment]]
    failed: Mapping[str, Fault]
    cpu_seconds: float
    lattices: Mapping[str, Lattice] = field(default_factory=dict)
    ratios: Mapping[str, SpeechRatios] = field(default_factory=dict)
    rejected: frozenset[str] = frozenset()

    @property
    def hypotheses(self) -> dict[str, tuple[str, ...]]:
        """The words alone, without the filler."""
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
    """Recognize every utterance of a table. In digital silence, where all samples are 0, there are no words.

    Where the model maps frames by speaker, this takes several passes, unless the maps are given.

    Parameters
    ----------
    static : FrameTable
        Static features; where frames are normalized or mapped by speaker, all of a speaker's utterances should be in
        it.
    graph : StateGraph
        From `compile_graph`.
    search : SearchSettings, optional
        Instead of the model's own.
    maps : mapping of speaker to AffineTransform, optional
        Of the speakers, where the model maps their frames.
    lattice_beam : LatticeBeam, optional
        Also give lattices of what is so near the best path.
    ratios : bool
        Also give likelihood ratios.
    workers : Workers
        Who scores and searches; the words do not depend on it.
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
    """The same without words where all samples are 0: a search always finds some, if only the grammar wants them."""
    silent = silent_utterances(static, model.front_end.config) if model.source == "audio" else set()
    if not silent:
        return found
    failed = {name: fault for name, fault in found.failed.items() if name not in silent}
    words = {name: [] if name in silent else found.words[name] for name in static.ids if name not in failed}
    lattices = {name: lattice for name, lattice in found.lattices.items() if name not in silent}
    ratios = {name: of_one for name, of_one in found.ratios.items() if name not in silent}
    return Recognition(words, failed, found.cpu_seconds, lattices, ratios, found.rejected - silent)


class Found(NamedTuple):
    """Words of an utterance, its lattice and likelihood ratios where they are needed, and whether it is rejected."""

    words: list[Segment]
    lattice: Lattice | None = None
    ratios: SpeechRatios | None = None
    rejected: bool = False


class SearchParts(NamedTuple):
    """What the recognition of every utterance needs; the loop of phones for likelihood ratios."""

    hmm: PhoneHmm
    graph: StateGraph
    search: SearchSettings
    lattice_beam: LatticeBeam | None
    loop: StateGraph | None


def search_parts(
    model: SpeechModel, graph: StateGraph, search: SearchSettings, lattice_beam: LatticeBeam | None, ratios: bool
) -> SearchParts:
    """The parts for a model; the loop if ratios are asked for, or the search rejects utterances by them."""
    loop = phone_loop(model.hmm.topology) if ratios or search.rejects else None
    return SearchParts(model.hmm, graph, search, lattice_beam, loop)


def collected(
    batches: Sequence[FrameTable],
    results: Iterable[tuple[list[Found | Fault], float]],
    cpu_seconds: float,
    progress: Callable[[int], None] | None = None,
) -> Recognition:
    """What `recognize_batch` gave for every batch as one; `cpu_seconds` were spent before."""
    words: dict[str, list[Segment]] = {}
    failed: dict[str, Fault] = {}
    lattices: dict[str, Lattice] = {}
    ratios: dict[str, SpeechRatios] = {}
    rejected: set[str] = set()
    for batch, (found, seconds) in zip(batches, results, strict=True):
        cpu_seconds += seconds
        for name, one in zip(batch.ids, found, strict=True):
            if isinstance(one, Fault):
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


def recognize_batch(batch: FrameTable, parts: SearchParts) -> tuple[list[Found | Fault], float]:
    """What is found in every utterance, or why nothing is, and the processor time that this took."""
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
            f"no sentence of the grammar fits its {len(frames)} frames: too short for any, or too unlike all of them"
        )
    words = word_segments(path, graph, hmm.topology)
    if parts.loop is None or not words:
        return Found(words, lattice)
    ratios = speech_ratios(path, graph, scores, hmm, parts.loop)
    if ratios is not None and rejected(ratios, search):
        return Found([Segment(FILLER_WORD, words[0].start, words[-1].end)], lattice, ratios, rejected=True)
    return Found(words, lattice, ratios)
