"""Speaker transforms from recognized words, from known transcripts, or from files of earlier runs."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from asr.acoustic.acoustic_arrays import check_array
from asr.acoustic.fmllr import FmllrSettings, SpeakerMaps, mapped_table
from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.model_file import SpeechModel
from asr.acoustic.model_metadata import MapKind
from asr.acoustic.phone_hmm import PhoneHmm
from asr.acoustic.search_settings import SearchSettings
from asr.acoustic.speaker_adaptive_training import SpeakerAdaptation, as_they_are
from asr.alignment.batch_alignment import align_table
from asr.decode.path_segments import frame_states
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.hmm.state_graph import StateGraph
from asr.recognition.search import BATCH_FRAMES, search_path
from asr.recognition.unknown_words import known_states, with_unknown_phone
from asr.util.errors import ConfigError, ModelFormatError, attempt
from discriminants.logistic.affine_transform import AffineTransform
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.serialization.model_file import load_arrays, save_arrays
from discriminants.util.blas_threads import one_blas_thread
from discriminants.util.errors import DiscriminantError
from discriminants.util.paths import exists

MAPPING_ACTIVE = 500
"""Hypotheses per frame of searches that estimate transforms; on AN4 the final words equal those with 3000."""
FORMAT = "hybrid-asr speaker maps 1"


def frames_of(model: SpeechModel, static: FrameTable, maps: SpeakerMaps) -> FrameTable:
    """Return the frames that a model scores, with speaker transforms if it uses them."""
    return model.front_end.transform(static if model.speakers is None else model.speakers.frames(static, maps))


def recognized_maps(
    model: SpeechModel,
    static: FrameTable,
    graph: StateGraph,
    *,
    known: SpeakerMaps = MappingProxyType({}),
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
    progress: Callable[[int], None] | None = None,
) -> tuple[dict[str, AffineTransform], float]:
    """Return the transform of each speaker, and the processor time; no transforms if the model does not use them.

    The first pass uses the speaker-independent mixtures. The second pass uses the mixtures of transformed frames and
    re-estimates the transforms. `known` transforms are kept. `progress` counts each search of an utterance, two for
    speakers without known transforms.
    """
    strange = [name for name, speaker in zip(static.ids, static.speakers, strict=True) if speaker not in known]
    if model.speakers is None or not strange:
        return dict(known), 0.0
    spent, n_done = 0.0, 0

    def states(hmm: PhoneHmm, frames: FrameTable, search: SearchSettings) -> np.ndarray:
        nonlocal spent, n_done
        threads, batches, found = in_threads(workers), frames.batches(BATCH_FRAMES), []
        results = threads.map(_search_batch, batches, threads.share((hmm, graph, search)))
        for batch, (of_batch, seconds) in zip(batches, results, strict=True):
            found.append(of_batch)
            spent, n_done = spent + seconds, n_done + len(batch)
            if progress is not None:
                progress(n_done)
        return np.concatenate(found)

    maps = _maps(model.speakers, static if not known else static.subset(strange), states, workers)
    return {**known, **maps}, spent


def aligned_maps(
    model: SpeechModel,
    static: FrameTable,
    graphs: Mapping[str, StateGraph],
    *,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> dict[str, AffineTransform]:
    """Return the transform of each speaker from transcript graphs; see `recognized_maps`.

    Raises AlignmentError if no utterance can be aligned.
    """

    def states(hmm: PhoneHmm, frames: FrameTable, search: SearchSettings) -> np.ndarray:
        if len(model.hmm.topology.phones) > len(hmm.topology.phones):  # the graphs have unknown words
            hmm = with_unknown_phone(hmm)
        found = align_table(hmm.log_likelihood, frames, graphs, hmm.topology, hmm.self_loops, workers=workers)
        return known_states(found.states, hmm)

    return {} if model.speakers is None else _maps(model.speakers, static, states, workers)


def frames_of_states(
    model: SpeechModel,
    static: FrameTable,
    states: np.ndarray,
    *,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> FrameTable:
    """Return transformed frames as in `frames_of`, with transforms estimated from states, int32 (n_frames,)."""
    maps = {} if model.speakers is None else model.speakers.of_states(static, states, workers=workers)
    return frames_of(model, static, maps)


def _maps(
    speakers: SpeakerAdaptation,
    static: FrameTable,
    states: Callable[[PhoneHmm, FrameTable, SearchSettings], np.ndarray],
    workers: Workers,
) -> dict[str, AffineTransform]:
    """Estimate transforms in two passes, each from the states under the current transforms."""
    active = min(speakers.search.max_active or MAPPING_ACTIVE, MAPPING_ACTIVE)
    search = speakers.search.model_copy(update={"max_active": active})
    with one_blas_thread():
        frames = speakers.front_end.transform(static)
    maps: dict[str, AffineTransform] = {}
    for hmm in (speakers.first, speakers.second):
        found = states(hmm, mapped_table(frames, maps), search)
        maps = speakers.fit(frames, found, start=maps, workers=workers)
    return maps


def _search_batch(
    batch: FrameTable, constants: tuple[PhoneHmm, StateGraph, SearchSettings]
) -> tuple[np.ndarray, float]:
    """Return the state of every frame, -1 if no sentence fits, and the processor time."""
    hmm, graph, search = constants
    started = time.thread_time()
    states = np.full(batch.n_frames, -1, np.int32)
    for number in range(len(batch)):
        found = attempt(_searched, batch.utterance(number), hmm, graph, search)
        if isinstance(found, np.ndarray):
            states[batch.rows(number)] = found
    return states, time.thread_time() - started


def _searched(frames: np.ndarray, hmm: PhoneHmm, graph: StateGraph, search: SearchSettings) -> np.ndarray | None:
    if not np.isfinite(frames).all():
        return None
    path = search_path(hmm, hmm.log_likelihood(frames), graph, search)
    return None if path is None else frame_states(path, graph, hmm.topology)


def adaptable(model: SpeechModel, maps: MapKind = "fmllr") -> SpeechModel:
    """Return a model that uses speaker transforms: the model itself, or one made from speaker-independent mixtures.

    Raises
    ------
    ConfigError
        For a hybrid of untransformed frames, and a model with another kind of transforms.
    FeatureError
        For "vtln" if frames cannot be warped (`asr.acoustic.vtln.require_cepstra`).
    """
    if model.speakers is not None:
        if model.speakers.maps != maps:
            raise ConfigError(
                f"this model was trained with the speaker transforms {model.speakers.maps!r} and always uses "
                f"them. {maps!r} is not supported"
            )
        return model
    mixtures = model.hmm.acoustic_model
    if not isinstance(mixtures, GaussianMixtures):
        raise ConfigError(
            f"{maps!r} needs Gaussian mixtures, or a hybrid trained with speaker transforms (maps = {maps!r} "
            "under [speakers] in the settings). Use the mixtures of the same training (gmm.safetensors)"
        )
    speakers = SpeakerAdaptation(model.front_end, model.hmm, mixtures, model.search, FmllrSettings(), maps)
    frames = FrameTable.from_utterances(["a"], ["a"], [np.zeros((1, model.front_end.n_features_), np.float32)])
    front_end = FrontEnd(as_they_are(model.front_end.config)).fit(frames)
    return replace(model, front_end=front_end, speakers=speakers)


def save_maps(path: Path, maps: SpeakerMaps, speakers: SpeakerAdaptation) -> None:
    """Write speaker transforms of a model's mixtures; equal transforms give equal bytes."""
    names = sorted(maps)
    n_features = speakers.front_end.n_features_
    arrays = {
        "matrices": np.array([maps[name].matrix for name in names]).reshape(-1, n_features, n_features),
        "offsets": np.array([maps[name].offset for name in names]).reshape(-1, n_features),
    }
    save_arrays(path, arrays, {"format": FORMAT, "speakers": names, "found by": speakers.digest})


