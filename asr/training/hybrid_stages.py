"""Stages that train hybrids on the alignment by Gaussian mixtures."""

import json
import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from threadpoolctl import threadpool_limits

from asr.acoustic.composite import CompositeAcousticModel
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.hybrid_training import HybridSettings, train_hybrid, with_second_stream
from asr.acoustic.model_file import SpeechModel, save_model
from asr.acoustic.phone_hmm import PhoneHmm
from asr.acoustic.sequence_training import train_sequences
from asr.acoustic.speaker_adaptive_training import SpeakerAdaptation, of_mapped_frames
from asr.acoustic.vtln import LONGER_AND_SHORTER
from asr.alignment.pause_model import PauseSounds
from asr.decode.graph_compiler import compile_graph
from asr.features.augmentation import Augmentation, between_silences, carried_over, read_noise
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.grammar import arpa_grammar, estimate_ngram
from asr.hmm.topology import Topology
from asr.recognition.speaker_transforms import frames_of_states
from asr.runs.progress import counted
from asr.runs.run import log_stage
from asr.training.config import check_same_static
from asr.training.dataset import Dataset, joined
from asr.training.gmm_stages import AlignedGmms, TrainedSystem, TrainingContext, aligned_states
from asr.util.errors import ConfigError


def train_hybrid_system(
    context: TrainingContext,
    name: str,
    dataset: Dataset,
    mixtures: AlignedGmms,
    settings: HybridSettings,
    features: FeatureConfig,
    *,
    one_stream: TrainedSystem | None = None,
) -> TrainedSystem:
    """Stage `name`: train a hybrid on the mixtures' alignment of the same data.

    `one_stream` is the same hybrid without the second stream, if available; its classifier is reused and its time
    counted. It is not used with realignment. Sequence training, if enabled, is stage `NAME-sequences`. A hybrid that
    stays in memory is trained by every call, without a stage.
    """
    one_stream = None if settings.realignments else one_stream
    check_same_static(context.config.features, features)
    features = features.model_copy(update={"append_static": settings.mixtures > 0})
    check_copies(settings, context.source)

    @threadpool_limits.wrap(limits=1)  # more threads change the order of sums, and so the bytes
    def fit() -> tuple[SpeechModel, list[tuple[float, ...]], str]:
        aligner = mixtures.largest.load()
        speakers = aligner.speakers
        copies, states = training_copies(context, dataset, mixtures.states, settings, features)
        static = _classifier_inputs(context, speakers, dataset, copies, states, settings)
        front_end = _front_end(speakers, features, copies.static if speakers is None else static, states)
        table = front_end.transform(static)
        if one_stream is None:
            graphs = copies.graphs(context.training_lexicon, mixtures.topology) if settings.realignments else {}
            with counted(100, f"{name}: fitting, in %") as finished:
                result = train_hybrid(
                    table,
                    states,
                    graphs,
                    mixtures.topology,
                    aligner.hmm.self_loops,
                    settings,
                    n_unspliced=front_end.n_unspliced_,
                    seed=context.config.seed,
                    workers=context.workers,
                    checkpoint=None if context.in_memory else context.run.checkpoint(name),
                    progress=lambda done, total: finished(100 * done // total),
                )
                finished(100)  # not every classifier reports progress
            hmm, curves = result.hmm, list(result.curves)
        else:
            hmm = _with_mixtures(one_stream, table.frames, states, settings, front_end, context)
            curves = [tuple(curve) for curve in one_stream.curves.values()]
        if settings.recording_noise_model:
            hmm = replace(hmm, pauses=_pause_sounds(table, dataset, states, hmm.topology))
        heard = [words for name, words in dataset.references.items() if name not in mixtures.failed]
        model = SpeechModel(
            hmm,
            front_end,
            context.lexicon,
            context.config.hybrid_search,
            context.source,
            untrained=context.lexicon.untrained_phones(heard),
            speakers=speakers,
        )
        return model, curves, _fit_line(settings, states, curves)

    if context.in_memory:
        started = time.monotonic()
        model, curves, line = fit()
        seconds = time.monotonic() - started
        log_stage(name, seconds, line, level=logging.DEBUG if context.of_fold else logging.INFO)
        return TrainedSystem(context.run.directory / name, seconds, _by_round(curves), model)

    def build(directory: Path) -> str:
        model, curves, line = fit()
        save_model(directory / "hybrid.safetensors", model)
        (directory / "training.json").write_text(json.dumps(curves))
        return line

    directory = context.stage(name, build)
    curves = json.loads((directory / "training.json").read_text())
    of_frames = TrainedSystem(
        directory / "hybrid.safetensors",
        context.run.stage_time(name).wall + (0.0 if one_stream is None else one_stream.seconds),
        _by_round(curves),
    )
    if not settings.n_sequence_epochs:
        return of_frames
    return train_on_sequences(context, f"{name}-sequences", dataset, mixtures, of_frames, settings)


def _with_mixtures(
    one_stream: TrainedSystem,
    frames: np.ndarray,
    states: np.ndarray,
    settings: HybridSettings,
    front_end: FrontEnd,
    context: TrainingContext,
) -> PhoneHmm:
    """Return a trained hybrid of one stream with mixtures as its second stream."""
    hmm = one_stream.load().hmm
    assert isinstance(hmm.acoustic_model, HybridAcousticModel)  # single stream
    n_unspliced = front_end.n_unspliced_
    acoustic = with_second_stream(
        hmm.acoustic_model, frames, states, settings, hmm.topology, n_unspliced=n_unspliced, workers=context.workers
    )
    return PhoneHmm(hmm.topology, acoustic, hmm.self_loops)


def _by_round(curves: Sequence[Sequence[float]]) -> dict[str, Sequence[float]]:
    return {f"round {number}, loss by pass": curve for number, curve in enumerate(curves)}


def _fit_line(settings: HybridSettings, states: np.ndarray, curves: Sequence[Sequence[float]]) -> str:
    """Return classifier, number of frames and last loss, for the log."""
    loss = f", loss {curves[-1][-1]:.3f}" if curves and curves[-1] else ""
    return f"{settings.classifier_name} on {int((states >= 0).sum()):,} frames{loss}"


def _pause_sounds(table: FrameTable, dataset: Dataset, states: np.ndarray, topology: Topology) -> PauseSounds | None:
    """Collect pause sounds from the original utterances, which come first in the table."""
    n_utterances, n_frames = len(dataset.static), dataset.static.n_frames
    ids, speakers, offsets = table.ids[:n_utterances], table.speakers[:n_utterances], table.offsets[: n_utterances + 1]
    own, states = FrameTable(ids, speakers, table.frames[:n_frames], offsets), states[:n_frames]
    n_silence = len(topology.silence_states)
    return PauseSounds.learnt(own, (states >= 0) & (states < n_silence), states >= n_silence, dataset.frame_shift)


def train_on_sequences(
    context: TrainingContext,
    name: str,
    dataset: Dataset,
    mixtures: AlignedGmms,
    hybrid: TrainedSystem,
    settings: HybridSettings,
) -> TrainedSystem:
    """Stage `name`: train a hybrid's classifier on sequences, after its training on frames of the same data.

    The hybrid realigns all data that the mixtures could align. Sequences, including copies, are decoded with a unigram
    grammar. The time includes the hybrid's.
    """

    @threadpool_limits.wrap(limits=1)
    def build(directory: Path) -> str:
        model = hybrid.load()
        states = np.where(mixtures.states < 0, -1, aligned_states(context, hybrid, dataset))
        copies, states = training_copies(context, dataset, states, settings, context.config.features)
        table = model.front_end.transform(
            _classifier_inputs(context, model.speakers, dataset, copies, states, settings)
        )
        heard = [words for name, words in dataset.references.items() if name not in mixtures.failed]
        grammar = arpa_grammar(estimate_ngram(context.marked(heard), 1))
        passes = settings.n_sequence_epochs
        with counted(passes * len(table), f"{name}: utterances and copies, passes together") as finished:
            shares = train_sequences(
                model.hmm,
                table,
                states,
                compile_graph(context.lexicon, grammar, model.hmm.topology),
                context.config.hybrid_search,
                passes=passes,
                seed=context.config.seed,
                workers=context.workers,
                progress=finished,
            )
        save_model(directory / "hybrid.safetensors", model)
        (directory / "training.json").write_text(json.dumps(shares))
        return f"expected phone accuracy {shares[-1]:.2f} %" if shares else "no sequence could be decoded"

    directory = context.stage(name, build)
    shares = json.loads((directory / "training.json").read_text())
    return TrainedSystem(
        directory / "hybrid.safetensors",
        context.run.stage_time(name).wall + hybrid.seconds,
        {**hybrid.curves, "sequences, % of training frames expected in the right phone by pass": shares},
    )


def training_copies(
    context: TrainingContext, dataset: Dataset, states: np.ndarray, settings: HybridSettings, features: FeatureConfig
) -> tuple[Dataset, np.ndarray]:
    """Return the data with its warped, speed-perturbed and noisy copies, and the states of all frames.

    Warped and noisy copies have the original `states`, int32 (n_frames,). In copies at another speed each frame has the
    state at the corresponding time of the original.
    """
    vtlp_warps = settings.vtlp_warps
    if vtlp_warps == "auto":
        vtlp_warps = LONGER_AND_SHORTER if context.source == "audio" and features.has_cepstra else ()
    parts, labels = [dataset], [states]
    if vtlp_warps:
        source, own = dataset, states
        if settings.augment_silence_ms and context.source == "audio":
            silence = Augmentation(silence_ms=settings.augment_silence_ms)
            source, own = _augmented(context, dataset, states, silence, features)
        parts.append(source.warped(vtlp_warps, features))
        labels.append(np.tile(own, len(vtlp_warps)))
    augmentations = [Augmentation(speed=speed) for speed in settings.speed_perturb]
    if settings.noise is not None:
        clips = read_noise(settings.noise.directory)
        augmentations += [
            Augmentation(noise=clips, snr_db=level, seed=context.config.seed + number)
            for number, level in enumerate(settings.noise.snr_db)
        ]
    for augmentation in augmentations:
        copy, own = _augmented(context, dataset, states, augmentation, features)
        parts.append(copy)
        labels.append(own)
    return (joined(parts) if len(parts) > 1 else dataset), np.concatenate(labels)


def _augmented(
    context: TrainingContext, dataset: Dataset, states: np.ndarray, augmentation: Augmentation, features: FeatureConfig
) -> tuple[Dataset, np.ndarray]:
    """Return a modified copy of the data, with states from the original."""
    copy = dataset.augmented(augmentation, features, workers=context.workers)
    silence = context.topology.silence_states
    labels = []
    for number, name in enumerate(copy.static.ids):
        original = states[dataset.static.rows(name.removesuffix(f"/{augmentation.name}"))]
        n_frames = len(copy.static.utterance(number))
        if augmentation.silence_ms:
            labels.append(between_silences(original, n_frames, silence))
        else:
            labels.append(carried_over(original, n_frames, augmentation.speed))
    return copy, np.concatenate(labels)


def frame_accuracy(model: SpeechModel, dataset: Dataset, states: np.ndarray) -> float:
    """Return the percentage of frames whose most probable state is the aligned one; state -1 is ignored."""
    acoustic = model.hmm.acoustic_model
    if not isinstance(acoustic, HybridAcousticModel | CompositeAcousticModel):
        raise ConfigError("frame accuracy requires a hybrid")
    with threadpool_limits(1):
        frames = frames_of_states(model, dataset.static, states).frames
        correct = sum(
            int((acoustic.log_posterior(frames[start : start + 8192]).argmax(1) == states[start : start + 8192]).sum())
            for start in range(0, len(frames), 8192)
        )
    return 100.0 * correct / max(1, int((states >= 0).sum()))


def _front_end(
    speakers: SpeakerAdaptation | None, config: FeatureConfig, static: FrameTable, states: np.ndarray
) -> FrontEnd:
    """Fit a front end to static features, or to speaker-transformed frames."""
    return FrontEnd(config if speakers is None else of_mapped_frames(config)).fit(static, states)


def _mapped(
    context: TrainingContext, speakers: SpeakerAdaptation | None, static: FrameTable, states: np.ndarray
) -> FrameTable:
    """Return the front end's input: static features, with speaker transforms if enabled."""
    if speakers is None:
        return static
    return speakers.frames(static, speakers.of_states(static, states, workers=context.workers))


def _classifier_inputs(
    context: TrainingContext,
    speakers: SpeakerAdaptation | None,
    dataset: Dataset,
    copies: Dataset,
    states: np.ndarray,
    settings: HybridSettings,
) -> FrameTable:
    """Return the front end's input for the data followed by its copies.

    If enabled, each copy has its own transform, estimated as if it were its speaker's only data, or none. The
    classifier then also learns from poorly normalized speech.
    """
    if not settings.augment_as_unadapted:
        return _mapped(context, speakers, copies.static, states)
    alone = copies.static.each_alone(copies.static.ids[len(dataset.static) :])
    if speakers is None:
        return alone
    maps = speakers.of_states(dataset.static, states[: dataset.static.n_frames], workers=context.workers)
    return speakers.frames(alone, maps)


def check_copies(settings: HybridSettings, source: Literal["audio", "archive"]) -> None:
    """Raise ConfigError for audio augmentation of feature archives, and CorpusError for unusable noise."""
    if source == "archive" and (settings.speed_perturb or settings.noise):
        raise ConfigError(
            "speed_perturb and noise require audio, but these features come from an archive; remove both settings, or "
            "use audio"
        )
    if settings.noise is not None:
        read_noise(settings.noise.directory)
