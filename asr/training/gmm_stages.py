"""Stages that train Gaussian mixtures, which provide the alignments for hybrids."""

import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from asr.acoustic.context_trees import FRAMES_A_STATE, grow_trees, states_for, tied_states
from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.gmm_training import GmmSettings, GrowthSettings, train_gmm
from asr.acoustic.mllt import lda_mllt
from asr.acoustic.model_file import SearchSettings, SpeechModel, load_model, save_model
from asr.acoustic.speaker_adaptive_training import SpeakerAdaptation
from asr.acoustic.state_mixtures import mixtures_of_states
from asr.alignment.alignment_check import check_alignment
from asr.alignment.batch_alignment import align_table
from asr.alignment.phone_contexts import spoken_phones
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.grammar.ngram import UNKNOWN
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon
from asr.recognition.speaker_transforms import aligned_maps, frames_of
from asr.recognition.unknown_words import unknown_phone, with_unknown_words
from asr.runs.progress import counted
from asr.runs.run import Run
from asr.training.config import TrainingConfig, check_same_static
from asr.training.dataset import Dataset
from asr.util.counted_text import count
from asr.util.errors import Issue
from asr.util.files import write_array
from discriminants.parallel.workers import SerialWorkers, Workers

if TYPE_CHECKING:
    from asr.training.given_alignment import GivenAlignment

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrainingContext:
    """Objects shared by all training stages of a corpus."""

    run: Run
    lexicon: Lexicon
    config: TrainingConfig
    source: Literal["audio", "archive"]
    workers: Workers = field(default_factory=SerialWorkers)
    unknown: tuple[str, ...] = ()
    """Words of the transcripts that the lexicon lacks."""
    given: "GivenAlignment | None" = None
    """Phone boundaries for training, if given."""
    of_fold: bool = False
    """Whether fold models are trained: their stages and warnings are details of the log."""
    in_memory: bool = False
    """Whether hybrids stay in memory, because no file can hold their classifier."""

    def stage(self, name: str, build: Callable[[Path], str | None]) -> Path:
        """Return the directory of a stage of the run, as `Run.stage` does."""
        return self.run.stage(name, build, level=logging.DEBUG if self.of_fold else logging.INFO)

    def warn(self, message: str, *values: object) -> None:
        """Log a warning about the final models; for fold models, a detail."""
        log.log(logging.DEBUG if self.of_fold else logging.WARNING, message, *values)

    @cached_property
    def training_lexicon(self) -> Lexicon:
        """Lexicon of the transcripts: unknown words are a phone of their own, which the model's lexicon lacks."""
        if not self.unknown:
            return self.lexicon
        return with_unknown_words(self.lexicon, self.unknown, unknown_phone(self.lexicon.phones))

    def marked(self, transcripts: Iterable[Sequence[str]]) -> list[list[str]]:
        """Return the transcripts with `<unk>` for unknown words, for an n-gram."""
        return [[word if word in self.lexicon else UNKNOWN for word in words] for words in transcripts]

    @property
    def topology(self) -> Topology:
        """Topology of the phones of the transcripts, silence and short pause, without context."""
        return Topology(self.training_lexicon.phones, self.config.states_per_phone)


@dataclass(frozen=True)
class TrainedSystem:
    """Trained system: its model file, training time and training curves by name."""

    path: Path
    seconds: float
    curves: Mapping[str, Sequence[float]]
    in_memory: SpeechModel | None = None
    """The model if no file can hold its classifier; there is no file then."""

    def load(self) -> SpeechModel:
        """Load the model."""
        return load_model(self.path) if self.in_memory is None else self.in_memory

    @cached_property
    def topology(self) -> Topology:
        """Topology of the model, read once."""
        return self.load().hmm.topology


@dataclass(frozen=True)
class AlignedGmms:
    """GMM-HMMs by number of components, and the frame states aligned by the largest one.

    `failed` has the fault of each utterance that could not be aligned; its frames have state -1.
    """

    models: Mapping[int, TrainedSystem]
    states: np.ndarray
    failed: Mapping[str, Issue]

    @property
    def largest(self) -> TrainedSystem:
        """Model with the most components."""
        return self.models[max(self.models)]

    @property
    def topology(self) -> Topology:
        """Topology of the states."""
        return self.largest.topology