def add_maps(path: Path, maps: SpeakerMaps, speakers: SpeakerAdaptation) -> None:
    """Add transforms to a file, safely with concurrent writers; its speakers keep their transforms."""
    with _locked(path.parent):
        known = load_maps(path, speakers) if exists(path) else {}
        save_maps(path, {**maps, **known}, speakers)


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    directory.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def load_maps(path: Path, speakers: SpeakerAdaptation) -> dict[str, AffineTransform]:
    """Read the file of `save_maps`.

    Raises
    ------
    ModelFormatError
        If the file is damaged, is not a transform file, or belongs to another model.
    """
    try:
        arrays, metadata = load_arrays(path)
    except DiscriminantError as error:
        raise ModelFormatError(str(error)) from error
    if metadata.get("format") != FORMAT:
        raise ModelFormatError(
            f"{path}: format is {metadata.get('format')!r}. Expected {FORMAT!r}, a file of speaker transforms"
        )
    if metadata.get("found by") != speakers.digest:
        raise ModelFormatError(
            f"{path}: the speaker transforms are of another model, or not of the type {speakers.maps!r}. Use "
            "another file for this model"
        )
    names = metadata.get("speakers")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ModelFormatError(f"{path}: the speakers are not a list of different names")
    n_features = speakers.front_end.n_features_
    try:
        matrices, offsets = arrays["matrices"], arrays["offsets"]
        check_array("matrices", matrices, (len(names), n_features, n_features))
        check_array("offsets", offsets, (len(names), n_features))
    except (KeyError, ValueError) as error:
        raise ModelFormatError(f"{path}: the speaker transforms are inconsistent: {error}") from error
    return {
        name: AffineTransform(matrix, offset) for name, matrix, offset in zip(names, matrices, offsets, strict=True)
    }
