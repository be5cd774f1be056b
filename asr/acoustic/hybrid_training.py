"""Hybrid training: fit a classifier to aligned frames, realign with it, fit again."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field, PlainSerializer, WrapValidator, field_validator

from asr.acoustic.classifiers import BUILT_IN, described_classifier, make_classifier, name_of_classifier, parameters_of
from asr.acoustic.composite import two_stream_model
from asr.acoustic.fit_progress import draw_frames, log_fit_progress, max_frames_for
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.phone_hmm import AcousticModel, PhoneHmm
from asr.acoustic.state_mixtures import MIN_FRAMES, VARIANCE_PRIOR, mixtures_of_states
from asr.alignment.batch_alignment import align_table
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology, estimate_self_loops
from asr.util.config_base import Settings, distinct, fault_in_value, printable_name
from asr.util.counted_text import count
from asr.util.errors import ConfigError
from discriminants.parallel.workers import SerialWorkers, Workers

log = logging.getLogger(__name__)


SEQUENCE_PASSES = 2
MAX_COPIES = 100  # of the training set
Factors = Annotated[
    tuple[Annotated[float, Field(ge=0.5, le=2)], ...], Field(max_length=MAX_COPIES), AfterValidator(distinct)
]
"""Warp or speed factors, one per copy."""


class NoiseSettings(Settings):
    """Noise mixed into copies of the training set."""

    directory: Path = Field(strict=False)
    """Directory with `noise.scp`, which lists the noise recordings."""
    snr_db: Annotated[tuple[Annotated[float, Field(ge=-50, le=100)], ...], AfterValidator(distinct)] = Field(
        (20.0, 10.0), min_length=1, max_length=MAX_COPIES
    )
    """Signal-to-noise ratios in decibels, one copy for each."""

    @field_validator("directory")
    @classmethod
    def _printable(cls, directory: Path) -> Path:
        printable_name(str(directory))
        return directory


def _name_or_object(value: Any, text: Callable[[Any], str]) -> Any:
    return value if hasattr(value, "fit") else printable_name(text(value))


class HybridSettings(Settings):
    """Settings of the classifier and of its scores."""

    classifier: Annotated[
        str, WrapValidator(_name_or_object), PlainSerializer(described_classifier, return_type=str)
    ] = "kernel-logistic"
    """Classifier of frames: a name that `asr train --classifier` takes, or in Python an object."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Keyword parameters of the classifier."""
    realignments: int = Field(0, ge=0, le=100)
    """Number of times that the training set is realigned with the hybrid and the classifier trained again."""
    vtlp_warps: Factors | Literal["auto"] = "auto"
    """Vocal-tract length warps; each adds a warped copy of the training set. "auto" means 0.92 and 1.08 for cepstra
    from audio, and none for other features or an archive."""
    speed_perturb: Factors = ()
    """Speed factors, such as 0.9 and 1.1; each adds a copy of the training set. Needs audio."""
    noise: NoiseSettings | None = None
    """Adds copies with noise. Needs audio."""
    augment_as_unadapted: bool = False
    """Whether copies are normalized by recording instead of by speaker, so that the classifier also learns from single
    recordings. No effect on frames with another normalization or with speaker transforms."""
    augment_silence_ms: float = Field(0.0, ge=0, le=1000)
    """Milliseconds of digital silence before and after every warped copy of audio. The classifier then also learns deep
    pauses, which are missing if recordings are cut close to the speech."""
    smbr_epochs: Annotated[int, Field(ge=0, le=100)] | Literal["auto"] = 0
    """Passes of sequence training over the utterances and their copies (`asr.acoustic.sequence_training`), after
    training on frames. "auto" means 2 for kernel-logistic and 0 for other classifiers."""
    max_frames: Annotated[int, Field(ge=0, le=2**40)] | Literal["auto"] = "auto"
    """Maximum number of frames for the classifier, drawn in proportion to the states; 0 for all. "auto" means all,
    except for methods with quadratic cost (`asr.acoustic.fit_progress.MAX_FRAMES`)."""
    mixtures: int = Field(0, ge=0, le=1024)
    """Gaussians per state of a second stream, a power of two; 0 for none. It models the unspliced frames of the same
    alignment. Context-dependent states share the mixture of their phone's state, because more frames per Gaussian help
    more than context here."""
    min_gaussian_count: float = Field(MIN_FRAMES, ge=1, le=1e9)
    """Gaussians of the second stream with fewer frames are dropped, except the only one of a state."""
    variance_smoothing: float = Field(VARIANCE_PRIOR, ge=0, le=1e9)
    """Variance smoothing of the second stream, in frames, as `gmm.variance_smoothing`."""
    silence_gaussian_ratio: Literal[1, 2, 4, 8] = 1
    """Factor on the number of Gaussians of silence states in the second stream."""
    mixture_weight: float = Field(0.5, gt=0, lt=1)
    """Weight of the mixtures in the score; the classifier has the rest."""
    recording_noise_model: bool = False
    """Whether the second stream learns the sound of pauses, as `gmm.recording_noise_model`."""
    prior_exponent: float = Field(0.7, ge=0, le=100)
    """Weight e of the prior in the state's score log P(s|x) - e log P(s); 1 is Bayes' rule."""
    prior_floor: float = Field(0.01, ge=1e-12, le=1)
    """Smallest prior of a state, as a fraction of the mean prior."""
    prior_ceiling: float | None = Field(None, ge=1, le=1e6)
    """Largest prior of a state, as a multiple of the median; no limit by default."""

    @field_validator("parameters")
    @classmethod
    def _writable(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        fault = fault_in_value(parameters)
        if fault is not None:
            raise ValueError(fault)
        return parameters

    @field_validator("speed_perturb")
    @classmethod
    def _changed(cls, speed_perturb: tuple[float, ...]) -> tuple[float, ...]:
        if any(f"{speed:g}" == "1" for speed in speed_perturb):
            raise ValueError("must not contain 1, because the original speech is always used")
        return speed_perturb

    @field_validator("mixtures")
    @classmethod
    def _power_of_two(cls, mixtures: int) -> int:
        if mixtures & (mixtures - 1):
            raise ValueError("must be a power of two or 0")
        return mixtures

    @property
    def one_stream(self) -> "HybridSettings":
        """The same settings without a second stream."""
        unused = ("mixture_weight", "min_gaussian_count", "variance_smoothing", "silence_gaussian_ratio")
        left_out = {name: HybridSettings.model_fields[name].default for name in unused}
        return self.model_copy(update={"mixtures": 0, "smbr_epochs": 0, **left_out})

    @property
    def n_sequence_epochs(self) -> int:
        """Passes of sequence training, with "auto" resolved."""
        if self.smbr_epochs != "auto":
            return self.smbr_epochs
        return SEQUENCE_PASSES if self.can_train_sequences else 0

    @property
    def can_train_sequences(self) -> bool:
        """Whether the classifier supports sequence training."""
        return self.classifier_name == "kernel-logistic"

    @property
    def classifier_name(self) -> str:
        """Name of the classifier, or the class of an object as `module:Class`."""
        return name_of_classifier(self.classifier)


@dataclass(frozen=True)
class HybridResult:
    """A trained hybrid, its alignment, int32 (n_frames,), and the loss curve of every round."""

    hmm: PhoneHmm
    states: np.ndarray
    curves: tuple[tuple[float, ...], ...]


def classifier_of(settings: HybridSettings) -> Any:
    """Make the unfitted classifier.

    Raises ConfigError if the name or a parameter is unknown, or the classifier does not support the sequence training
    asked for.
    """
    classifier = make_classifier(settings.classifier, settings.parameters)
    if settings.smbr_epochs not in (0, "auto") and not settings.can_train_sequences:
        raise ConfigError(
            f"smbr_epochs = {settings.smbr_epochs} needs the classifier 'kernel-logistic', not "
            f"{settings.classifier_name!r}. Set it to 0 or remove it."
        )
    return classifier


def train_hybrid(
    table: FrameTable,
    states: np.ndarray,
    graphs: Mapping[str, StateGraph],
    topology: Topology,
    self_loops: np.ndarray,
    settings: HybridSettings = HybridSettings(),  # noqa: B008 (frozen)
    *,
    n_unspliced: int = 0,
    seed: int = 0,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
    checkpoint: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> HybridResult:
    """Train a hybrid: fit, realign, and fit again.

    Raises ConfigError if the classifier is unknown or cannot be trained on these frames, or if only one of
    `settings.mixtures` and `n_unspliced` is 0, and AlignmentError if no utterance can be realigned.

    Parameters
    ----------
    table : FrameTable
        Transformed training frames.
    states : int32 (n_frames,)
        Initial alignment; -1 leaves a frame out.
    graphs : mapping of utterance id to StateGraph
        Transcript graphs; only needed for realigning.
    self_loops : float64 (n_units,)
        From the model that made the alignment.
    n_unspliced : int
        Number of last columns for the second stream; 0 without mixtures.
    checkpoint : path, optional
        Directory for the checkpoints of each round; created if missing.
    progress : callable, optional
        Called with the passes done and the total over all rounds, by classifiers that report progress.
    """
    if bool(settings.mixtures) != bool(n_unspliced):
        raise ConfigError(
            f"{settings.mixtures} Gaussians per state with {n_unspliced} unspliced columns. Expected both or "
            "neither for a second stream"
        )
    classifier = classifier_of(settings)
    known = parameters_of(classifier)
    own = settings.parameters if settings.classifier == settings.classifier_name else known
    if "random_state" in known and own.get("random_state") is None:
        classifier.set_params(random_state=seed)
    curves = []
    if checkpoint is not None:
        checkpoint.mkdir(parents=True, exist_ok=True)
    for round_number in range(settings.realignments + 1):
        if "warm_start" in known and settings.classifier_name in BUILT_IN:
            # Built-in classifiers then continue from their weights; for others it may mean keeping the fit unchanged.
            same = round_number > 0 and np.array_equal(classifier.classes_, np.unique(states[states >= 0]))
            classifier.set_params(warm_start=bool(same or known["warm_start"]))
        model = HybridAcousticModel(
            classifier,
            topology.n_states,
            prior_exponent=settings.prior_exponent,
            prior_floor=settings.prior_floor,
            prior_ceiling=settings.prior_ceiling,
        )
        in_round = _in_round(progress, round_number, settings.realignments + 1)
        chosen = _chosen_frames(classifier, states, settings, seed)
        try:
            with log_fit_progress(classifier, int((chosen >= 0).sum())) as count:
                model.fit(
                    table.frames[:, : table.n_features - n_unspliced],
                    chosen,
                    seed=seed,
                    progress=_both(count, in_round),
                    workers=workers,
                    checkpoint=None if checkpoint is None else checkpoint / f"round-{round_number}",
                )
            model.set_priors(states)
        except ValueError as error:
            raise ConfigError(
                f"classifier {settings.classifier_name!r} cannot be trained on {int((states >= 0).sum())} frames of "
                f"{len(np.unique(states[states >= 0]))} states: {error}"
            ) from error
        acoustic = _with_mixtures(model, table.frames, states, settings, topology, n_unspliced, workers)
        hmm = PhoneHmm(topology, acoustic, self_loops)
        curves.append(tuple(float(loss) for loss in getattr(classifier, "loss_curve_", ())))
        log.debug("trained %s on %d frames, round %d", settings.classifier_name, (states >= 0).sum(), round_number)
        if round_number < settings.realignments:
            aligned = align_table(hmm.log_likelihood, table, graphs, topology, self_loops, workers=workers)
            moved = float((aligned.states != states).mean())
            log.debug(
                "realigned: %.1f %% of the frames changed state, %d utterances failed",
                100 * moved,
                len(aligned.failed),
            )
            for name, fault in sorted(aligned.failed.items()):
                log.debug("%s: not realigned: %s", name, fault.message)
            states = aligned.states
            self_loops = estimate_self_loops(aligned.stays, aligned.visits)
    if "warm_start" in known:
        classifier.set_params(warm_start=known["warm_start"])
    return HybridResult(PhoneHmm(topology, acoustic, self_loops), states, tuple(curves))


def with_second_stream(
    one_stream: HybridAcousticModel,
    frames: np.ndarray,
    states: np.ndarray,
    settings: HybridSettings,
    topology: Topology,
    *,
    n_unspliced: int,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> AcousticModel:
    """Add Gaussian mixtures to a copy of a hybrid with the same classifier, calibration and priors.

    On the hybrid's own frames and states the result equals that of `train_hybrid` without realignment.

    `frames`, float32 (n_frames, n_features): the classifier's training frames, followed by the mixtures' columns.
    `states`, int32 (n_frames,): -1 leaves a frame out. `n_unspliced`: number of the mixtures' columns.
    """
    model = HybridAcousticModel(
        one_stream.classifier,
        one_stream.n_states,
        prior_exponent=settings.prior_exponent,
        prior_floor=settings.prior_floor,
        prior_ceiling=settings.prior_ceiling,
    )
    model.calibration, model.log_priors = one_stream.calibration, one_stream.log_priors
    model.smbr_epochs = one_stream.smbr_epochs
    return _with_mixtures(model, frames, states, settings, topology, n_unspliced, workers)


def _with_mixtures(
    hybrid: HybridAcousticModel,
    frames: np.ndarray,
    states: np.ndarray,
    settings: HybridSettings,
    topology: Topology,
    n_unspliced: int,
    workers: Workers,
) -> AcousticModel:
    """Add mixtures of the last columns if the settings ask for them."""
    if not settings.mixtures:
        return hybrid
    started = time.monotonic()
    of_phones = np.append(topology.phone_state, np.int32(-1))  # keeps -1 for frames that are left out
    mixtures = mixtures_of_states(
        frames[:, -n_unspliced:],
        of_phones[states],
        int(of_phones.max()) + 1,
        settings.mixtures,
        min_gaussian_count=settings.min_gaussian_count,
        variance_smoothing=settings.variance_smoothing,
        silence=topology.silence_states,
        silence_gaussian_ratio=settings.silence_gaussian_ratio,
        workers=workers,
    ).for_states(topology.phone_state)
    log.debug("trained %s per state in %.1f s", count(settings.mixtures, "Gaussian"), time.monotonic() - started)
    return two_stream_model(hybrid, mixtures, n_unspliced, frames.shape[1], settings.mixture_weight)


def _chosen_frames(classifier: Any, states: np.ndarray, settings: HybridSettings, seed: int) -> np.ndarray:
    """Set the states of frames beyond the classifier's limit to -1; int32 (n_frames,)."""
    most = max_frames_for(classifier) if settings.max_frames == "auto" else settings.max_frames
    n_frames = int((states >= 0).sum())
    if not 0 < most < n_frames:
        return states
    log.debug(
        "%s is trained on %d of the %d frames, drawn by state (max_frames = %s)",
        type(classifier).__name__, most, n_frames, settings.max_frames,
    )  # fmt: skip
    return draw_frames(states, most, seed)


def _both(count: Callable[[int, int], None], progress: Callable[[int, int], None] | None) -> Callable[[int, int], None]:
    def report(done: int, total: int) -> None:
        count(done, total)
        if progress is not None:
            progress(done, total)

    return report


def _in_round(
    progress: Callable[[int, int], None] | None, number: int, rounds: int
) -> Callable[[int, int], None] | None:
    """Convert the progress of one round to that of all rounds, assumed to be equally long."""
    if progress is None:
        return None
    return lambda done, total: progress(number * total + done, rounds * total)
