"""GMM-HMM training from a flat start: align, re-estimate, split the mixtures, repeat."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator
from threadpoolctl import threadpool_limits

from asr.acoustic.flat_start import GuidedMixtures, first_models, pause_share, with_evidence
from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.phone_hmm import AcousticModel, PhoneHmm
from asr.acoustic.state_mixtures import MIN_FRAMES, VARIANCE_PRIOR, equal_gaussians, n_threads
from asr.alignment.acoustic_segmentation import changes_alignment
from asr.alignment.batch_alignment import AlignedTable, align_table, flat_alignment, none_aligned
from asr.alignment.forced_alignment import no_path_fault
from asr.alignment.forward_backward import forward_backward
from asr.alignment.pause_model import CERTAIN, PauseSounds
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology, estimate_self_loops, uniform_self_loops
from asr.util.config_base import Settings
from asr.util.errors import Issue, attempt
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers

log = logging.getLogger(__name__)

MIN_OCCUPANCY = 1e-4
MIN_PAUSES = 0.05  # of the frames: with fewer pauses, start by equal division
MAX_PAUSES = 0.4  # of the frames: with more pauses, their sounds vary too much to be identified by their mean
PAUSES_KEPT = 0.85  # fraction of the pause frames that silence must keep after equal division
LITTLE_SPEECH = 500.0  # frames per unit: with fewer, equal division is too inaccurate
BROADENING = 4  # re-estimations after splitting silence, and realignments with all of its Gaussians
FOLDS = 10  # of the utterances; the models of the others find silence in each
LEARNT_BY = 4  # Gaussians per state with which silence is reliable enough for a restart

Models = tuple[GaussianMixtures, np.ndarray]  # of the states, and self-loops of the units
Transform = Literal["none", "lda-mllt"]
FlatStartMethod = Literal["auto", "changes", "pauses", "equal"]


class GrowthSettings(Settings):
    """Settings for growing mixtures from single Gaussians."""

    mixtures: tuple[int, ...] = Field((1, 2, 4, 8, 16), min_length=1, max_length=11)
    """Numbers of components at which a model is returned; each is twice the previous one."""
    iterations: tuple[Annotated[int, Field(ge=1, le=1000)], ...] = (10, 5, 5, 6, 6)
    """Realignments at each number of components. If only `mixtures` is given, the defaults are used and the last is
    repeated."""
    training: Literal["viterbi", "baum-welch"] = "viterbi"
    """`viterbi` (best path) or `baum-welch` (expected occupancies)."""
    variance_floor: float = Field(0.01, ge=1e-6, le=1)
    """Smallest variance, as a fraction of the variance over all frames."""
    transform: Transform = "none"
    """`lda-mllt`: grow the mixtures again from spliced frames with LDA and MLLT."""
    min_gaussian_count: float = Field(MIN_FRAMES, ge=1, le=1e9)
    """Gaussians with fewer frames are dropped, except the only one of a state."""
    variance_smoothing: float = Field(VARIANCE_PRIOR, ge=0, le=1e9)
    """Strength of variance smoothing, in frames: each Gaussian's variance is interpolated with its state's overall
    variance. The weight falls with the square of the frames per Gaussian above this number. 0 disables smoothing."""

    silence_gaussian_ratio: Literal[1, 2, 4, 8] = 1
    """Factor on the number of Gaussians of silence states, which may have to model varied background noise."""

    recording_noise_model: bool = False
    """Whether the model learns the sound of pauses. A recording's own noise then counts in recognition, and words are
    less likely in it."""

    @model_validator(mode="before")
    @classmethod
    def _usual_iterations(cls, values: Any) -> Any:
        if (
            not isinstance(values, dict)
            or "iterations" in values
            or not isinstance(values.get("mixtures"), list | tuple)
        ):
            return values
        usual = cls.model_fields["iterations"].default
        numbers = len(values["mixtures"])
        return {**values, "iterations": (usual + usual[-1:] * numbers)[:numbers]}

    def disagreements(self) -> Iterator[tuple[str, str]]:
        """Yield inconsistent settings."""
        mixtures, iterations = list(self.mixtures), list(self.iterations)
        if mixtures != [2**number for number in range(len(mixtures))]:
            yield (
                "mixtures",
                f"mixtures is {mixtures}. Expected 1, 2, 4, ..., each twice the one before",
            )
        if len(iterations) != len(mixtures):
            yield (
                "iterations",
                f"iterations is {iterations}. Expected {len(mixtures)} numbers, one for each of mixtures {mixtures}",
            )


class GmmSettings(GrowthSettings):
    """Settings of the mixtures and of the flat start."""

    start: FlatStartMethod = "auto"
    """Flat start: `equal` (every utterance is divided evenly among its states), `changes` (at changes in the sound),
    `pauses` (pause-like frames are silence, the rest is divided softly), or `auto`. `auto` uses `changes` for little
    speech, otherwise `equal`, or `pauses` if `equal` loses the silence."""
    flat_start_restarts: int = Field(0, ge=0, le=10)
    """Number of restarts of the flat start. Each uses the silence found by models with four Gaussians, including models
    trained without the utterance, together with the earlier pauses. Restarts correct errors of the first division that
    realignment cannot."""

    @property
    def before_restart(self) -> list[tuple[int, int]]:
        """Numbers of components, and realignments at each, before a restart."""
        return [pair for pair in zip(self.mixtures, self.iterations, strict=True) if pair[0] <= LEARNT_BY]

    @property
    def n_realignments(self) -> int:
        """Realignments from a flat start to the last mixtures."""
        broadening = BROADENING if self.silence_gaussian_ratio > 1 else 0
        before = broadening + sum(iterations for _, iterations in self.before_restart)
        return self.flat_start_restarts * before + broadening + sum(self.iterations)


class TiedGmmSettings(GrowthSettings):
    """Settings for the mixtures of context-dependent states, which have fewer frames and start from an alignment."""

    mixtures: tuple[int, ...] = Field((1, 2, 4, 8), min_length=1, max_length=11)
    """Numbers of components at which a model is returned; each is twice the previous one."""
    iterations: tuple[Annotated[int, Field(ge=1, le=1000)], ...] = (4, 4, 4, 4)
    """Realignments at each number of components."""


@dataclass(frozen=True)
class Occupancy:
    """State occupancies of a corpus, and how often units were entered and held.

    `frames[starts[s]:starts[s + 1]]` are the frames of state s, with `weights` (None for ones).
    """

    starts: np.ndarray
    frames: np.ndarray
    weights: np.ndarray | None
    stays: np.ndarray
    visits: np.ndarray
    log_likelihood_per_frame: float
    failed: Mapping[str, Issue]

    def without(self, rows: np.ndarray) -> "Occupancy":
        """Remove these frames, bool (n_frames,), from all states."""
        kept = ~rows[self.frames]
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        weights = None if self.weights is None else self.weights[kept]
        return replace(self, starts=starts, frames=self.frames[kept], weights=weights)


def train_gmm(
    table: FrameTable,
    graphs: Mapping[str, StateGraph],
    topology: Topology,
    settings: GmmSettings = GmmSettings(),  # noqa: B008 (frozen)
    *,
    first: Models | None = None,
    frame_shift: float = 0.01,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
    progress: Callable[[int], None] | None = None,
) -> Iterator[tuple[int, PhoneHmm, list[float]]]:
    """Train GMM-HMMs from a flat start or from given Gaussians.

    Raises AlignmentError if no utterance can be aligned.

    Parameters
    ----------
    table : FrameTable
        Training frames.
    graphs : mapping of utterance id to StateGraph
        Transcript graphs of all utterances of the table.
    first : Models, optional
        Initial Gaussians and self-loops, instead of a flat start. Speech states have one Gaussian, silence states
        `silence_gaussian_ratio`.
    frame_shift : float
        Seconds between frames.
    progress : callable, optional
        Called after every realignment with the number done. The total is `settings.n_realignments` from a flat start,
        otherwise `sum(settings.iterations)`.

    Yields
    ------
    n_components, model, curve
        At every number of components in the settings; the curve holds the log-likelihood per frame before each
        re-estimation at that number.
    """
    with ThreadPoolExecutor(n_threads(workers)) as pool, threadpool_limits(1):
        training = _Training(table, graphs, topology, settings, frame_shift, workers, pool, progress)
        current = training.flat_start() if first is None else training.realign(first, settings.iterations[0])
        for n_components, iterations in zip(settings.mixtures, settings.iterations, strict=True):
            if n_components > 1:
                current = training.double(current, iterations)
            log.debug(
                "trained %d Gaussians per state: log-likelihood per frame %.3f, %d of %d utterances not aligned",
                n_components, current.curve[-1], len(current.occupancy.failed), len(table),
            )  # fmt: skip
            yield n_components, PhoneHmm(topology, *current.models, training.pause_sounds(current)), current.curve
    for name, fault in sorted(current.occupancy.failed.items()):
        log.debug("%s: not aligned: %s", name, fault.message)


@dataclass(frozen=True)
class _GmmState:
    """Models, the occupancy of their last estimate, and the log-likelihood per frame before each estimate."""

    models: Models
    occupancy: Occupancy
    curve: list[float]


class _Training:
    """The steps of one training, with its frames and transcripts."""

    def __init__(
        self,
        table: FrameTable,
        graphs: Mapping[str, StateGraph],
        topology: Topology,
        settings: GmmSettings,
        frame_shift: float,
        workers: Workers,
        pool: ThreadPoolExecutor,
        progress: Callable[[int], None] | None,
    ) -> None:
        self.table, self.graphs, self.topology, self.settings = table, graphs, topology, settings
        self.frame_shift, self.workers, self.pool, self.progress = frame_shift, workers, pool, progress
        self.overall, self.floor = equal_gaussians(table.frames, topology.n_states, settings.variance_floor)
        self.n_silence_states = len(topology.silence_states)
        self.done = 0

    def flat_start(self) -> _GmmState:
        """Return single Gaussians (several for silence), after the restarts of the settings."""
        guided = None if self.settings.start == "equal" else with_evidence(self.table, self.graphs, self.frame_shift)
        current = self.with_broad_silence(self.first(self.settings.start, guided))
        for number in range(1, self.settings.flat_start_restarts + 1):
            for _, iterations in self.settings.before_restart[1:]:
                current = self.double(current, iterations)
            again = self.heard_silence(self.silence_found(current), guided)
            log.debug("flat start: restart %d, %.0f %% of the frames are silence", number, 100.0 * pause_share(again))
            current = self.with_broad_silence(self.first("pauses", again))
        return current

    def first(self, start: FlatStartMethod, guided: FrameTable | None) -> _GmmState:
        """Return realigned single Gaussians from the given flat start; `guided` has the evidence for pauses."""
        if guided is None:
            return self.from_division(flat_alignment(self.table, self.graphs, self.topology))
        paused = pause_share(guided)
        if paused < MIN_PAUSES:
            start = "equal"
        if start == "auto" and paused <= MAX_PAUSES and _is_little(self.table, self.graphs, self.topology.n_units):
            start = "changes"
        if start == "changes":
            log.debug("flat start: divided the utterances at changes of the sound")
            return self.from_division(changes_alignment(guided, self.graphs, self.topology, workers=self.workers))
        if start == "pauses":
            return self.from_pauses(guided)
        current = self.from_division(flat_alignment(self.table, self.graphs, self.topology))
        if start == "auto":
            kept = _pauses_kept(current.occupancy, guided, self.n_silence_states)
            log.debug("flat start: silence has %.0f %% of the frames that sound much like a pause", 100.0 * kept)
            if kept < PAUSES_KEPT:
                log.debug("flat start: restarting from frames that sound like a pause (automatic)")
                self.done -= self.settings.iterations[0]
                current = self.from_pauses(guided)
        return current

    def from_pauses(self, guided: FrameTable) -> _GmmState:
        models = first_models(guided, self.graphs, self.topology, self.overall, self.floor, workers=self.workers)
        return self.realign(models, self.settings.iterations[0], guided)

    def from_division(self, aligned: AlignedTable) -> _GmmState:
        occupancy = _hard_occupancy(aligned, self.topology.n_states)
        models = self.reestimate((self.overall, uniform_self_loops(self.topology)), occupancy)
        return self.realign(models, self.settings.iterations[0])

    def with_broad_silence(self, current: _GmmState) -> _GmmState:
        """Split the Gaussians of silence before the others, so that speech states do not learn background noise."""
        if self.settings.silence_gaussian_ratio == 1:
            return current
        models = self.split(
            current.models, current.occupancy, self.settings.silence_gaussian_ratio, self.topology.silence_states
        )
        return self.realign(models, BROADENING, earlier=current.curve)

    def double(self, current: _GmmState, iterations: int) -> _GmmState:
        mixtures, self_loops = current.models
        return self.realign((mixtures.split(), self_loops), iterations)

    def realign(
        self, models: Models, iterations: int, guided: FrameTable | None = None, earlier: Sequence[float] = ()
    ) -> _GmmState:
        """Align and re-estimate repeatedly; with `guided`, the evidence for pauses is added to the scores."""
        curve = list(earlier)
        for _ in range(iterations):
            seen = self.table if guided is None else guided
            occupancy = self.occupied(models, seen, guided=guided is not None)
            models = self.reestimate(models, occupancy)
            curve.append(occupancy.log_likelihood_per_frame)
            self.done += 1
            if self.progress is not None:
                self.progress(self.done)
        return _GmmState(models, occupancy, curve)

    def occupied(self, models: Models, seen: FrameTable, *, guided: bool = False) -> Occupancy:
        """Return the occupancy of utterances; if `guided`, their last column is the evidence for pauses."""
        mixtures, self_loops = models
        model = GuidedMixtures(mixtures, self.n_silence_states) if guided else mixtures
        if self.settings.training == "baum-welch":
            return _expected_occupancy(model, seen, self.graphs, self.topology, self_loops, self.workers)
        aligned = align_table(model.log_likelihood, seen, self.graphs, self.topology, self_loops, workers=self.workers)
        return _hard_occupancy(aligned, self.topology.n_states)

    def reestimate(self, models: Models, occupancy: Occupancy) -> Models:
        return _reestimate(models[0], self.table, occupancy, self.floor, self.settings, self.pool)

    def pause_sounds(self, current: _GmmState) -> PauseSounds | None:
        """Learn the sounds of silence and speech if the settings ask for it."""
        if not self.settings.recording_noise_model:
            return None
        silent = _part_in(current.occupancy, self.table.n_frames, self.n_silence_states) > 0.5
        aligned = _part_in(current.occupancy, self.table.n_frames, self.topology.n_states) > 0.5
        return PauseSounds.learnt(self.table, silent, aligned & ~silent, self.frame_shift)

    def silence_found(self, current: _GmmState) -> np.ndarray:
        """Find silence by these models or by models trained without the utterance, bool (n_frames,).

        A model may have learned the noise of a recording as part of a word; a model trained without the recording has
        not.
        """
        silent = _part_in(current.occupancy, self.table.n_frames, self.n_silence_states) > 0.5
        names = [name for name in self.table.ids if name not in current.occupancy.failed]
        n_folds = min(FOLDS, len(names))
        for number in range(n_folds if n_folds > 1 else 0):
            own = self.table.subset(names[number::n_folds])
            rows = np.zeros(self.table.n_frames, bool)
            for name in own.ids:
                rows[self.table.rows(name)] = True
            occupancy = self.occupied(self.of_states(current.occupancy.without(rows)), own)
            silent[rows] |= _part_in(occupancy, own.n_frames, self.n_silence_states) > 0.5
        return silent

    def of_states(self, occupancy: Occupancy) -> Models:
        """Grow mixtures to `LEARNT_BY` Gaussians, silence first, without realigning."""
        models = self.reestimate((self.overall, uniform_self_loops(self.topology)), occupancy)
        models = self.split(models, occupancy, self.settings.silence_gaussian_ratio, self.topology.silence_states)
        return self.split(models, occupancy, LEARNT_BY)

    def split(self, models: Models, occupancy: Occupancy, factor: int, states: Sequence[int] | None = None) -> Models:
        """Multiply the Gaussians of these states (default: all) by a power of two, without realigning."""
        for _ in range(factor.bit_length() - 1):
            models = models[0].split(states=states), models[1]
            for _ in range(BROADENING):
                models = self.reestimate(models, occupancy)
        return models

    def heard_silence(self, silent: np.ndarray, guided: FrameTable | None) -> FrameTable:
        """Return the table with evidence for pauses from this silence and the earlier pauses."""
        if guided is not None:
            silent = silent | (guided.frames[:, -1] < 0)
        evidence = np.where(silent, -CERTAIN, CERTAIN).astype(np.float32)
        frames = np.hstack([self.table.frames, evidence[:, None]])
        return FrameTable(self.table.ids, self.table.speakers, frames, self.table.offsets)


def _reestimate(
    mixtures: GaussianMixtures,
    table: FrameTable,
    occupancy: Occupancy,
    floor: np.ndarray,
    settings: GrowthSettings,
    pool: ThreadPoolExecutor,
) -> tuple[GaussianMixtures, np.ndarray]:
    def frames_of_state(state: int) -> tuple[np.ndarray, np.ndarray | None]:
        rows = slice(occupancy.starts[state], occupancy.starts[state + 1])
        weights = None if occupancy.weights is None else occupancy.weights[rows]
        return table.frames[occupancy.frames[rows]], weights

    updated = mixtures.update(
        frames_of_state,
        variance_floor=floor,
        minimum_count=settings.min_gaussian_count,
        variance_smoothing=settings.variance_smoothing,
        map_states=pool.map,
    )
    return updated, estimate_self_loops(occupancy.stays, occupancy.visits)


def _hard_occupancy(aligned: AlignedTable, n_states: int) -> Occupancy:
    order = np.argsort(aligned.states, kind="stable")
    starts = np.searchsorted(aligned.states[order], np.arange(n_states + 1))
    return Occupancy(
        starts, order, None, aligned.stays, aligned.visits, aligned.log_likelihood_per_frame, aligned.failed
    )


def _is_little(table: FrameTable, graphs: Mapping[str, StateGraph], n_units: int) -> bool:
    """Check whether there are few frames for each unit of the transcripts."""
    used = np.zeros(n_units, bool)
    for name in table.ids:
        used[graphs[name].arc_unit] = True
    return table.n_frames < LITTLE_SPEECH * int(used.sum())


def _part_in(occupancy: Occupancy, n_frames: int, n_states: int) -> np.ndarray:
    """Return the fraction of every frame that belongs to the first states, such as silence, float64 (n_frames,)."""
    rows = slice(0, occupancy.starts[n_states])
    weights = None if occupancy.weights is None else occupancy.weights[rows]
    return np.bincount(occupancy.frames[rows], weights, minlength=n_frames).astype(np.float64)


def _pauses_kept(occupancy: Occupancy, guided: FrameTable, n_silence_states: int) -> float:
    """Return the fraction of pause-like frames that belongs to silence."""
    silence = _part_in(occupancy, guided.n_frames, n_silence_states)
    paused = guided.frames[:, -1] <= -0.5 * CERTAIN
    return float(silence[paused].mean()) if paused.any() else 1.0


def _expected_occupancy(
    model: AcousticModel,
    table: FrameTable,
    graphs: Mapping[str, StateGraph],
    topology: Topology,
    self_loops: np.ndarray,
    workers: Workers,
) -> Occupancy:
    items = ((batch, [graphs[name] for name in batch.ids]) for batch in table.batches())
    workers = in_threads(workers)
    shared = workers.share((model, topology, self_loops))
    found = [result for batch in workers.map(_expect_batch, items, shared) for result in batch]
    failed = {name: result for name, result in zip(table.ids, found, strict=True) if isinstance(result, Issue)}
    kept = [result for result in found if not isinstance(result, Issue)]
    if not kept:
        raise none_aligned(failed, len(table))
    starts = [table.rows(name).start for name in table.ids if name not in failed]
    states = np.concatenate([e.states for e in kept])
    order = np.argsort(states, kind="stable")
    return Occupancy(
        np.searchsorted(states[order], np.arange(topology.n_states + 1)),
        np.concatenate([e.frames + start for e, start in zip(kept, starts, strict=True)])[order],
        np.concatenate([e.weights for e in kept])[order],
        np.sum([e.stays for e in kept], axis=0),
        np.sum([e.visits for e in kept], axis=0),
        sum(e.log_likelihood for e in kept) / sum(e.n_frames for e in kept),
        failed,
    )


@dataclass(frozen=True)
class _Expectation:
    """Occupancies above `MIN_OCCUPANCY` of one utterance: frame, state, probability."""

    frames: np.ndarray
    states: np.ndarray
    weights: np.ndarray
    n_frames: int
    log_likelihood: float
    stays: np.ndarray
    visits: np.ndarray


def _expect_batch(
    item: tuple[FrameTable, list[StateGraph]], constants: tuple[AcousticModel, Topology, np.ndarray]
) -> list[_Expectation | Issue]:
    batch, graphs = item
    return [attempt(_expect, batch.utterance(number), graph, *constants) for number, graph in enumerate(graphs)]


def _expect(
    frames: np.ndarray, graph: StateGraph, model: AcousticModel, topology: Topology, self_loops: np.ndarray
) -> _Expectation | Issue:
    scores = model.log_likelihood(frames)
    posteriors = forward_backward(scores, graph, topology, self_loops)
    if posteriors is None:
        return no_path_fault(len(scores), graph)
    rows, states = np.nonzero(posteriors.states > MIN_OCCUPANCY)
    return _Expectation(
        rows,
        states,
        posteriors.states[rows, states],
        len(scores),
        posteriors.log_likelihood,
        posteriors.stays,
        posteriors.visits,
    )
