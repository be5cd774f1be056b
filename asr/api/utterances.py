"""Recognition and alignment of single utterances, or of several with known speakers, and frames for pictures."""

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from scipy.special import softmax

from asr.acoustic.given_scores import score_columns
from asr.acoustic.model_file import SpeechModel
from asr.alignment.forced_alignment import align_utterance
from asr.alignment.frame_times import FrameTimes
from asr.alignment.interval_trust import interval_trust
from asr.alignment.transcript_graph import transcript_graph
from asr.alignment.transcript_scores import free_path, phone_loop
from asr.api.results import Alignment, Result, timed_phones, timed_words
from asr.api.sound import Audio, GivenFrames, Sound, kept_audio, load_samples, load_sound, source_of
from asr.decode.path_segments import frame_states, phone_segments, word_segments
from asr.features.extraction import find_outlier_utterances
from asr.features.frame_table import FrameTable
from asr.features.pieces import Pieces, divided
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology
from asr.lattices.concatenation import concatenated
from asr.lattices.lattice import Lattice
from asr.recognition.audio_checks import few_words, level_faults
from asr.recognition.decoder import Recognition, recognize
from asr.recognition.lattice_outputs import OutputOptions, with_lattices
from asr.recognition.long_recordings import joined, lattice_parts, searched_seconds
from asr.recognition.multipass import AdaptationMethod, adaptable_model, recognize_speakers
from asr.recognition.speaker_transforms import aligned_maps, frames_of
from asr.recognition.vocabulary import other_case
from asr.runs.progress import counted
from asr.util.errors import AlignmentError, AudioWarning, ConfigError, DecodeError, Issue, LexiconError, attempt
from discriminants.parallel.threads import ThreadWorkers
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.util.blas_threads import one_blas_thread


def recognize_audio(
    audio: Audio | GivenFrames, rate: int | None, model: SpeechModel, graph: StateGraph, outputs: OutputOptions
) -> Result:
    """Recognize one utterance, normalized by itself.

    Raises CorpusError or FeatureError as in `load_sound`, and DecodeError if no path fits.
    """
    sound = _load(audio, rate, model)
    found = joined(*_recognize_sound(sound, model, graph, outputs))
    for fault in found.failed.values():
        raise DecodeError(f"{sound.source}: {fault.message}", code=fault.code)
    return _result(model, sound, found, "audio", graph, outputs)


def audio_lattice(audio: Audio, rate: int | None, model: SpeechModel, graph: StateGraph, beam: float | None) -> Lattice:
    """Return the lattice of one utterance, normalized by itself; errors as in `recognize_audio`."""
    sound = _load(audio, rate, model)
    found = _recognize_sound(sound, model, graph, OutputOptions(beam=beam, confidence=True))
    for fault in joined(*found).failed.values():
        raise DecodeError(f"{sound.source}: {fault.message}", code=fault.code)
    parts = lattice_parts(*found)
    if not parts:
        raise DecodeError(f"{sound.source}: all samples are 0, so it contains no speech", code="silent")
    return concatenated(parts["audio"], len(sound.static))


def _recognize_sound(
    sound: Sound, model: SpeechModel, graph: StateGraph, outputs: OutputOptions
) -> tuple[Recognition, Pieces]:
    pieces = divided(_table({"audio": sound}, {"audio": "speaker"}), model.front_end.config)
    beam = outputs.lattice_beam(model.search)
    found = recognize(model, pieces.table, graph, lattice_beam=beam, ratios=outputs.ratios)
    return with_lattices(found, outputs, model.search), pieces


ResultType = TypeVar("ResultType", Result, Alignment)


