"""Stages that train the Gaussian mixtures that align the training data for a hybrid."""

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np

from asr.acoustic.context_trees import states_for
from asr.acoustic.fmllr import FmllrSettings
from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.gmm_training import GmmSettings
from asr.acoustic.mllt import lda_mllt
from asr.acoustic.model_file import SpeechModel
from asr.acoustic.model_metadata import MapKind
from asr.acoustic.speaker_adaptive_training import SpeakerAdaptation, as_they_are
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.training.dataset import Dataset
from asr.training.given_alignment import train_given_mixtures
from asr.training.gmm_stages import (
    AlignedGmms,
    GmmInit,
    TrainingContext,
    aligned_states,
    first_gaussians,
    load_gmm_stage,
    train_gmm_stage,
    train_mixtures,
    train_tied_mixtures,
)
from asr.util.counted_text import count
from asr.validation.corpus_size import (
    SECONDS_FOR_CONTEXT,
    SECONDS_OF_A_SPEAKER,
    SECONDS_OF_AN_UTTERANCE,
    SPEAKERS_FOR_MAPS,
)

log = logging.getLogger(__name__)

MAX_REALIGNMENTS = 4
"""Realignments at each number of Gaussians on new features, which start from a good alignment."""


def with_context(context: TrainingContext, dataset: Dataset) -> TrainingContext:
    """Return the context with a number for `context = "auto"`; a fallback to 3 is logged."""
    config = context.config
    if config.context != "auto":
        return context
    more_states = states_for(dataset.static.n_frames) > context.topology.n_states
    enough = dataset.seconds >= SECONDS_FOR_CONTEXT and more_states
    if enough and not config.asks_for_context:
        log.debug("context = 3: %.0f min of speech are enough for context-dependent states", dataset.seconds / 60)
    return replace(context, config=config.model_copy(update={"context": 3 if enough or config.asks_for_context else 1}))


def with_maps(context: TrainingContext, dataset: Dataset) -> TrainingContext:
    """Return the context with `speakers.maps = "auto"` resolved, and log the choice."""
    config = context.config
    if config.speakers.maps != "auto":
        return context
    lengths = np.diff(dataset.static.offsets) * dataset.frame_shift
    of_speaker: dict[str, float] = {}
    for speaker, length in zip(dataset.static.speakers, lengths, strict=True):
        of_speaker[speaker] = of_speaker.get(speaker, 0.0) + float(length)
    seconds = float(np.median(list(of_speaker.values())))
    enough = (
        len(of_speaker) >= SPEAKERS_FOR_MAPS
        and seconds >= SECONDS_OF_A_SPEAKER
        and np.median(lengths) >= SECONDS_OF_AN_UTTERANCE
    )
    maps = "fmllr" if enough else "none"
    log.debug(
        'speakers.maps = "%s": %d speakers with a median of %.0f s of speech; fMLLR needs %d speakers, %.0f s per '
        "speaker and %.0f s per utterance",
        maps, len(of_speaker), seconds, SPEAKERS_FOR_MAPS, SECONDS_OF_A_SPEAKER, SECONDS_OF_AN_UTTERANCE,
    )  # fmt: skip
    speakers = config.speakers.model_copy(update={"maps": maps})
    return replace(context, config=config.model_copy(update={"speakers": speakers}))


def train_aligner(context: TrainingContext, name: str, dataset: Dataset) -> AlignedGmms:
    """Train the mixtures that align for a hybrid; parameters as in `train_mixtures`.

    The stages are `name`, `name`-turned (LDA and MLLT), `name`-tied (context), `name`-mapped-1 (speaker transforms),
    ...
    """
    mixtures = train_first_mixtures(context, name, dataset)
    if context.config.gmm.transform != "none" or context.config.context == 3:
        mixtures = realigned(context, dataset, mixtures)
    if context.config.gmm.transform == "lda-mllt":
        mixtures = train_lda_mllt(context, f"{name}-turned", dataset, mixtures)
    if context.config.context == 3:
        mixtures = train_tied_mixtures(context, f"{name}-tied", dataset, mixtures)
    if context.config.speakers.maps in ("fmllr", "vtln"):
        for number in range(1, context.config.speakers.rounds + 1):
            mixtures = train_mapped_mixtures(context, f"{name}-mapped-{number}", dataset, mixtures)
    return mixtures


