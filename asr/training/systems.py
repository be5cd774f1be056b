"""Training the systems that recipes compare: the Gaussian mixtures, and the hybrids aligned by them."""

import json
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from threadpoolctl import threadpool_limits

from asr.acoustic.composite import CompositeAcousticModel
from asr.acoustic.context_trees import FRAMES_A_STATE, grow_trees, states_for, tied_states
from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.gmm_training import GmmSettings, mixtures_of_states, train_gmm
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.hybrid_training import HybridSettings, train_hybrid, with_second_stream
from asr.acoustic.mllt import lda_mllt
from asr.acoustic.model_file import SearchSettings, SpeechModel, load_model, save_model
from asr.acoustic.phone_hmm import PhoneHmm
from asr.acoustic.sequence_training import train_sequences
from asr.acoustic.speaker_adaptation import SpeakerAdaptation, of_mapped_frames
from asr.alignment.aligned_table import align_table
from asr.alignment.alignment_check import check_alignment
from asr.alignment.phone_contexts import spoken_phones
from asr.decode.graph_compiler import compile_graph
from asr.errors import ConfigError, Fault
from asr.features.augmentation import Augmentation, carried_over, read_noise
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.files import write_array
from asr.grammar import arpa_grammar, estimate_ngram
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon
from asr.recognition.material import Material, joined
from asr.recognition.speaker_maps import aligned_maps, frames_of, frames_of_states
from asr.runs.progress import counted
from asr.runs.run import Run
from asr.training.config import TrainingConfig, check_same_static
from asr.validation.findings import count
from discriminants.parallel.workers import SerialWorkers, Workers

log = logging.getLogger(__name__)

AUTOMATIC_WARPS = (0.92, 1.08)


@dataclass(frozen=True)
class Workshop:
    """What every training of one corpus shares."""

    run: Run
    lexicon: Lexicon
    config: TrainingConfig
    source: Literal["audio", "archive"]
    workers: Workers = field(default_factory=SerialWorkers)

    @property
    def topology(self) -> Topology:
        """Phones of the lexicon, with silence and short pause, without context."""
        return Topology(self.lexicon.phones, self.config.states_per_phone)


@dataclass(frozen=True)
class Trained:
    """A trained system: where its model is, how long training took, and its training curves by name."""

    path: Path
    seconds: float
    curves: Mapping[str, Sequence[float]]

    def load(self) -> SpeechModel:
        """The model."""
        return load_model(self.path)

    @cached_property
    def topology(self) -> Topology:
        """Of the model, which is read for it once."""
        return self.load().hmm.topology


@dataclass(frozen=True)
class Mixtures:
    """GMM-HMMs by number of components, and the state of every training frame as the largest one aligns it.

    `failed` has the fault of every utterance that it cannot align, whose frames have state -1.
    """

    models: Mapping[int, Trained]
    states: np.ndarray
    failed: Mapping[str, Fault]

    @property
    def largest(self) -> Trained:
        """The model with the most components."""
        return self.models[max(self.models)]

    @property
    def topology(self) -> Topology:
        """Whose states these are."""
        return self.largest.topology


def train_mixtures(
    workshop: Workshop,
    name: str,
    material: Material,
    features: FeatureConfig | None = None,
    *,
    complain: bool = True,
) -> Mixtures:
    """Stage `name`: GMM-HMMs at every number of components; their seconds count from the flat start.

    `features` are those of the workshop's configuration unless given. What looks wrong in the alignment is logged
    unless `complain` is false.
    """
    chosen = workshop.config.features if features is None else features
    check_same_static(workshop.config.features, chosen)

    def build(directory: Path) -> None:
        front_end = FrontEnd(chosen).fit(material.static)
        table = front_end.transform(material.static)
        start = Start(workshop.topology, workshop.config.gmm)
        grow(workshop, name, directory, material, front_end, table, start, complain=complain)

    return grown(workshop, name, build)


