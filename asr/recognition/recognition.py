"""Static features in, words out: front end, state scores and search over the utterances of a table."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from asr.acoustic.fmllr import SpeakerMaps
from asr.acoustic.model_file import SearchSettings, SpeechModel
from asr.acoustic.phone_hmm import PhoneHmm
from asr.decode.path_segments import Segment, word_segments
from asr.errors import DecodeError, Fault, FeatureError, attempt
from asr.features.frame_table import NOT_FINITE, FrameTable
from asr.features.silence import silent_utterances
from asr.grammar.filler import without_filler
from asr.hmm.state_graph import StateGraph
from asr.lattices.generation import LatticeBeam
from asr.lattices.lattice import Lattice
from asr.recognition.searching import BATCH_FRAMES, search_lattice, search_words
from asr.recognition.speaker_maps import frames_of, recognized_maps
from discriminants.blas_threads import one_blas_thread
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers


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
    """

    words: Mapping[str, list[Segment]]
    failed: Mapping[str, Fault]
    cpu_seconds: float
    lattices: Mapping[str, Lattice] = field(default_factory=dict)

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
    maps : mapping of speaker to InputMap, optional
        Of the speakers, where the model maps their frames.
    lattice_beam : LatticeBeam, optional
        Also give lattices of what is so near the best path.
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
    results = workers.map(recognize_batch, batches, workers.share((model.hmm, graph, chosen, lattice_beam)))
    return without_silence(collected(batches, results, cpu_seconds, progress), model, static)


def without_silence(found: Recognition, model: SpeechModel, static: FrameTable) -> Recognition:
    """The same without words where all samples are 0: a search always finds some, if only the grammar wants them."""
    silent = silent_utterances(static, model.front_end.config) if model.source == "audio" else set()
    if not silent:
        return found
    failed = {name: fault for name, fault in found.failed.items() if name not in silent}
    words = {name: [] if name in silent else found.words[name] for name in static.ids if name not in failed}
    lattices = {name: lattice for name, lattice in found.lattices.items() if name not in silent}
    return Recognition(words, failed, found.cpu_seconds, lattices)


Found = tuple[list[Segment], Lattice | None]


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
    for batch, (found, seconds) in zip(batches, results, strict=True):
        cpu_seconds += seconds
        for name, one in zip(batch.ids, found, strict=True):
            if isinstance(one, Fault):
                failed[name] = one
            else:
                words[name] = one[0]
                if one[1] is not None:
                    lattices[name] = one[1]
        if progress is not None:
            progress(len(words) + len(failed))
    return Recognition(words, failed, cpu_seconds, lattices)


def recognize_batch(
    batch: FrameTable, constants: tuple[PhoneHmm, StateGraph, SearchSettings, LatticeBeam | None]
) -> tuple[list[Found | Fault], float]:
    """Words of every utterance, or why there are none, and the processor time that this took.

    With a lattice beam, the last of the constants, the lattice of each too.
    """
    started = time.thread_time()
    results = [attempt(_recognize, batch.utterance(number), *constants) for number in range(len(batch))]
    return results, time.thread_time() - started


def _recognize(
    frames: np.ndarray, hmm: PhoneHmm, graph: StateGraph, search: SearchSettings, lattice_beam: LatticeBeam | None
) -> Found:
    if not np.isfinite(frames).all():
        raise FeatureError(NOT_FINITE, code="not-finite")
    scores = hmm.recording_scores(frames)
    if lattice_beam is None:
        segments, lattice = search_words(hmm, scores, graph, search), None
    else:
        path, lattice = search_lattice(hmm, scores, graph, search, lattice_beam)
        segments = None if path is None else word_segments(path, graph, hmm.topology)
    if segments is None:
        raise DecodeError(
            f"no sentence of the grammar fits its {len(frames)} frames: too short for any, or too unlike all of them"
        )
    return segments, lattice
