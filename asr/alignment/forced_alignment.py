"""Viterbi alignment of transcribed utterances, with wider beams for those that fail."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from asr.decode.path_segments import unit_runs
from asr.decode.token_passing import BestPath, best_path
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology
from asr.util.errors import Fault

DEFAULT_BEAMS = (200.0, 1000.0, float("inf"))
_WRONG = 1e6  # what a frame of another state costs a path, more than all else can


@dataclass(frozen=True)
class Alignment:
    """Forced alignment of one utterance: the path through its transcript graph."""

    path: BestPath
    graph: StateGraph

    @property
    def runs(self) -> tuple[np.ndarray, np.ndarray]:
        """The units entered one after the other, int32 (n,), and for how many frames each, int (n,)."""
        return unit_runs(self.path, self.graph)


def align_utterance(
    scores: np.ndarray,
    graph: StateGraph,
    topology: Topology,
    self_loops: np.ndarray,
    beams: Sequence[float] = DEFAULT_BEAMS,
) -> Alignment | Fault:
    """Align one utterance; returns the fault if no beam finds a complete path.

    Parameters
    ----------
    scores : float32 (n_frames, n_states)
        Natural log-likelihoods.
    graph : StateGraph
        From `transcript_graph`.
    beams : sequence of float
        Tried in order; the next one only where the last failed.
    """
    for beam in beams:
        path = best_path(scores, graph, topology.unit_state, self_loops, beam=beam)
        if path is not None and path.complete:
            return Alignment(path, graph)
    return no_path_fault(len(scores), graph)


def path_of_states(states: np.ndarray, graph: StateGraph, topology: Topology) -> BestPath:
    """The path through a transcript's graph on which every frame is in its given state, int32 (n_frames,).

    Raises
    ------
    ValueError
        If there is none.
    """
    scores = np.full((len(states), topology.n_states), -_WRONG, np.float32)
    scores[np.arange(len(states)), states] = 0.0
    found = align_utterance(scores, graph, topology, np.full(topology.n_units, 0.5), beams=(_WRONG / 2,))
    if isinstance(found, Fault) or found.path.score < -_WRONG / 2:
        raise ValueError("the states do not follow the transcript's graph")
    return found.path


def no_path_fault(n_frames: int, graph: StateGraph) -> Fault:
    """Why an utterance of `n_frames` cannot be aligned."""
    shortest = shortest_path_frames(graph)
    if n_frames < shortest:
        reason = f"{n_frames} frames are fewer than the {shortest} that its transcript needs at the least"
        return Fault("too-short", reason)
    return Fault("not-aligned", f"no path with a finite score through its transcript in {n_frames} frames")


def shortest_path_frames(graph: StateGraph) -> int:
    """Fewest frames in which an acyclic graph can be crossed."""
    unreachable = np.iinfo(np.int64).max // 2
    fewest = np.full(graph.n_nodes, unreachable)
    fewest[graph.initial] = 0
    for node in graph.topological_order():
        for starts, ends, frames in (
            (graph.arc_start, graph.arc_end, 1),
            (graph.jump_start, graph.jump_end, 0),
        ):
            following = ends[starts[node] : starts[node + 1]]
            np.minimum.at(fewest, following, fewest[node] + frames)
    return int(fewest[np.isfinite(graph.final_weight)].min())


def equal_runs(graph: StateGraph, topology: Topology, n_frames: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Flat start: the units of a path with silence at both ends, int32 (n,), all of equal length, int (n,).

    The first pronunciation of every word is taken and no pause between words. Where silence leaves too few frames it
    is left out; None if even then there are too few. An utterance without words is all one silence.
    """
    units, _ = straight_units(graph, topology)
    silence = topology.silence_states
    with_silence = np.concatenate([silence, units, silence] if len(units) else [silence]).astype(np.int32)
    for found in (with_silence, units):
        if 0 < len(found) <= n_frames:
            return found, np.bincount(np.arange(n_frames) * len(found) // n_frames)
    return None


def straight_units(graph: StateGraph, topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    """Units of the first pronunciations, without silence, int32 (n,), and which of them begin a word, bool (n,)."""
    units: list[int] = []
    begins: list[bool] = []
    node = graph.initial
    silence = topology.silence_states
    while True:
        arcs = range(graph.arc_start[node], graph.arc_start[node + 1])
        jumps = range(graph.jump_start[node], graph.jump_start[node + 1])
        speech = [arc for arc in arcs if topology.unit_state[graph.arc_unit[arc]] not in silence]
        if speech:
            units.append(int(graph.arc_unit[speech[0]]))
            begins.append(bool(graph.arc_begins_word[speech[0]]))
            node = int(graph.arc_end[speech[0]])
        elif len(jumps):
            node = int(graph.jump_end[jumps[0]])
        else:
            return np.array(units, np.int32), np.array(begins, bool)