def emit_warnings(found: ResultType) -> ResultType:
    """Return `found` after issuing its warnings as `AudioWarning`, at the line that called this package."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("asr.api."):
        frame, level = frame.f_back, level + 1
    for one in found.warnings:
        warnings.warn(f"{found.source}: {one.message}", AudioWarning, stacklevel=level)
    return found


def recognize_audio_or_fault(
    audio: Audio | GivenFrames, rate: int | None, model: SpeechModel, graph: StateGraph, outputs: OutputOptions
) -> Result:
    """Recognize one utterance, or return a result with an `error`."""
    found = attempt(recognize_audio, audio, rate, model, graph, outputs)
    return Result((), 0.0, source_of(audio), found) if isinstance(found, Issue) else found


@dataclass(frozen=True)
class SpeakerOptions:
    """Options of recognition by speaker, see `Recognizer.recognize_all`."""

    adapt: bool | AdaptationMethod
    speaker_transforms: Path | None
    outputs: OutputOptions


def recognize_speaker_audio(
    audio: Audio | GivenFrames,
    rate: int | None,
    speaker: str,
    model: SpeechModel,
    graph: StateGraph,
    options: SpeakerOptions,
) -> Result:
    """Recognize one utterance in one or several passes, as requested.

    Raises ConfigError if the model cannot be adapted; other errors as in `recognize_audio`.
    """
    model = adaptable_model(model, options.adapt, options.speaker_transforms)
    sound = _load(audio, rate, model)
    found = _recognize_sounds({"audio": sound}, {"audio": speaker}, model, graph, options, SerialWorkers())
    for fault in found.failed.values():
        raise DecodeError(f"{sound.source}: {fault.message}", code=fault.code)
    return _result(model, sound, found, "audio", graph, options.outputs)


def recognize_speakers_audio(
    audios: Sequence[Audio | GivenFrames],
    rate: int | None,
    speakers: str | Sequence[str],
    model: SpeechModel,
    graph: StateGraph,
    options: SpeakerOptions,
    *,
    workers: Workers,
) -> list[Result]:
    """Recognize all utterances, normalized by speaker (see `Recognizer.recognize_all`)."""
    model = adaptable_model(model, options.adapt, options.speaker_transforms)
    names = [speakers] * len(audios) if isinstance(speakers, str) else list(speakers)
    if len(names) != len(audios):
        raise ConfigError(f"{len(names)} speakers for {len(audios)} utterances. Expected one for each utterance")
    ids = [str(number) for number in range(len(audios))]
    of_id = dict(zip(ids, audios, strict=True))
    loaded = workers.map(partial(_loaded, rate=rate, model=model), audios)
    sounds: dict[str, Sound] = {}
    faults: dict[str, Issue] = {}
    with counted(len(ids), "features") as finished:
        for number, (name, sound) in enumerate(zip(ids, loaded, strict=True), 1):
            finished(number)
            if isinstance(sound, Issue):
                faults[name] = sound
            else:
                sounds[name] = sound
    kept = list(sounds)
    for number, fault in find_outlier_utterances([sound.static for sound in sounds.values()]).items():
        faults[kept[number]] = fault
        del sounds[kept[number]]
    results = {name: Result((), 0.0, source_of(of_id[name]), fault) for name, fault in faults.items()}
    if sounds:
        found = _recognize_sounds(sounds, dict(zip(ids, names, strict=True)), model, graph, options, workers)
        for name in (*found.words, *found.failed):
            result = _result(model, sounds[name], found, name, graph, options.outputs)
            results[name] = replace(result, error=found.failed.get(name))
    return [results[name] for name in ids]


def _recognize_sounds(
    sounds: dict[str, Sound],
    speakers: dict[str, str],
    model: SpeechModel,
    graph: StateGraph,
    options: SpeakerOptions,
    workers: Workers,
) -> Recognition:
    pieces = divided(_table(sounds, speakers), model.front_end.config)
    found = recognize_speakers(
        model,
        pieces.table,
        graph,
        adapt=options.adapt,
        speaker_transforms=options.speaker_transforms,
        lattice_beam=options.outputs.lattice_beam(model.search),
        ratios=options.outputs.ratios,
        workers=workers,
    )
    return joined(with_lattices(found, options.outputs, model.search), pieces)


def align_audio(audio: Audio, words: tuple[str, ...], rate: int | None, model: SpeechModel) -> Alignment:
    """Find the times of each word and phone of one utterance (see `Recognizer.align`)."""
    unknown = sorted({word for word in words if word not in model.lexicon})
    if unknown:
        hint = other_case(unknown, model.lexicon, of_file=False)
        remedy = f"; {hint}" if hint else ". Use add_word for each of them first"
        raise LexiconError(f"The model has no pronunciation for {', '.join(unknown)}{remedy}")
    sound = _load(audio, rate, model)
    topology = model.hmm.topology
    graph = transcript_graph(words, model.lexicon, topology)
    with one_blas_thread():
        static = _table({"audio": sound}, {"audio": "speaker"})
        frames = frames_of(model, static, aligned_maps(model, static, {"audio": graph})).frames
        scores = model.hmm.recording_scores(frames)
    found = align_utterance(scores, graph, topology, model.hmm.self_loops)
    if isinstance(found, Issue):
        raise AlignmentError(f"{sound.source}: {found.message}", code=found.code)
    loop = phone_loop(topology)
    free = free_path(scores, loop, topology, model.hmm.self_loops)
    if isinstance(free, Issue):
        raise AlignmentError(f"{sound.source}: {free.message}", code=free.code)
    trust = interval_trust(scores, found.path, graph, free, loop, topology, model.hmm.self_loops)
    times = _times(model, sound)
    timed = timed_words(word_segments(found.path, graph, topology), times)
    phones = timed_phones(phone_segments(found.path, graph, topology), times)
    return Alignment(
        tuple(replace(word, trust=value) for word, value in zip(timed, trust.words, strict=True)),
        tuple(replace(phone, trust=value) for phone, value in zip(phones, trust.phones, strict=True)),
        round(sound.seconds, 4),
        sound.source,
        sound.unusual,
        trust.transcript,
        AlignedFrames(
            *state_rows(scores, frame_states(found.path, graph, topology), topology),
            [times.border(frame) for frame in range(len(scores) + 1)],
            model.front_end.config.sample_rate,
            kept_audio(audio, rate),
        ),
    )


def _loaded(audio: Audio | GivenFrames, rate: int | None, model: SpeechModel) -> Sound | Issue:
    return attempt(_load, audio, rate, model)


def _load(audio: Audio | GivenFrames, rate: int | None, model: SpeechModel) -> Sound:
    return load_sound(audio, rate, model.front_end.config, score_columns(model))


def _table(sounds: dict[str, Sound], speakers: dict[str, str]) -> FrameTable:
    matrices: list[np.ndarray] = [sound.static for sound in sounds.values()]
    return FrameTable.from_utterances(sounds, [speakers[name] for name in sounds], matrices)


def _times(model: SpeechModel, sound: Sound) -> FrameTimes:
    return FrameTimes.of(model.front_end.config, len(sound.static), sound.seconds)


def _result(
    model: SpeechModel, sound: Sound, found: Recognition, name: str, graph: StateGraph, outputs: OutputOptions
) -> Result:
    ratios = found.ratios.get(name)
    words = timed_words(found.words.get(name, ()), _times(model, sound), ratios)
    phone_llr, silence_llr = (ratios and ratios.whole()) or (None, None)
    few = few_words(searched_seconds(sound.seconds), graph)
    levels = level_faults(model, _table({"audio": sound}, {"audio": "speaker"}))
    unusual = (*sound.unusual, *levels.values(), *(() if few is None else (few,)))
    calibrated = outputs.calibrated(model.search)
    seconds = round(sound.seconds, 4)
    return Result(words, seconds, sound.source, None, unusual, phone_llr, silence_llr, calibrated)


def threads(jobs: int) -> SerialWorkers:
    """Return workers with this number of threads; ConfigError if it is less than one."""
    if jobs < 1:
        raise ConfigError(f"jobs={jobs}. Expected at least 1")
    return SerialWorkers() if jobs == 1 else ThreadWorkers(jobs)


@dataclass(frozen=True)
class AlignedFrames:
    """Posteriors of the states of an alignment, in the order in which it reaches them, and its audio."""

    posteriors: np.ndarray  # float32 (n_frames, n_rows)
    rows: np.ndarray  # int64 (n_frames,); column of each frame's state
    phones: Sequence[str]  # phone of each column
    borders: Sequence[float]  # n_frames + 1 times in seconds
    rate: int  # Hz, of the model
    audio: Audio | None  # None for a file object, which has been read

    def samples(self, audio: Audio | None) -> np.ndarray:
        """Return the samples of the given audio or the alignment's own, float32 (n,) at `rate` Hz, 16-bit scale."""
        given = self.audio if audio is None else audio
        if given is None:
            raise ConfigError("the audio was a file object, which was read. Use plot(audio=...)")
        return load_samples(given, self.rate)


def state_rows(
    scores: np.ndarray, states: np.ndarray, topology: Topology
) -> tuple[np.ndarray, np.ndarray, Sequence[str]]:
    """Return the first three fields of `AlignedFrames` for a path.

    Parameters
    ----------
    scores : float32 (n_frames, n_states)
        Log-likelihoods of the states.
    states : int32 (n_frames,)
        States of the path.
    """
    reached, first, rows = np.unique(states, return_index=True, return_inverse=True)
    order = np.argsort(first)
    shown = reached[order]
    names = [topology.phone_names[phone] for phone in topology.unit_phone[shown].tolist()]
    return softmax(scores, axis=1)[:, shown], np.argsort(order)[rows], names