def train_tied_mixtures(
    workshop: Workshop, name: str, material: Material, mixtures: Mixtures, *, complain: bool = True
) -> Mixtures:
    """Stage `name`: mixtures of states that depend on a phone's neighbours, as many as the workshop's settings say.

    They grow from the alignment of the same material by `mixtures`, those of phones without context, and see the same
    frames unless the settings want LDA and MLLT. That the speech is too little for any context is logged unless
    `complain` is false.
    """
    config = workshop.config

    def build(directory: Path) -> None:
        earlier = mixtures.largest.load()
        front_end, topology = earlier.front_end, earlier.hmm.topology
        table = front_end.transform(material.static)
        graphs = material.graphs(workshop.lexicon, topology)
        spoken = spoken_phones(mixtures.states, table, graphs, topology)
        wanted = states_for(table.n_frames) if config.tied_states == "auto" else config.tied_states
        tying = grow_trees(table.frames, mixtures.states, spoken, topology, wanted, config.questions)
        tied = replace(topology, tying=tying)
        n_contexts, n_spoken = len(np.unique(spoken.contexts, axis=0)), tied.n_states - tying.n_silence_states
        log.info("%s: %d states for phones in %d contexts; wanted were %d", name, n_spoken, n_contexts, wanted)
        if complain and not len(tying.question_side):
            log.warning(
                "%s: no tree asks a question, so that states depend on no neighbour: %d frames are too few for more "
                "than these %d states, at %d frames each; take `context = 1`, or set `tied_states`",
                name, table.n_frames, n_spoken, FRAMES_A_STATE,
            )  # fmt: skip
        states = tied_states(mixtures.states, spoken, topology, tying)
        if config.tied_gmm.transform == "lda-mllt":
            front_end = lda_mllt(front_end.config, material.static, states, tied.n_states, workers=workshop.workers)
            table = front_end.transform(material.static)
        gaussians = mixtures_of_states(table.frames, states, tied.n_states, 1, workers=workshop.workers)
        like = tied.unit_position + topology.states_per_phone * tied.unit_phone  # the unit of the phone without context
        start = Start(tied, GmmSettings(**config.tied_gmm.model_dump()), (gaussians, earlier.hmm.self_loops[like]))
        grow(workshop, name, directory, material, front_end, table, start, complain=False)

    return grown(workshop, name, build)


@dataclass(frozen=True)
class Start:
    """What mixtures grow from: nothing, or single Gaussians and self-loops; and what maps their frames, if anything."""

    topology: Topology
    settings: GmmSettings
    first: tuple[GaussianMixtures, np.ndarray] | None = None
    speakers: SpeakerAdaptation | None = None


def grow(
    workshop: Workshop,
    name: str,
    directory: Path,
    material: Material,
    front_end: FrontEnd,
    table: FrameTable,
    start: Start,
    *,
    complain: bool,
) -> None:
    """Write a model for every number of components, the alignment by the last and what is to be said of it."""
    started = time.monotonic()
    graphs = material.graphs(workshop.lexicon, start.topology)
    record = {}
    with counted(sum(start.settings.iterations), f"{name}: re-estimations") as finished:
        for n_components, hmm, curve in train_gmm(
            table,
            graphs,
            start.topology,
            start.settings,
            first=start.first,
            frame_shift=material.frame_shift,
            workers=workshop.workers,
            progress=finished,
        ):
            speakers = start.speakers
            if speakers is not None:
                assert isinstance(hmm.acoustic_model, GaussianMixtures)
                speakers = replace(speakers, mapped=hmm.acoustic_model)
            model = SpeechModel(
                hmm,
                front_end,
                workshop.lexicon,
                workshop.config.gmm_search,
                workshop.source,
                untrained=workshop.lexicon.untrained_phones(material.references.values()),
                speakers=speakers,
            )
            save_model(directory / f"gmm-{n_components}.safetensors", model)
            record[n_components] = curve
            workshop.run.note_time(f"{n_components} components", time.monotonic() - started)
    aligned = align_table(hmm.log_likelihood, table, graphs, start.topology, hmm.self_loops, workers=workshop.workers)
    check = check_alignment(aligned.states, table, graphs, start.topology, material.frame_shift)
    log.info("%s: %s", name, check)
    if complain:
        for complaint in check.complaints():
            log.warning("%s: %s", name, complaint)
    (directory / "alignment.json").write_text(json.dumps(check.as_dict(), sort_keys=True), encoding="utf-8")
    write_array(directory / "states.npy", aligned.states)
    (directory / "failed.json").write_text(json.dumps(aligned.failed, sort_keys=True), encoding="utf-8")
    (directory / "training.json").write_text(json.dumps(record))


