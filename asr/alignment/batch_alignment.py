"""Alignment of a whole table of frames: the state of every frame, and how long units were held."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from asr.alignment.forced_alignment import DEFAULT_BEAMS, Alignment, align_utterance, equal_runs, no_path_fault
from asr.features.frame_table import NOT_FINITE, FrameTable
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology
from asr.util.errors import AlignmentError, Issue, attempt
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers

UnitRuns = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class AlignedTable:
    """Alignment of a FrameTable."""

    states: np.ndarray  # int32 (n_frames,); emission state of every frame; -1 in utterances that failed
    stays: np.ndarray  # float64 (n_units,); self-transitions
    visits: np.ndarray  # float64 (n_units,); entries
    log_likelihood_per_frame: float  # of the best paths, natural log
    failed: Mapping[str, Issue]


def align_table(
    log_likelihood: Callable[[np.ndarray], np.ndarray],
    table: FrameTable,
    graphs: Mapping[str, StateGraph],
    topology: Topology,
    self_loops: np.ndarray,
    *,
    beams: tuple[float, ...] = DEFAULT_BEAMS,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> AlignedTable:
    """Align every utterance with the Viterbi algorithm; the result does not depend on the workers.

    Raises AlignmentError if no utterance can be aligned.

    Parameters
    ----------
    log_likelihood : callable
        State scores of frames, float32 (n_frames, n_features) to (n_frames, n_states). Must support pickling for worker
        processes.
    graphs : mapping of utterance id to StateGraph
        Transcript graphs of all utterances.
    """
    items = ((batch, [graphs[name] for name in batch.ids]) for batch in table.batches())
    workers = in_threads(workers)
    shared = workers.share(log_likelihood), workers.share((topology, self_loops, beams))
    results = [result for batch in workers.map(_align_batch, items, *shared) for result in batch]
    return collect_runs(table, topology, [runs for runs, _ in results], sum(score for _, score in results))


def _align_batch(
    item: tuple[FrameTable, list[StateGraph]],
    log_likelihood: Callable[[np.ndarray], np.ndarray],
    constants: tuple[Topology, np.ndarray, tuple[float, ...]],
) -> list[tuple[UnitRuns | Issue, float]]:
    """Return units or a fault, and the score, of every utterance; short utterances are scored together."""
    batch, graphs = item
    finite = np.isfinite(batch.frames).all()
    scores = attempt(log_likelihood, batch.frames) if finite else Issue("not-finite", NOT_FINITE)
    if isinstance(scores, Issue):
        if len(batch) > 1:  # One utterance failed: score each separately.
            alone = zip(batch.batches(0), graphs, strict=True)
            return [_align_batch((one, [graph]), log_likelihood, constants)[0] for one, graph in alone]
        return [(scores, 0.0)]
    results: list[tuple[UnitRuns | Issue, float]] = []
    for number, graph in enumerate(graphs):
        result = attempt(align_utterance, scores[batch.rows(number)], graph, *constants)
        if isinstance(result, Alignment):
            results.append((result.runs, result.path.score))
        else:
            results.append((result, 0.0))
    return results


def flat_alignment(table: FrameTable, graphs: Mapping[str, StateGraph], topology: Topology) -> AlignedTable:
    """Divide every utterance evenly among the units of its transcript, for a flat start."""
    found = []
    for name, length in zip(table.ids, np.diff(table.offsets).tolist(), strict=True):
        flat = equal_runs(graphs[name], topology, length)
        found.append(no_path_fault(length, graphs[name]) if flat is None else flat)
    return collect_runs(table, topology, found)


def none_aligned(failed: Mapping[str, Issue], n_utterances: int) -> AlignmentError:
    """Return the error for a corpus without any aligned utterance, with the first reason."""
    name, fault = next(iter(failed.items()), ("", Issue("", "the corpus is empty")))
    return AlignmentError(f"none of the {n_utterances} utterances can be aligned. The first, {name}: {fault.message}")


def collect_runs(
    table: FrameTable, topology: Topology, found: Sequence[UnitRuns | Issue], total_score: float = 0.0
) -> AlignedTable:
    """Collect the results of all utterances; raise AlignmentError if all failed."""
    states = np.full(table.n_frames, -1, np.int32)
    stays, visits = np.zeros(topology.n_units), np.zeros(topology.n_units)
    failed = {}
    for number, runs in enumerate(found):
        if isinstance(runs, Issue):
            failed[table.ids[number]] = runs
            continue
        units, lengths = runs
        states[table.rows(number)] = np.repeat(topology.unit_state[units], lengths)
        visits += np.bincount(units, minlength=topology.n_units)
        stays += np.bincount(units, lengths - 1, minlength=topology.n_units)
    n_aligned = int((states >= 0).sum())
    if not n_aligned:
        raise none_aligned(failed, len(table))
    return AlignedTable(states, stays, visits, total_score / n_aligned, failed)
