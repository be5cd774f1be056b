"""How training begins: first models from what sounds like a pause, and a guide until the models know it themselves.

Divide a recording that is half silence evenly among the states of its transcript, and most of the silence lies in the
first and last phones; no iteration brings it back. Here the beginning is an expectation instead. All states of speech
are equal and those of silence differ from them by the evidence for a pause alone (`asr.alignment.pauses`);
forward-backward over every transcript's graph, with optional silence between all words, says how probable each state is
in each frame. Where speech goes on for long, its states divide it softly and evenly; pauses lie where they let the
words beside them last as long as their phones suggest. The Gaussians of these expected counts are the first models.
While a state has a single Gaussian, too blunt to stand for all the noises of a room, the same evidence is added to the
scores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from asr.acoustic.gmm import GaussianMixtures
from asr.alignment.forced_alignment import equal_runs, no_path_fault, shortest_path_frames
from asr.alignment.forward_backward import forward_backward
from asr.alignment.pause_model import CERTAIN, GUIDANCE
from asr.alignment.pauses import pause_evidence
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology, estimate_self_loops
from asr.util.errors import AlignmentError
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers

_SILENCE_FRAMES = 10.0  # that a state of silence lasts on average at first: short pauses are left to later iterations
_SPEECH_FRAMES = 1.5  # that a state of speech lasts on average, at least
_NO_SHORT_PAUSE = 1.0 - 1e-12  # self-loop that makes leaving the short pause dear: it would take every weak frame
_MAX_LATTICE = 20_000_000  # frames times arcs of an utterance, above which it is divided without forward-backward
_MAX_COUNTS = 50_000_000  # utterances times units: 400 MB
_MINIMUM_COUNT = 8.0  # frames; a state with fewer keeps the Gaussian of all frames


@dataclass(frozen=True)
class GuidedMixtures:
    """Mixtures that score frames with their evidence for speech as one more, last column."""

    mixtures: GaussianMixtures
    n_silence_states: int

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """State scores, float32 (n_frames, n_states), of float32 (n_frames, n_features + 1).

        Evidence only ever takes away: from speech where it is negative, from silence where it is positive.
        """
        scores = self.mixtures.log_likelihood(np.ascontiguousarray(frames[:, :-1]))
        evidence = GUIDANCE * frames[:, -1:]
        scores[:, : self.n_silence_states] -= np.maximum(evidence, 0.0)
        scores[:, self.n_silence_states :] += np.minimum(evidence, 0.0)
        return scores


def with_evidence(table: FrameTable, graphs: Mapping[str, StateGraph], frame_shift: float = 0.01) -> FrameTable:
    """The table with the evidence for speech as one more, last column.

    Utterances that are too short for their transcripts have no say in what sounds like a pause; a sound that comes with
    certain phones of the transcripts is none.
    """
    lengths = np.diff(table.offsets)
    shortest = np.array([shortest_path_frames(graphs[name]) for name in table.ids])
    fitting = [name for name, fits in zip(table.ids, lengths >= shortest, strict=True) if fits]
    evidence = np.zeros((table.n_frames, 1), np.float32)
    if fitting:
        used = table if len(fitting) == len(table) else table.subset(fitting)
        rows = np.repeat(lengths >= shortest, lengths)
        evidence[rows, 0] = pause_evidence(used, frame_shift, _said([graphs[name] for name in fitting]))
    return FrameTable(table.ids, table.speakers, np.hstack([table.frames, evidence]), table.offsets)


def quiet_share(table: FrameTable) -> float:
    """Part of the frames of such a table that sound like a pause, though they may come with certain phones."""
    return float(np.mean(table.frames[:, -1] < CERTAIN))


def _said(graphs: Sequence[StateGraph]) -> np.ndarray | None:
    """How often each unit stands in every transcript, float64 (n_utterances, n_units); None where that is too large."""
    n_units = 1 + max(int(graph.arc_unit.max(initial=0)) for graph in graphs)
    if n_units * len(graphs) > _MAX_COUNTS:
        return None
    return np.stack([np.bincount(graph.arc_unit, minlength=n_units) for graph in graphs]).astype(np.float64)


def pause_share(table: FrameTable) -> float:
    """Part of the frames of a table from `with_evidence` that sound like a pause."""
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
    """One Gaussian a state, and self-loops, from the evidence for speech.

    Parameters
    ----------
    table : FrameTable
        From `with_evidence`.
    overall : GaussianMixtures
        One Gaussian of all frames for every state: what a state that is hardly seen keeps.
    variance_floor : float64 (n_features,)

    Returns
    -------
    mixtures, self_loops
        The latter float64 (n_units,). Neither depends on the workers.

    Raises
    ------
    AlignmentError
        If no utterance is long enough for its transcript.
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
        reason = no_path_fault(len(table.utterance(name)), graphs[name]).reason if name else "there are no utterances"
        raise AlignmentError(f"none of the {len(table)} utterances can be aligned; the first, {name}: {reason}")
    counts, sums, squares, stays, visits = total
    means, variances = overall.means[:, 0].copy(), overall.variances[:, 0].copy()
    seen = counts >= _MINIMUM_COUNT
    means[seen] = sums[seen] / counts[seen, None]
    variances[seen] = np.maximum(squares[seen] / counts[seen, None] - means[seen] ** 2, variance_floor)
    mixtures = GaussianMixtures(np.zeros((topology.n_states, 1)), means[:, None], variances[:, None])
    return mixtures, estimate_self_loops(stays, visits)


def _first_self_loops(table: FrameTable, graphs: Mapping[str, StateGraph], topology: Topology) -> np.ndarray:
    """Speech lasts as long as there is of it, silence rather long."""
    n_units = sum(shortest_path_frames(graphs[name]) for name in table.ids)
    spoken = int((table.frames[:, -1] > 0).sum())
    self_loops = np.full(topology.n_units, 1.0 - 1.0 / max(_SPEECH_FRAMES, spoken / max(1, n_units)))
    self_loops[topology.silence_states] = 1.0 - 1.0 / _SILENCE_FRAMES
    self_loops[-1] = _NO_SHORT_PAUSE
    return self_loops


Moments = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _expected_moments(item: tuple[FrameTable, list[StateGraph]], constants: tuple[Topology, np.ndarray]) -> Moments:
    """Expected counts (n_states,), sums and sums of squares (n_states, n_features), stays and visits (n_units,)."""
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
    """Probability of every state in every frame, and expected stays and visits; None if no path fits."""
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