def train_first_mixtures(
    context: TrainingContext, name: str, dataset: Dataset, features: FeatureConfig | None = None
) -> AlignedGmms:
    """Stage `name`: train mixtures on the given phone boundaries, or without these from a flat start."""
    train = train_mixtures if context.given is None else train_given_mixtures
    return train(context, name, dataset, features)


def realigned(context: TrainingContext, dataset: Dataset, mixtures: AlignedGmms) -> AlignedGmms:
    """Align again after training on given phones, which may be shorter than their states; no graph allows that."""
    if context.given is None:
        return mixtures
    return replace(mixtures, states=aligned_states(context, mixtures.largest, dataset))


def train_lda_mllt(context: TrainingContext, name: str, dataset: Dataset, mixtures: AlignedGmms) -> AlignedGmms:
    """Stage `name`: train mixtures of the same states on spliced frames with LDA and MLLT (`asr.acoustic.mllt`)."""

    def build(directory: Path) -> str:
        earlier = mixtures.largest.load()
        n_states = earlier.hmm.topology.n_states
        front_end = lda_mllt(
            earlier.front_end.config, dataset.static, mixtures.states, n_states, workers=context.workers
        )
        return _regrow(
            context, name, directory, dataset, mixtures, earlier, front_end, front_end.transform(dataset.static)
        )

    return load_gmm_stage(context, name, build)


def train_mapped_mixtures(context: TrainingContext, name: str, dataset: Dataset, mixtures: AlignedGmms) -> AlignedGmms:
    """Stage `name`: one round of speaker-adaptive training (Anastasakos et al. 1996; transforms of Gales 1998).

    The current mixtures and alignment give a transform for each training speaker; new mixtures are trained on
    transformed frames. Recognition starts with the mixtures of before the first round.
    """

    def build(directory: Path) -> str:
        earlier = mixtures.largest.load()
        if earlier.speakers is None and len(dataset.speakers) < SPEAKERS_FOR_MAPS:
            context.warn(
                '%s: %s are few for speaker-adaptive training. Compare with speakers.maps = "none"',
                name, count(len(dataset.speakers), "speaker"),
            )  # fmt: skip
        acoustic = earlier.hmm.acoustic_model
        assert isinstance(acoustic, GaussianMixtures)
        fmllr = FmllrSettings(**context.config.speakers.model_dump(include=set(FmllrSettings.model_fields)))
        maps = context.config.speakers.maps
        kind: MapKind = "vtln" if maps == "vtln" else "fmllr"
        speakers = earlier.speakers or SpeakerAdaptation(
            earlier.front_end, earlier.hmm, acoustic, context.config.gmm_search, fmllr, kind
        )
        found = speakers.of_states(dataset.static, mixtures.states, workers=context.workers)
        mapped = speakers.frames(dataset.static, found)
        front_end = FrontEnd(as_they_are(speakers.front_end.config)).fit(mapped)
        return _regrow(
            context, name, directory, dataset, mixtures, replace(earlier, speakers=speakers), front_end, mapped
        )

    return load_gmm_stage(context, name, build)


def _regrow(
    context: TrainingContext,
    name: str,
    directory: Path,
    dataset: Dataset,
    mixtures: AlignedGmms,
    earlier: SpeechModel,
    front_end: FrontEnd,
    table: FrameTable,
) -> str:
    """Train mixtures of the same states on other frames, from single Gaussians under the existing alignment."""
    topology = earlier.hmm.topology
    settings = context.config.gmm if topology.tying is None else context.config.tied_gmm
    shorter = {**settings.model_dump(), "iterations": [min(n, MAX_REALIGNMENTS) for n in settings.iterations]}
    gaussians = first_gaussians(table, mixtures.states, topology, settings, context.workers)
    start = GmmInit(
        topology, GmmSettings(**shorter), (gaussians, earlier.hmm.self_loops), earlier.speakers, mixtures.states
    )
    return train_gmm_stage(context, name, directory, dataset, front_end, table, start)
