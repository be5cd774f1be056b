"""A whole table of frames aligned: one state a frame, and how long units were held."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from asr.align.forced_alignment import DEFAULT_BEAMS, align_utterance, equal_runs, no_path_reason
from asr.errors import AlignmentError
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology

CHUNK_FRAMES = 2048


UnitRuns = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class AlignedTable:
    """Alignment of a FrameTable.

    Attributes
    ----------
    states : int32 (n_frames,)
        Emission state of every frame; -1 in utterances that failed.
    stays, visits : float64 (n_units,)
        Self-transitions and entries of every unit.
    log_likelihood_per_frame : float
        Of the best paths, natural log.
    failed : mapping of utterance id to the reason
    """

    states: np.ndarray
    stays: np.ndarray
    visits: np.ndarray
    log_likelihood_per_frame: float
    failed: Mapping[str, str]


def align_table(
    log_likelihood: Callable[[np.ndarray], np.ndarray],
    table: FrameTable,
    graphs: Mapping[str, StateGraph],
    topology: Topology,
    self_loops: np.ndarray,
    *,
    beams: tuple[float, ...] = DEFAULT_BEAMS,
    jobs: int = 1,
) -> AlignedTable:
    """Viterbi alignment of every utterance; the result does not depend on `jobs`.

    Parameters
    ----------
    log_likelihood : callable
        State scores of frames, float32 (n_frames, n_features) to (n_frames, n_states).
    graphs : mapping of utterance id to StateGraph
        Transcript graphs of all utterances of the table.

    Raises
    ------
    AlignmentError
        If no utterance at all can be aligned.
    """

    def align(numbers: range) -> list[tuple[UnitRuns | str, float]]:
        rows = slice(table.offsets[numbers[0]], table.offsets[numbers[-1] + 1])
        scores = log_likelihood(table.frames[rows])
        results: list[tuple[UnitRuns | str, float]] = []
        for number in numbers:
            own = scores[table.offsets[number] - rows.start : table.offsets[number + 1] - rows.start]
            result = align_utterance(own, graphs[table.ids[number]], topology, self_loops, beams)
            results.append((result, 0.0) if isinstance(result, str) else (result.runs, result.path.score))
        return results

    with ThreadPoolExecutor(jobs) as pool, threadpool_limits(1):
        results = [result for chunk in pool.map(align, _chunks(table.offsets)) for result in chunk]
    return _collect(table, topology, [runs for runs, _ in results], sum(score for _, score in results))


def _chunks(offsets: np.ndarray) -> list[range]:
    """Runs of neighbouring utterances of about CHUNK_FRAMES frames, so that short ones are scored together."""
    chunks, first = [], 0
    for number in range(1, len(offsets)):
        if offsets[number] - offsets[first] >= CHUNK_FRAMES or number == len(offsets) - 1:
            chunks.append(range(first, number))
            first = number
    return chunks


def flat_alignment(table: FrameTable, graphs: Mapping[str, StateGraph], topology: Topology) -> AlignedTable:
    """Every utterance divided evenly among the units of its transcript: where a flat start begins."""
    found = []
    for name, length in zip(table.ids, np.diff(table.offsets).tolist(), strict=True):
        flat = equal_runs(graphs[name], topology, length)
        found.append(no_path_reason(length, graphs[name]) if flat is None else flat)
    return _collect(table, topology, found, 0.0)


def _collect(
    table: FrameTable, topology: Topology, found: Sequence[UnitRuns | str], total_score: float
) -> AlignedTable:
    states = np.full(table.n_frames, -1, np.int32)
    stays, visits = np.zeros(topology.n_units), np.zeros(topology.n_units)
    failed = {}
    for number, runs in enumerate(found):
        if isinstance(runs, str):
            failed[table.ids[number]] = runs
            continue
        units, lengths = runs
        states[table.rows(number)] = np.repeat(topology.unit_state[units], lengths)
        visits += np.bincount(units, minlength=topology.n_units)
        stays += np.bincount(units, lengths - 1, minlength=topology.n_units)
    n_aligned = int((states >= 0).sum())
    if not n_aligned:
        name, reason = next(iter(failed.items()), ("", "there are no utterances"))
        raise AlignmentError(f"none of the {len(table)} utterances can be aligned; the first, {name}: {reason}")
    return AlignedTable(states, stays, visits, total_score / n_aligned, failed)