def train_mixtures(
    context: TrainingContext,
    name: str,
    dataset: Dataset,
    features: FeatureConfig | None = None,
) -> AlignedGmms:
    """Stage `name`: train GMM-HMMs with each number of components; times are measured from the flat start.

    `features` default to those of the context's configuration.
    """
    chosen = context.config.features if features is None else features
    check_same_static(context.config.features, chosen)

    def build(directory: Path) -> str:
        front_end = FrontEnd(chosen).fit(dataset.static)
        table = front_end.transform(dataset.static)
        start = GmmInit(context.topology, context.config.gmm)
        return train_gmm_stage(context, name, directory, dataset, front_end, table, start)

    return load_gmm_stage(context, name, build)


def train_tied_mixtures(context: TrainingContext, name: str, dataset: Dataset, mixtures: AlignedGmms) -> AlignedGmms:
    """Stage `name`: train mixtures of context-dependent tied states; the context's settings give their number.

    They grow from the alignment of the same data by the monophone `mixtures`, on the same frames unless the settings
    enable LDA and MLLT.
    """
    config = context.config

    def build(directory: Path) -> str:
        earlier = mixtures.largest.load()
        front_end, topology = earlier.front_end, earlier.hmm.topology
        table = front_end.transform(dataset.static)
        graphs = dataset.graphs(context.training_lexicon, topology)
        spoken = spoken_phones(mixtures.states, table, graphs, topology)
        wanted = states_for(table.n_frames) if config.tied_states == "auto" else config.tied_states
        tying = grow_trees(table.frames, mixtures.states, spoken, topology, wanted, config.questions)
        tied = replace(topology, tying=tying)
        n_contexts, n_spoken = len(np.unique(spoken.contexts, axis=0)), tied.n_states - tying.n_silence_states
        log.debug("%s: %d of %d requested states for phones in %d contexts", name, n_spoken, wanted, n_contexts)
        if not len(tying.question_side):
            context.warn(
                "%s: %d frames are too few for context-dependent states (%d per state). Use context = 1, or set "
                "tied_states",
                name, table.n_frames, FRAMES_A_STATE,
            )  # fmt: skip
        states = tied_states(mixtures.states, spoken, topology, tying)
        if config.tied_gmm.transform == "lda-mllt":
            front_end = lda_mllt(front_end.config, dataset.static, states, tied.n_states, workers=context.workers)
            table = front_end.transform(dataset.static)
        gaussians = first_gaussians(table, states, tied, config.tied_gmm, context.workers)
        like = tied.unit_position + topology.states_per_phone * tied.unit_phone  # the unit of the phone without context
        start = GmmInit(tied, GmmSettings(**config.tied_gmm.model_dump()), (gaussians, earlier.hmm.self_loops[like]))
        return train_gmm_stage(context, name, directory, dataset, front_end, table, start)

    return load_gmm_stage(context, name, build)


def first_gaussians(
    table: FrameTable, states: np.ndarray, topology: Topology, settings: GrowthSettings, workers: Workers
) -> GaussianMixtures:
    """Return a single Gaussian for each speech state, and all Gaussians of the silence states.

    With a single Gaussian for silence, realignment assigns noise between words to the phones.
    """
    return mixtures_of_states(
        table.frames,
        states,
        topology.n_states,
        1,
        silence=topology.silence_states,
        silence_gaussian_ratio=settings.silence_gaussian_ratio,
        workers=workers,
    )


@dataclass(frozen=True)
class GmmInit:
    """Initialization of mixtures (flat start, or single Gaussians and self-loops), and speaker transforms, if any."""

    topology: Topology
    settings: GmmSettings
    first: tuple[GaussianMixtures, np.ndarray] | None = None
    speakers: SpeakerAdaptation | None = None
    states: np.ndarray | None = None
    """State of each frame, if the frames are transformed."""


