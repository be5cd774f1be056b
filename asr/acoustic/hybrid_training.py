"""Training a hybrid: fit a classifier to aligned frames, realign with it, fit again."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field, field_validator

from asr.acoustic.classifiers import BUILT_IN, make_classifier
from asr.acoustic.composite import beside
from asr.acoustic.fit_progress import draw_frames, frames_it_bears, signs_of_life
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
"""Of the frequency axis or the speed, one a copy."""


class NoiseSettings(Settings):
    """Noise mixed into copies of the training set."""

    directory: Path = Field(strict=False)
    """Folder with `noise.scp`, which names the clips."""
    snr_db: Annotated[tuple[Annotated[float, Field(ge=-50, le=100)], ...], AfterValidator(distinct)] = Field(
        (20.0, 10.0), min_length=1, max_length=MAX_COPIES
    )
    """A copy at each of these signal-to-noise ratios, in decibels."""

    @field_validator("directory")
    @classmethod
    def _printable(cls, directory: Path) -> Path:
        printable_name(str(directory))
        return directory


class HybridSettings(Settings):
    """Which classifier, and how its posteriors are used."""

    classifier: Annotated[str, AfterValidator(printable_name)] = "kernel-logistic"
    """Name known to `asr.acoustic.classifiers`."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Keyword parameters of the classifier."""
    realignments: int = Field(0, ge=0, le=100)
    """How often the training set is realigned with the hybrid and the classifier trained again."""
    vtlp_warps: Factors | Literal["auto"] = "auto"
    """Vocal-tract length warps: the classifier also sees a copy of the training set under each. "auto" means 0.92 and
    1.08 where features come from audio, and none where they come from an archive, which may hold anything."""
    speed_perturb: Factors = ()
    """Speeds, such as 0.9 and 1.1: the classifier also sees a copy played so many times as fast. Needs audio."""
    noise: NoiseSettings | None = None
    """The classifier also sees copies with noise. Needs audio."""
    augment_as_unadapted: bool = False
    """Whether copies are normalized as if each recording were all that is known of its speaker, and not by speaker: so
    the classifier also learns what single recordings are like. It makes no difference to frames that are normalized in
    another way or mapped by speaker."""
    augment_silence_ms: float = Field(0.0, ge=0, le=1000)
    """Digital silence before and after every warped copy of audio, so that the classifier hears pauses that are deeper
    than those of its speech, or any at all where recordings are cut close."""
    smbr_epochs: Annotated[int, Field(ge=0, le=100)] | Literal["auto"] = 0
    """Passes over the training utterances and their copies in which the classifier, once trained on frames, is trained
    on sequences (`asr.acoustic.sequence_training`). "auto" means two with kernel-logistic and none with other
    classifiers."""
    max_frames: Annotated[int, Field(ge=0, le=2**40)] | Literal["auto"] = "auto"
    """Most frames that the classifier is fitted to, drawn so that every state keeps its share; 0 for all. "auto" means
    all, but for methods whose cost grows with the square of the frames (`asr.acoustic.fit_progress.MAX_FRAMES`)."""
    mixtures: int = Field(0, ge=0, le=1024)
    """Gaussians a state of a second stream: mixtures of the unspliced frames, trained on the same frames and states as
    the classifier; a power of two, or 0 for none. States that contexts tell apart share those of their phone's state:
    beside a classifier that sees the context, more frames for each Gaussian are worth more."""
    min_gaussian_count: float = Field(MIN_FRAMES, ge=1, le=1e9)
    """Of a Gaussian of that stream; one that accounts for fewer is dropped, unless it is its state's only one."""
    variance_smoothing: float = Field(VARIANCE_PRIOR, ge=0, le=1e9)
    """Frames, as which the variance of a state's frames counts in that of each of its Gaussians of that stream; fewer
    where these have more."""
    silence_gaussian_ratio: Literal[1, 2, 4, 8] = 1
    """Times as many Gaussians of that stream have the states of silence, where there are frames for them."""
    mixture_weight: float = Field(0.5, gt=0, lt=1)
    """Share of the mixtures in the score; the classifier has the rest."""
    recording_noise_model: bool = False
    """As of mixtures."""
    prior_exponent: float = Field(0.7, ge=0, le=100)
    prior_floor: float = Field(0.01, ge=1e-12, le=1)
    prior_ceiling: float | None = Field(None, ge=1, le=1e6)
    """Greatest prior of a state, as a multiple of the median one; none if not given."""

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
            raise ValueError("must be other speeds than 1, at which the classifier hears the speech in any case")
        return speed_perturb

    @field_validator("mixtures")
    @classmethod
    def _power_of_two(cls, mixtures: int) -> int:
        if mixtures & (mixtures - 1):
            raise ValueError("must be a power of two or 0")
        return mixtures

    @property
    def one_stream(self) -> "HybridSettings":
        """The same without a second stream."""
        unused = ("mixture_weight", "min_gaussian_count", "variance_smoothing", "silence_gaussian_ratio")
        left_out = {name: HybridSettings.model_fields[name].default for name in unused}
        return self.model_copy(update={"mixtures": 0, "smbr_epochs": 0, **left_out})

    @property
    def n_sequence_epochs(self) -> int:
        """How many, "auto" resolved."""
        if self.smbr_epochs != "auto":
            return self.smbr_epochs
        return SEQUENCE_PASSES if self.can_train_sequences else 0

    @property
    def can_train_sequences(self) -> bool:
        """Whether the classifier is one whose weights can be trained on sequences."""
        return self.classifier == "kernel-logistic"


