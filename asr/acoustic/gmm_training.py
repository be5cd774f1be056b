"""GMM-HMM training from a flat start: align, re-estimate, split the mixtures, again."""

import logging
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel, ConfigDict
from threadpoolctl import threadpool_limits

from asr.acoustic.gmm import GaussianMixtures, single_gaussians
from asr.align.forced_alignment import align_utterance, equal_units
from asr.align.forward_backward import forward_backward
from asr.errors import AlignmentError
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology, estimate_self_loops, uniform_self_loops

log = logging.getLogger("asr")


class GmmSettings(BaseModel):
    """How the mixtures are grown."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mixtures: tuple[int, ...] = (1, 2, 4, 8, 16)
    """Numbers of components at which a model is handed out; each twice the one before."""
    iterations: tuple[int, ...] = (10, 5, 5, 6, 6)
    """Re-alignments at each number of components."""
    training: str = "viterbi"
    """`viterbi` (best path) or `baum-welch` (expected occupancies)."""
    variance_floor: float = 0.01
    """Smallest variance, as a fraction of the variance over all frames."""


@dataclass(frozen=True)
class GmmHmm:
    """A GMM-HMM: the mixtures of the states, and the self-loops of the units."""

    topology: Topology
    mixtures: GaussianMixtures
    self_loops: np.ndarray

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """State scores, float32 (n_frames, n_states), of frames, float32 (n_frames, n_features)."""
        return self.mixtures.log_likelihood(frames)


@dataclass(frozen=True)
class Occupancy:
    """Which states the frames of a corpus belong to, and how often units were entered and held.

    `frames[starts[s]:starts[s + 1]]` are the frames of state s, with `weights` (None for ones).
    """

    starts: np.ndarray
    frames: np.ndarray
    weights: np.ndarray | None
    stays: np.ndarray
    visits: np.ndarray
    log_likelihood_per_frame: float
    failed: Mapping[str, str]


def train_gmm(
    table: FrameTable,
    graphs: Mapping[str, StateGraph],
    topology: Topology,
    settings: GmmSettings = GmmSettings(),  # noqa: B008 (frozen)
    *,
    jobs: int = 1,
) -> Iterator[tuple[int, GmmHmm, list[float]]]:
    """Grow GMM-HMMs from a flat start.

    Parameters
    ----------
    table : FrameTable
        Training frames.
    graphs : mapping of utterance id to StateGraph
        Transcript graphs of all utterances of the table.

    Yields
    ------
    n_components, model, curve
        At every number of components in the settings; the curve holds the log-likelihood per frame before each
        re-estimation at that number.

    Raises
    ------
    AlignmentError
        If no utterance at all can be aligned.
    """
    mean = table.frames.mean(axis=0, dtype=np.float64)
    variance = np.square(table.frames - mean.astype(np.float32)).mean(axis=0, dtype=np.float64)
    floor = settings.variance_floor * variance
    model = GmmHmm(topology, single_gaussians(mean, variance, topology.n_states), uniform_self_loops(topology))
    occupancy = _flat_occupancy(table, graphs, topology)
    collect = _expected_occupancy if settings.training == "baum-welch" else _aligned_occupancy
    with ThreadPoolExecutor(jobs) as pool, threadpool_limits(1):
        model = _reestimate(model, table, occupancy, floor, pool)
        for n_components, iterations in zip(settings.mixtures, settings.iterations, strict=True):
            while model.mixtures.log_weights.shape[1] < n_components:
                model = GmmHmm(topology, model.mixtures.split(), model.self_loops)
            curve = []
            for _ in range(iterations):
                occupancy = collect(model, table, graphs, pool)
                curve.append(occupancy.log_likelihood_per_frame)
                model = _reestimate(model, table, occupancy, floor, pool)
            log.info(
                "trained %d Gaussians a state: log-likelihood per frame %.3f, %d of %d utterances not aligned",
                n_components, curve[-1], len(occupancy.failed), len(table),
            )  # fmt: skip
            yield n_components, model, curve
    for name, reason in sorted(occupancy.failed.items()):
        log.warning("%s: not aligned: %s", name, reason)


def _reestimate(
    model: GmmHmm, table: FrameTable, occupancy: Occupancy, floor: np.ndarray, pool: ThreadPoolExecutor
) -> GmmHmm:
    def frames_of_state(state: int) -> tuple[np.ndarray, np.ndarray | None]:
        rows = slice(occupancy.starts[state], occupancy.starts[state + 1])
        weights = None if occupancy.weights is None else occupancy.weights[rows]
        return table.frames[occupancy.frames[rows]], weights

    mixtures = model.mixtures.update(frames_of_state, variance_floor=floor, map_states=pool.map)
    return GmmHmm(model.topology, mixtures, estimate_self_loops(occupancy.stays, occupancy.visits))


def _flat_occupancy(table: FrameTable, graphs: Mapping[str, StateGraph], topology: Topology) -> Occupancy:
    units, failed = [], {}
    for name, length in zip(table.ids, np.diff(table.offsets), strict=True):
        flat = equal_units(graphs[name], topology, int(length))
        if flat is None:
            failed[name] = f"{length} frames are fewer than its transcript needs"
        units.append(flat)
    return _hard_occupancy(units, table, topology, 0.0, failed)


def _aligned_occupancy(
    model: GmmHmm, table: FrameTable, graphs: Mapping[str, StateGraph], pool: ThreadPoolExecutor
) -> Occupancy:
    def align(name: str) -> tuple[np.ndarray | None, float, str]:
        scores = model.log_likelihood(table.utterance(name))
        result = align_utterance(scores, graphs[name], model.topology, model.self_loops)
        if isinstance(result, str):
            return None, 0.0, result
        return result.units, result.path.score, ""

    results = list(pool.map(align, table.ids))
    units = [result[0] for result in results]
    failed = {name: result[2] for name, result in zip(table.ids, results, strict=True) if result[0] is None}
    return _hard_occupancy(units, table, model.topology, sum(result[1] for result in results), failed)


def _hard_occupancy(
    units: list[np.ndarray | None], table: FrameTable, topology: Topology, total: float, failed: Mapping[str, str]
) -> Occupancy:
    states, stays, visits = count_units(units, table, topology)
    n_aligned = int((states >= 0).sum())
    if not n_aligned:
        raise AlignmentError(f"none of the {len(table)} utterances could be aligned; first reason: {next(iter(failed.values()))}")
    order = np.argsort(states, kind="stable")
    starts = np.searchsorted(states[order], np.arange(topology.n_states + 1))
    return Occupancy(starts, order, None, stays, visits, total / n_aligned, failed)


def count_units(
    units: list[np.ndarray | None], table: FrameTable, topology: Topology
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """State of every frame of the table (-1 where its utterance has no units), and stays and visits of every unit."""
    states = np.full(len(table.frames), -1, np.int32)
    stays = np.zeros(topology.n_units)
    visits = np.zeros(topology.n_units)
    for number, path in enumerate(units):
        if path is None:
            continue
        states[table.offsets[number] : table.offsets[number + 1]] = topology.unit_state[path]
        entered = np.append(True, path[1:] != path[:-1])
        visits += np.bincount(path[entered], minlength=topology.n_units)
        stays += np.bincount(path[~entered], minlength=topology.n_units)
    return states, stays, visits


def _expected_occupancy(
    model: GmmHmm, table: FrameTable, graphs: Mapping[str, StateGraph], pool: ThreadPoolExecutor
) -> Occupancy:
    def expect(name: str):  # type: ignore[no-untyped-def]
        posteriors = forward_backward(
            model.log_likelihood(table.utterance(name)), graphs[name], model.topology, model.self_loops
        )
        if posteriors is None:
            return None
        frames, states = np.nonzero(posteriors.states > 1e-4)
        return (
            posteriors.log_likelihood, frames, states, posteriors.states[frames, states], posteriors.stays,
            posteriors.visits,
        )  # fmt: skip

    results = list(pool.map(expect, table.ids))
    failed = {
        name: "no path through its transcript fits into its frames"
        for name, result in zip(table.ids, results, strict=True)
        if result is None
    }
    kept = [(start, result) for start, result in zip(table.offsets[:-1], results, strict=True) if result is not None]
    if not kept:
        raise AlignmentError(f"none of the {len(table)} utterances could be aligned")
    frames = np.concatenate([start + result[1] for start, result in kept])
    states = np.concatenate([result[2] for _, result in kept])
    weights = np.concatenate([result[3] for _, result in kept])
    order = np.argsort(states, kind="stable")
    starts = np.searchsorted(states[order], np.arange(model.topology.n_states + 1))
    n_frames = sum(int(length) for length, result in zip(np.diff(table.offsets), results, strict=True) if result is not None)
    return Occupancy(
        starts,
        frames[order],
        weights[order],
        sum(result[4] for _, result in kept),
        sum(result[5] for _, result in kept),
        sum(result[0] for _, result in kept) / n_frames,
        failed,
    )