def train_gmm_stage(
    context: TrainingContext,
    name: str,
    directory: Path,
    dataset: Dataset,
    front_end: FrontEnd,
    table: FrameTable,
    start: GmmInit,
) -> str:
    """Write a model for each number of components, the last model's alignment, and its diagnostics.

    Returns the summary for the log.
    """
    started = time.monotonic()
    graphs = dataset.graphs(context.training_lexicon, start.topology)
    record = {}
    n_realignments = start.settings.n_realignments if start.first is None else sum(start.settings.iterations)
    with counted(n_realignments, f"{name}: realignments") as finished:
        for n_components, hmm, curve in train_gmm(
            table,
            graphs,
            start.topology,
            start.settings,
            first=start.first,
            frame_shift=dataset.frame_shift,
            workers=context.workers,
            progress=finished,
        ):
            speakers = start.speakers
            if speakers is not None:
                assert isinstance(hmm.acoustic_model, GaussianMixtures)
                assert start.states is not None
                speakers = replace(speakers, mapped=hmm.acoustic_model)
                speakers = speakers.with_prior(dataset.static, start.states, workers=context.workers)
            model = SpeechModel(
                hmm,
                front_end,
                context.lexicon,
                context.config.gmm_search,
                context.source,
                untrained=context.lexicon.untrained_phones(dataset.references.values()),
                speakers=speakers,
            )
            save_model(directory / f"gmm-{n_components}.safetensors", model)
            record[n_components] = curve
            context.run.note_time(f"{n_components} components", time.monotonic() - started)
    aligned = align_table(hmm.log_likelihood, table, graphs, start.topology, hmm.self_loops, workers=context.workers)
    check = check_alignment(aligned.states, table, graphs, start.topology, dataset.frame_shift)
    for line in (str(check), *check.complaints()):
        log.debug("%s: %s", name, line)
    (directory / "alignment.json").write_text(json.dumps(check.as_dict(), sort_keys=True), encoding="utf-8")
    write_array(directory / "states.npy", aligned.states)
    failed = {name: (one.code, one.message) for name, one in aligned.failed.items()}
    (directory / "failed.json").write_text(json.dumps(failed, sort_keys=True), encoding="utf-8")
    (directory / "training.json").write_text(json.dumps(record))
    n_gaussians = count(max(record), "Gaussian")
    return f"{n_gaussians}/state, log-likelihood {curve[-1]:.2f}, {len(aligned.failed)} not aligned"


def load_gmm_stage(context: TrainingContext, name: str, build: Callable[[Path], str]) -> AlignedGmms:
    """Run the stage if necessary and load the output of `train_gmm_stage`."""
    directory = context.stage(name, build)
    record = json.loads((directory / "training.json").read_text())
    written = json.loads((directory / "failed.json").read_text(encoding="utf-8"))
    failed = {name: Issue(*fault) for name, fault in written.items()}
    taken = context.run.stage_time(name).parts
    models = {
        int(n): TrainedSystem(
            directory / f"gmm-{n}.safetensors", taken[f"{n} components"], {"log-likelihood per frame": curve}
        )
        for n, curve in record.items()
    }
    return AlignedGmms(models, np.load(directory / "states.npy", allow_pickle=False), failed)


def aligned_states(context: TrainingContext, aligner: TrainedSystem, dataset: Dataset) -> np.ndarray:
    """Return the aligned state of every frame, int32 (n_frames,); -1 in utterances that fail."""
    model = aligner.load()
    graphs = dataset.graphs(context.training_lexicon, model.hmm.topology)
    maps = aligned_maps(model, dataset.static, graphs, workers=context.workers)
    return align_table(
        model.hmm.log_likelihood,
        frames_of(model, dataset.static, maps),
        graphs,
        model.hmm.topology,
        model.hmm.self_loops,
        workers=context.workers,
    ).states


def with_search(model: SpeechModel, search: SearchSettings, arpa: str | None) -> SpeechModel:
    """Return the model with other search settings and default grammar."""
    return replace(model, search=search, arpa=arpa)