def grown(workshop: Workshop, name: str, build: Callable[[Path], None]) -> Mixtures:
    """What `grow` wrote in this stage, now or earlier."""
    directory = workshop.run.stage(name, build)
    record = json.loads((directory / "training.json").read_text())
    written = json.loads((directory / "failed.json").read_text(encoding="utf-8"))
    failed = {name: Fault(*fault) for name, fault in written.items()}
    taken = workshop.run.stage_time(name).parts
    models = {
        int(n): Trained(
            directory / f"gmm-{n}.safetensors", taken[f"{n} components"], {"log-likelihood per frame": curve}
        )
        for n, curve in record.items()
    }
    return Mixtures(models, np.load(directory / "states.npy", allow_pickle=False), failed)


def train_hybrid_system(
    workshop: Workshop,
    name: str,
    material: Material,
    mixtures: Mixtures,
    settings: HybridSettings,
    features: FeatureConfig,
    *,
    one_stream: Trained | None = None,
) -> Trained:
    """Stage `name`: a hybrid trained on the alignment of the same material by Gaussian mixtures.

    `one_stream` is the same without a second stream, if it has been trained before: its classifier is taken as it is,
    and its seconds count in. With realignment the two differ, and it is not used. Where sequences are wanted, stage
    `NAME-sequences` goes on from there.
    """
    if settings.realignments:
        one_stream = None
    check_same_static(workshop.config.features, features)
    features = features.model_copy(update={"unspliced": settings.mixtures > 0})
    check_copies(settings, workshop.source)

    @threadpool_limits.wrap(limits=1)  # with more, sums come out in another order, and the bytes with them
    def build(directory: Path) -> None:
        copies, states = training_copies(workshop, material, mixtures.states, settings, features)
        alone = copies.static.ids[len(material.static) :] if settings.copies_alone else ()
        front_end, table, speakers = _mapped_frames(workshop, mixtures, features, copies, states, alone)
        if one_stream is None:
            graphs = copies.graphs(workshop.lexicon, mixtures.topology) if settings.realignments else {}
            with counted(100, f"{name}: fitting, in %") as finished:
                result = train_hybrid(
                    table,
                    states,
                    graphs,
                    mixtures.topology,
                    mixtures.largest.load().hmm.self_loops,
                    settings,
                    n_unspliced=front_end.n_unspliced_,
                    seed=workshop.config.seed,
                    workers=workshop.workers,
                    checkpoint=workshop.run.checkpoint(name),
                    progress=lambda done, total: finished(100 * done // total),
                )
            hmm, curves = result.hmm, list(result.curves)
        else:
            hmm, curves = one_stream.load().hmm, [tuple(curve) for curve in one_stream.curves.values()]
            assert isinstance(hmm.acoustic_model, HybridAcousticModel)  # of one stream
            acoustic = with_second_stream(
                hmm.acoustic_model,
                table.frames,
                states,
                settings,
                hmm.topology,
                n_unspliced=front_end.n_unspliced_,
                workers=workshop.workers,
            )
            hmm = PhoneHmm(hmm.topology, acoustic, hmm.self_loops)
        heard = [words for name, words in material.references.items() if name not in mixtures.failed]
        model = SpeechModel(
            hmm,
            front_end,
            workshop.lexicon,
            workshop.config.hybrid_search,
            workshop.source,
            untrained=workshop.lexicon.untrained_phones(heard),
            speakers=speakers,
        )
        save_model(directory / "hybrid.safetensors", model)
        (directory / "training.json").write_text(json.dumps(curves))

    directory = workshop.run.stage(name, build)
    curves = json.loads((directory / "training.json").read_text())
    of_frames = Trained(
        directory / "hybrid.safetensors",
        workshop.run.stage_time(name).wall + (0.0 if one_stream is None else one_stream.seconds),
        {f"round {number}": curve for number, curve in enumerate(curves)},
    )
    if not settings.passes_over_sequences:
        return of_frames
    return train_on_sequences(workshop, f"{name}-sequences", material, mixtures, of_frames, settings)


def train_on_sequences(
    workshop: Workshop,
    name: str,
    material: Material,
    mixtures: Mixtures,
    hybrid: Trained,
    settings: HybridSettings,
) -> Trained:
    """Stage `name`: a hybrid whose classifier has been trained on frames of this material, trained on its sequences.

    They are aligned by the hybrid, but for utterances that the mixtures could not align, and searched with the
    frequencies of the words as grammar. The hybrid's seconds count in.
    """

    @threadpool_limits.wrap(limits=1)
    def build(directory: Path) -> None:
        model = hybrid.load()
        hmm, passes = model.hmm, settings.passes_over_sequences
        frames = frames_of_states(model, material.static, mixtures.states, workers=workshop.workers)
        graphs = material.graphs(workshop.lexicon, hmm.topology)
        aligned = align_table(
            hmm.log_likelihood, frames, graphs, hmm.topology, hmm.self_loops, workers=workshop.workers
        )
        heard = [words for name, words in material.references.items() if name not in mixtures.failed]
        grammar = arpa_grammar(estimate_ngram(heard, 1))
        with counted(passes * len(frames), f"{name}: utterances in {count(passes, 'pass')}") as finished:
            train_sequences(
                hmm,
                frames,
                np.where(mixtures.states < 0, -1, aligned.states),
                compile_graph(workshop.lexicon, grammar, hmm.topology),
                workshop.config.hybrid_search,
                passes=passes,
                seed=workshop.config.seed,
                workers=workshop.workers,
                progress=finished,
            )
        save_model(directory / "hybrid.safetensors", model)

    directory = workshop.run.stage(name, build)
    return Trained(directory / "hybrid.safetensors", workshop.run.stage_time(name).wall + hybrid.seconds, hybrid.curves)


def train_mixtures_of_states(
    workshop: Workshop,
    name: str,
    material: Material,
    mixtures: Mixtures,
    n_components: int,
    features: FeatureConfig,
) -> Trained:
    """Stage `name`: mixtures of other frames, such as discriminant ones, on the alignment by earlier mixtures.

    They keep the durations of the earlier ones.
    """
    check_same_static(workshop.config.features, features)

    def build(directory: Path) -> None:
        front_end, table, _ = _mapped_frames(workshop, mixtures, features, material, mixtures.states)
        earlier = mixtures.largest.load()
        topology = mixtures.topology
        acoustic = mixtures_of_states(
            table.frames, mixtures.states, topology.n_states, n_components, workers=workshop.workers
        )
        hmm = PhoneHmm(topology, acoustic, earlier.hmm.self_loops)
        save_model(directory / "gmm.safetensors", replace(earlier, hmm=hmm, front_end=front_end))

    directory = workshop.run.stage(name, build)
    return Trained(directory / "gmm.safetensors", workshop.run.stage_time(name).wall, {})


def training_copies(
    workshop: Workshop, material: Material, states: np.ndarray, settings: HybridSettings, features: FeatureConfig
) -> tuple[Material, np.ndarray]:
    """The material with its warped, faster, slower and noisy copies, and the state of every frame of them all.

    Warped and noisy copies keep the states, int32 (n_frames,), of the material; copies at another speed take each
    frame's from its place in the original.
    """
    warps = settings.warps
    if warps == "auto":
        warps = AUTOMATIC_WARPS if workshop.source == "audio" else ()
    parts, labels = [material.warped(warps, features)], [np.tile(states, 1 + len(warps))]
    augmentations = [Augmentation(speed=speed) for speed in settings.speeds]
    if settings.noise is not None:
        clips = read_noise(settings.noise.directory)
        augmentations += [
            Augmentation(noise=clips, snr_db=level, seed=workshop.config.seed + number)
            for number, level in enumerate(settings.noise.snr_db)
        ]
    for augmentation in augmentations:
        copy = material.augmented(augmentation, features, workers=workshop.workers)
        parts.append(copy)
        for number, name in enumerate(copy.static.ids):
            original = states[material.static.rows(name.removesuffix(f"/{augmentation.name}"))]
            labels.append(carried_over(original, len(copy.static.utterance(number)), augmentation.speed))
    return (joined(parts) if augmentations else parts[0]), np.concatenate(labels)


def aligned_states(workshop: Workshop, aligner: Trained, material: Material) -> np.ndarray:
    """State of every frame of the material as a system aligns its transcripts, int32 (n_frames,); -1 where it fails."""
    model = aligner.load()
    graphs = material.graphs(workshop.lexicon, model.hmm.topology)
    maps = aligned_maps(model, material.static, graphs, workers=workshop.workers)
    return align_table(
        model.hmm.log_likelihood,
        frames_of(model, material.static, maps),
        graphs,
        model.hmm.topology,
        model.hmm.self_loops,
        workers=workshop.workers,
    ).states


def frame_accuracy(model: SpeechModel, material: Material, states: np.ndarray) -> float:
    """Share of the frames, in %, whose most probable state under a hybrid is the aligned one; -1 is left out."""
    acoustic = model.hmm.acoustic_model
    if not isinstance(acoustic, HybridAcousticModel | CompositeAcousticModel):
        raise ConfigError("frame accuracy is defined for hybrids, whose scores are posteriors")
    with threadpool_limits(1):
        frames = frames_of_states(model, material.static, states).frames
        correct = sum(
            int((acoustic.log_posterior(frames[start : start + 8192]).argmax(1) == states[start : start + 8192]).sum())
            for start in range(0, len(frames), 8192)
        )
    return 100.0 * correct / max(1, int((states >= 0).sum()))


def with_search(model: SpeechModel, search: SearchSettings, arpa: str | None) -> SpeechModel:
    """The same model with other search settings and default grammar."""
    return replace(model, search=search, arpa=arpa)


def _mapped_frames(
    workshop: Workshop,
    mixtures: Mixtures,
    config: FeatureConfig,
    material: Material,
    states: np.ndarray,
    alone: Collection[str] = (),
) -> tuple[FrontEnd, FrameTable, SpeakerAdaptation | None]:
    """A front end, the frames that it gives of these states, and what mapped them if the mixtures see them so.

    Without maps, utterances that are `alone` have frames as if each were all that is known of its speaker.
    """
    static, speakers = material.static, mixtures.largest.load().speakers
    if speakers is not None:
        config = of_mapped_frames(config)
        static = speakers.frames(static, speakers.of_states(static, states, workers=workshop.workers))
    front_end = FrontEnd(config).fit(static, states)
    if alone and speakers is None:
        static = static.each_alone(alone)
    return front_end, front_end.transform(static), speakers


def check_copies(settings: HybridSettings, source: Literal["audio", "archive"]) -> None:
    """Refuse copies that cannot be made: ConfigError for an archive changed as audio is, CorpusError for bad noise."""
    if source == "archive" and (settings.speeds or settings.noise):
        raise ConfigError(
            "speeds and noise change audio, but these features come from an archive; leave both out, or give audio"
        )
    if settings.noise is not None:
        read_noise(settings.noise.directory)
