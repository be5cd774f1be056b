"""The state and score of every frame of a path, and its phones and words with their times in frames."""

from dataclasses import dataclass

import numpy as np

from asr.decode.search_graph import transitions
from asr.decode.token_passing import BestPath
from asr.hmm.state_graph import FILLER_PAUSE, StateGraph
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology


@dataclass(frozen=True, slots=True)
class Segment:
    """A word or phone from frame `start` up to, not including, `end`; `confidence` may be unknown."""

    label: str
    start: int
    end: int
    confidence: float | None = None


def unit_runs(path: BestPath, graph: StateGraph) -> tuple[np.ndarray, np.ndarray]:
    """Return the units in order, int32 (n,), and their numbers of frames, int (n,)."""
    taken = path.arcs >= 0
    return graph.arc_unit[path.arcs[taken]], np.diff(np.append(path.frames[taken], path.n_frames))


def frame_units(path: BestPath, graph: StateGraph) -> np.ndarray:
    """Return the unit of every frame, int32 (n_frames,)."""
    return np.repeat(*unit_runs(path, graph))


def frame_states(path: BestPath, graph: StateGraph, topology: Topology) -> np.ndarray:
    """Return the emission state of every frame, int32 (n_frames,)."""
    return topology.unit_state[frame_units(path, graph)]


def frame_scores(
    path: BestPath, graph: StateGraph, scores: np.ndarray, topology: Topology, self_loops: np.ndarray
) -> np.ndarray:
    """Return each frame's contribution to a path without the grammar, natural log, float64 (n_frames,).

    It is the state's score, plus the log probability to stay in the unit or, in its last frame, to leave it.
    """
    stay, leave = transitions(self_loops)
    units, lengths = unit_runs(path, graph)
    found = scores[np.arange(len(scores)), topology.unit_state[np.repeat(units, lengths)]].astype(np.float64)
    found += np.repeat(stay[units], lengths)
    found[np.cumsum(lengths) - 1] += leave[units] - stay[units]
    return found


def phone_segments(path: BestPath, graph: StateGraph, topology: Topology) -> list[Segment]:
    """Return the phones in order of time, including silence and short pause."""
    taken = path.arcs >= 0
    units = graph.arc_unit[path.arcs[taken]]
    frames = path.frames[taken]
    phones = topology.unit_phone[units]
    starts = np.flatnonzero(topology.unit_position[units] == 0)
    ends = np.append(frames[starts], path.n_frames)[1:]
    return [
        Segment(topology.phone_names[phones[start]], int(frames[start]), int(end))
        for start, end in zip(starts, ends, strict=True)
    ]


def word_segments(path: BestPath, graph: StateGraph, topology: Topology) -> list[Segment]:
    """Return the words in order of time, without the pause or silence after each word.

    Pauses between the phones of a filler are part of it. A word that the end of the audio cuts off before it is
    identified is left out.
    """
    words: list[str] = []
    spans: list[list[int]] = []
    pauses = {topology.phone_number[SILENCE], topology.phone_number[SHORT_PAUSE]}
    open_word = False
    for arc, frame in zip(path.arcs.tolist(), path.frames.tolist(), strict=True):
        word = int(graph.arc_word[arc] if arc >= 0 else graph.jump_word[-1 - arc])
        if word >= 0:
            words.append(graph.words[word])
        if arc < 0:
            continue
        begins = bool(graph.arc_begins_word[arc])
        inside = graph.arc_filler is not None and int(graph.arc_filler[arc]) == FILLER_PAUSE
        pause = not inside and int(topology.unit_phone[graph.arc_unit[arc]]) in pauses
        if open_word and (begins or pause):
            spans[-1][1] = frame
            open_word = False
        if begins:
            spans.append([frame, path.n_frames])
            open_word = True
    return [Segment(word, start, end) for word, (start, end) in zip(words, spans, strict=False)]
