"""Viterbi alignment of transcribed utterances; utterances that fail are retried with wider beams."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from asr.decode.path_segments import unit_runs
from asr.decode.token_passing import BestPath, best_path
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology
from asr.util.errors import Issue

DEFAULT_BEAMS = (200.0, 1000.0, float("inf"))
_WRONG = 1e6  # cost of a frame in a wrong state, larger than all others together


@dataclass(frozen=True)
class Alignment:
    """Forced alignment of one utterance: the path through its transcript graph."""

    path: BestPath
    graph: StateGraph

    @property
    def runs(self) -> tuple[np.ndarray, np.ndarray]:
        """The units in order, int32 (n,), and their numbers of frames, int (n,)."""
        return unit_runs(self.path, self.graph)


def align_utterance(
    scores: np.ndarray,
    graph: StateGraph,
    topology: Topology,
    self_loops: np.ndarray,
    beams: Sequence[float] = DEFAULT_BEAMS,
) -> Alignment | Issue:
    """Align one utterance; return a fault if no beam finds a complete path.

    `scores`, float32 (n_frames, n_states), are natural log-likelihoods. `graph` comes from `transcript_graph`. `beams`
    are tried in order until one succeeds.
    """
    for beam in beams:
        path = best_path(scores, graph, topology.unit_state, self_loops, beam=beam)
        if path is not None and path.complete:
            return Alignment(path, graph)
    return no_path_fault(len(scores), graph)


def path_of_states(states: np.ndarray, graph: StateGraph, topology: Topology) -> BestPath:
    """Return the path through a transcript's graph with these states, int32 (n_frames,); ValueError without one."""
    scores = np.full((len(states), topology.n_states), -_WRONG, np.float32)
    scores[np.arange(len(states)), states] = 0.0
    found = align_utterance(scores, graph, topology, np.full(topology.n_units, 0.5), beams=(_WRONG / 2,))
    if isinstance(found, Issue) or found.path.score < -_WRONG / 2:
        raise ValueError("the states do not follow the graph of the transcript")
    return found.path


def no_path_fault(n_frames: int, graph: StateGraph) -> Issue:
    """Return the fault of an utterance of `n_frames` that cannot be aligned."""
    shortest = shortest_path_frames(graph)
    if n_frames < shortest:
        reason = f"{n_frames} frames are too short for its transcript. Expected at least {shortest}"
        return Issue("too-short", reason)
    return Issue(
        "not-aligned",
        f"no path of its transcript has a finite score in {n_frames} frames",
    )


def shortest_path_frames(graph: StateGraph) -> int:
    """Return the minimum number of frames of a path through an acyclic graph."""
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
    """Return a flat start: units with silence at both ends, int32 (n,), and nearly equal lengths, int (n,).

    It uses the first pronunciation of every word and no pauses between words. Silence is left out if there are too few
    frames; if there are still too few, return None. An utterance without words is all silence.
    """
    units, _ = straight_units(graph, topology)
    silence = topology.silence_states
    with_silence = np.concatenate([silence, units, silence] if len(units) else [silence]).astype(np.int32)
    for found in (with_silence, units):
        if 0 < len(found) <= n_frames:
            return found, np.bincount(np.arange(n_frames) * len(found) // n_frames)
    return None


def straight_units(graph: StateGraph, topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    """Return the units of the first pronunciations, int32 (n,), and whether each begins a word, bool (n,)."""
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