@dataclass(frozen=True)
class HybridResult:
    """A trained hybrid, the alignment it was trained on, int32 (n_frames,), and the loss curve of every round."""

    hmm: PhoneHmm
    states: np.ndarray
    curves: tuple[tuple[float, ...], ...]


def classifier_of(settings: HybridSettings) -> Any:
    """The classifier, not fitted.

    Raises
    ------
    ConfigError
        If the name or a parameter is unknown, or sequences are to train a classifier that cannot be trained on them.
    """
    classifier = make_classifier(settings.classifier, dict(settings.parameters))
    if settings.smbr_epochs not in (0, "auto") and not settings.can_train_sequences:
        raise ConfigError(
            f"smbr_epochs = {settings.smbr_epochs} needs the classifier 'kernel-logistic', not "
            f"{settings.classifier!r}. Set it to 0 or remove it."
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
    """Fit, realign, and fit again.

    Parameters
    ----------
    table : FrameTable
        Transformed training frames.
    states : int32 (n_frames,)
        Alignment to start from; -1 leaves a frame out.
    graphs : mapping of utterance id to StateGraph
        Transcript graphs; only needed for realigning.
    self_loops : float64 (n_units,)
        From the model that made the alignment.
    n_unspliced : int
        Last columns of the frames that are the second stream's; none unless the settings want mixtures.
    checkpoint : path, optional
        Directory for how far the fit of each round has come; it is made if need be.
    progress : callable, optional
        Called with the passes done and their number, over all rounds, by classifiers that tell.

    Raises
    ------
    ConfigError
        If there is no such classifier, or it cannot be trained on these frames with these parameters; if mixtures are
        wanted and there are no columns for them.
    AlignmentError
        If no utterance can be realigned.
    """
    if bool(settings.mixtures) != bool(n_unspliced):
        raise ConfigError(
            f"{settings.mixtures} Gaussians a state for {n_unspliced} unspliced columns: a second stream needs both"
        )
    classifier = classifier_of(settings)
    known = classifier.get_params()
    if "random_state" in known and "random_state" not in settings.parameters:
        classifier.set_params(random_state=seed)
    curves = []
    if checkpoint is not None:
        checkpoint.mkdir(parents=True, exist_ok=True)
    for round_number in range(settings.realignments + 1):
        if "warm_start" in known and settings.classifier in BUILT_IN:
            # The built-in ones then start from their weights; elsewhere it may mean to keep the fit as it is.
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
            with signs_of_life(classifier, int((chosen >= 0).sum())) as count:
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
                f"classifier {settings.classifier!r} cannot be trained on {int((states >= 0).sum())} frames of "
                f"{len(np.unique(states[states >= 0]))} states: {error}"
            ) from error
        acoustic = _with_mixtures(model, table.frames, states, settings, topology, n_unspliced, workers)
        hmm = PhoneHmm(topology, acoustic, self_loops)
        curves.append(tuple(float(loss) for loss in getattr(classifier, "loss_curve_", ())))
        log.info("trained %s on %d frames, round %d", settings.classifier, (states >= 0).sum(), round_number)
        if round_number < settings.realignments:
            aligned = align_table(hmm.log_likelihood, table, graphs, topology, self_loops, workers=workers)
            moved = float((aligned.states != states).mean())
            log.info(
                "realigned: %.1f %% of the frames changed state, %d utterances failed",
                100 * moved,
                len(aligned.failed),
            )
            for name, fault in sorted(aligned.failed.items()):
                log.warning("%s: not realigned: %s", name, fault.reason)
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
    """A hybrid with the classifier, calibration and priors of another, and Gaussian mixtures beside it.

    Trained on the frames and states of the other, it is what `train_hybrid` makes of settings without realignment.

    Parameters
    ----------
    frames : float32 (n_frames, n_features)
        Those that the classifier was trained on, and the mixtures' columns after them.
    states : int32 (n_frames,)
        -1 leaves a frame out.
    n_unspliced : int
        Number of the mixtures' columns.
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
    """The hybrid, and beside it mixtures of the last columns if the settings want them."""
    if not settings.mixtures:
        return hybrid
    started = time.monotonic()
    of_phones = np.append(topology.phone_state, np.int32(-1))  # a frame that is left out stays so
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
    log.info("trained %s a state in %.1f s", count(settings.mixtures, "Gaussian"), time.monotonic() - started)
    return beside(hybrid, mixtures, n_unspliced, frames.shape[1], settings.mixture_weight)


def _chosen_frames(classifier: Any, states: np.ndarray, settings: HybridSettings, seed: int) -> np.ndarray:
    """The states, int32 (n_frames,), with -1 for frames that the classifier does without."""
    most = frames_it_bears(classifier) if settings.max_frames == "auto" else settings.max_frames
    n_frames = int((states >= 0).sum())
    if not 0 < most < n_frames:
        return states
    log.info(
        "%s is fitted to %d of the %d frames, drawn by state (max_frames = %s)",
        type(classifier).__name__, most, n_frames, settings.max_frames,
    )  # fmt: skip
    return draw_frames(states, most, seed)


def _both(count: Callable[[int, int], None], progress: Callable[[int, int], None] | None) -> Callable[[int, int], None]:
    def tell(done: int, total: int) -> None:
        count(done, total)
        if progress is not None:
            progress(done, total)

    return tell


def _in_round(
    progress: Callable[[int, int], None] | None, number: int, rounds: int
) -> Callable[[int, int], None] | None:
    """The progress of one round as progress of all of them, taken to be equally long."""
    if progress is None:
        return None
    return lambda done, total: progress(number * total + done, rounds * total)
