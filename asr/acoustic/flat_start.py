"""Flat start: first models from evidence for pauses.

If a recording that is half silence is divided evenly among the states of its transcript, most of the silence falls into
the first and last phones, and no iteration corrects this. Here the initial models come from expected counts. All speech
states are equal, and silence states differ from them only by the evidence for a pause (`asr.alignment.pauses`).
Forward-backward over every transcript's graph, with optional silence between words, gives the state posteriors. Long
stretches of speech are divided softly and evenly among their states. While each state has a single Gaussian, which is
too broad to model all background noise, the same evidence is added to the scores.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from asr.acoustic.gmm import GaussianMixtures
from asr.alignment.forced_alignment import equal_runs, no_path_fault, shortest_path_frames
from asr.alignment.forward_backward import forward_backward
from asr.alignment.pause_model import GUIDANCE
from asr.alignment.pauses import pause_evidence
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology, estimate_self_loops
from asr.util.errors import AlignmentError
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers

_SILENCE_FRAMES = 10.0  # initial mean duration of a silence state; short pauses are left to later iterations
_SPEECH_FRAMES = 1.5  # minimum mean duration of a speech state
# self-loop that makes leaving the short pause expensive; otherwise it takes every weak frame
_NO_SHORT_PAUSE = 1.0 - 1e-12
_MAX_LATTICE = 20_000_000  # frames times arcs of an utterance; above this it is divided evenly
_MINIMUM_COUNT = 8.0  # frames; a state with fewer keeps the Gaussian of all frames


@dataclass(frozen=True)
class GuidedMixtures:
    """Mixtures for frames whose last column is the evidence for speech."""

    mixtures: GaussianMixtures
    n_silence_states: int

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """Return state scores, float32 (n_frames, n_states), of float32 (n_frames, n_features + 1).

        Negative evidence lowers the scores of speech; positive evidence lowers those of silence.
        """
        scores = self.mixtures.log_likelihood(np.ascontiguousarray(frames[:, :-1]))
        evidence = GUIDANCE * frames[:, -1:]
        scores[:, : self.n_silence_states] -= np.maximum(evidence, 0.0)
        scores[:, self.n_silence_states :] += np.minimum(evidence, 0.0)
        return scores


def with_evidence(table: FrameTable, graphs: Mapping[str, StateGraph], frame_shift: float = 0.01) -> FrameTable:
    """Return the table with the evidence for speech as an additional last column.

    Utterances that are too short for their transcripts are not used to learn pauses.
    """
    lengths = np.diff(table.offsets)
    shortest = np.array([shortest_path_frames(graphs[name]) for name in table.ids])
    fitting = [name for name, fits in zip(table.ids, lengths >= shortest, strict=True) if fits]
    evidence = np.zeros((table.n_frames, 1), np.float32)
    if fitting:
        used = table if len(fitting) == len(table) else table.subset(fitting)
        rows = np.repeat(lengths >= shortest, lengths)
        evidence[rows, 0] = pause_evidence(used, frame_shift)
    return FrameTable(table.ids, table.speakers, np.hstack([table.frames, evidence]), table.offsets)


def pause_share(table: FrameTable) -> float:
    """Return the fraction of frames of a table from `with_evidence` with evidence for a pause."""
    return float(np.mean(table.frames[:, -1] < 0.0))


def first_models(
    table: FrameTable,
    graphs: Mapping[str, StateGraph],
    topology: Topology,
    overall: GaussianMixtures,
    variance_floor: np.ndarray,
    *,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> tuple[GaussianMixtures, np.ndarray]:
    """Estimate one Gaussian per state, and self-loops, from the evidence for speech.

    `table`: from `with_evidence`. `overall`: one Gaussian of all frames for every state; states with few frames keep
    it. `variance_floor`: float64 (n_features,). Raises AlignmentError if no utterance is long enough for its
    transcript.

    Returns
    -------
    mixtures, self_loops
        `self_loops` is float64 (n_units,). The result does not depend on the workers.
    """
    self_loops = _first_self_loops(table, graphs, topology)
    items = ((batch, [graphs[name] for name in batch.ids]) for batch in table.batches())
    workers = in_threads(workers)
    n_states, n_features = topology.n_states, table.n_features - 1
    total = _no_moments(n_states, n_features, topology.n_units)
    for part in workers.map(_expected_moments, items, workers.share((topology, self_loops))):
        for sum_of_all, own in zip(total, part, strict=True):
            sum_of_all += own
    if not total[0].any():
        name = next(iter(table.ids), "")
        reason = no_path_fault(len(table.utterance(name)), graphs[name]).message if name else "the corpus is empty"
        raise AlignmentError(f"none of the {len(table)} utterances can be aligned. The first, {name}: {reason}")
    counts, sums, squares, stays, visits = total
    means, variances = overall.means[:, 0].copy(), overall.variances[:, 0].copy()
    seen = counts >= _MINIMUM_COUNT
    means[seen] = sums[seen] / counts[seen, None]
    variances[seen] = np.maximum(squares[seen] / counts[seen, None] - means[seen] ** 2, variance_floor)
    mixtures = GaussianMixtures(np.zeros((topology.n_states, 1)), means[:, None], variances[:, None])
    return mixtures, estimate_self_loops(stays, visits)


def _first_self_loops(table: FrameTable, graphs: Mapping[str, StateGraph], topology: Topology) -> np.ndarray:
    """Set self-loops from the amount of speech per unit, and a fixed mean duration of silence."""
    n_units = sum(shortest_path_frames(graphs[name]) for name in table.ids)
    spoken = int((table.frames[:, -1] > 0).sum())
    self_loops = np.full(topology.n_units, 1.0 - 1.0 / max(_SPEECH_FRAMES, spoken / max(1, n_units)))
    self_loops[topology.silence_states] = 1.0 - 1.0 / _SILENCE_FRAMES
    self_loops[-1] = _NO_SHORT_PAUSE
    return self_loops


Moments = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _expected_moments(item: tuple[FrameTable, list[StateGraph]], constants: tuple[Topology, np.ndarray]) -> Moments:
    """Sum expected counts (n_states,), sums and sums of squares (n_states, n_features), stays and visits (n_units,)."""
    batch, graphs = item
    topology, self_loops = constants
    moments = _no_moments(topology.n_states, batch.n_features - 1, topology.n_units)
    counts, sums, squares, stays, visits = moments
    for number, graph in enumerate(graphs):
        frames = batch.utterance(number)
        found = _expect(frames[:, -1], graph, topology, self_loops)
        if found is None:
            continue
        occupied, stayed, visited = found
        x = frames[:, :-1].astype(np.float64)
        counts += occupied.sum(axis=0)
        sums += occupied.T @ x
        squares += occupied.T @ (x * x)
        stays += stayed
        visits += visited
    return moments


def _no_moments(n_states: int, n_features: int, n_units: int) -> Moments:
    sums = np.zeros((n_states, n_features))
    return np.zeros(n_states), sums, np.zeros_like(sums), np.zeros(n_units), np.zeros(n_units)


def _expect(
    evidence: np.ndarray, graph: StateGraph, topology: Topology, self_loops: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the state posteriors, and expected stays and visits; None if no path fits."""
    n_frames = len(evidence)
    if n_frames * graph.n_arcs <= _MAX_LATTICE:
        scores = np.repeat(evidence[:, None], topology.n_states, axis=1)
        scores[:, topology.silence_states] = 0.0
        posteriors = forward_backward(scores, graph, topology, self_loops)
        return None if posteriors is None else (posteriors.states, posteriors.stays, posteriors.visits)
    runs = equal_runs(graph, topology, n_frames)
    if runs is None:
        return None
    units, lengths = runs
    occupied = np.zeros((n_frames, topology.n_states))
    occupied[np.arange(n_frames), np.repeat(topology.unit_state[units], lengths)] = 1.0
    return (
        occupied,
        np.bincount(units, lengths - 1, minlength=topology.n_units),
        np.bincount(units, minlength=topology.n_units).astype(np.float64),
    )
