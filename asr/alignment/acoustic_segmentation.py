"""Flat start that divides utterances among the phones of their transcripts at changes in the sound.

Of all divisions among the phones of the first pronunciations, with or without pauses between words, the one with the
smallest squared distances of frames from the mean of their phone is chosen (least squares and dynamic programming,
Bellman 1961; for speech Svendsen and Soong 1987). No phone models are needed. Phone lengths far from the average have a
cost. So do pauses with evidence for speech and phones with evidence for a pause (`asr.alignment.pauses`).
"""

from collections.abc import Mapping

import numpy as np

from asr.alignment.batch_alignment import AlignedTable, UnitRuns, collect_runs
from asr.alignment.forced_alignment import equal_runs, no_path_fault, straight_units
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.util.numba_cache import njit

_LENGTH_WEIGHT = 10.0  # of the squared logarithm of a phone's length over the average
_GUIDANCE = 2.0  # weight of the evidence relative to the scatter
_LONGEST = 60  # frames of a phone, or _TIMES_AVERAGE the average if that is larger
_TIMES_AVERAGE = 3.0
_LARGEST = 50_000_000  # phones times frames times lengths of an utterance; above this it is divided evenly


def changes_alignment(
    guided: FrameTable,
    graphs: Mapping[str, StateGraph],
    topology: Topology,
    *,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> AlignedTable:
    """Divide every utterance where the sound changes, and the frames of each phone evenly among its states.

    Utterances that are too short or too long for this are divided evenly. The result does not depend on the workers.

    `guided`: the last column is the evidence for speech, as from `asr.acoustic.flat_start.with_evidence`. `graphs`:
    transcript graphs of all utterances. Raises AlignmentError if no utterance is long enough for its transcript.
    """
    heard = guided.frames[:, -1] != 0.0  # without utterances that are too short for their transcripts
    deviation = guided.frames[:, :-1].std(axis=0, dtype=np.float64, where=heard[:, None]) if heard.any() else 1.0
    deviation = np.where(deviation > 0.0, deviation, 1.0)
    items = ((batch, [graphs[name] for name in batch.ids]) for batch in guided.batches())
    workers = in_threads(workers)
    shared = workers.share((topology, deviation))
    found = [runs for batch in workers.map(_divide_batch, items, shared) for runs in batch]
    return collect_runs(
        guided,
        topology,
        [
            no_path_fault(int(length), graphs[name]) if runs is None else runs
            for name, length, runs in zip(guided.ids, np.diff(guided.offsets), found, strict=True)
        ],
    )


def _divide_batch(
    item: tuple[FrameTable, list[StateGraph]], constants: tuple[Topology, np.ndarray]
) -> list[UnitRuns | None]:
    batch, graphs = item
    topology, deviation = constants
    found = []
    for number, graph in enumerate(graphs):
        frames = batch.utterance(number)
        runs = divided_runs(frames[:, :-1] / deviation, frames[:, -1], graph, topology)
        found.append(equal_runs(graph, topology, len(frames)) if runs is None else runs)
    return found


def divided_runs(frames: np.ndarray, evidence: np.ndarray, graph: StateGraph, topology: Topology) -> UnitRuns | None:
    """Return the units of the first pronunciations, with pauses, int32 (n,), and their numbers of frames, int (n,).

    Return None without words, or with too few or too many frames. `frames`, float64 (n_frames, n_features), are divided
    by their overall deviation. `evidence`, float32 (n_frames,), is that for speech.
    """
    units, begins = straight_units(graph, topology)
    n_frames, n_states = len(frames), topology.states_per_phone
    if not 0 < len(units) <= n_frames or len(units) % n_states:
        return None
    silence = np.asarray(topology.silence_states, np.int32)
    phones = units.reshape(-1, n_states)
    # A pause may precede every word and the end.
    places = np.concatenate([[True], begins[n_states::n_states], [True]])
    pause = np.concatenate([[True, False] if place else [False] for place in places])[:-1]
    average = max(n_states, (evidence > 0).sum() / len(phones))
    longest = min(n_frames, max(_LONGEST, int(_TIMES_AVERAGE * average)))
    if len(pause) * n_frames * longest > _LARGEST:
        return None
    costs = phone_costs(frames, evidence, longest, average)
    lengths = np.zeros(len(pause), np.int64)
    if not _fill(costs, pause_costs(frames, evidence), pause, n_states, lengths):
        return None
    found_units, found_lengths = [], []
    following = iter(phones)
    for is_pause, length in zip(pause, lengths, strict=True):
        own = silence if is_pause else next(following)
        if length:
            found_units.append(own)
            found_lengths.append(np.bincount(np.arange(length) * len(own) // length, minlength=len(own)))
    return np.concatenate(found_units).astype(np.int32), np.concatenate(found_lengths)


def phone_costs(frames: np.ndarray, evidence: np.ndarray, longest: int, average: float) -> np.ndarray:
    """Return the cost of a phone of n frames that ends before frame t, float64 (n_frames + 1, longest + 1).

    It is half the squared distances of its frames from their mean, plus costs for its length and for evidence for a
    pause.
    """
    n_frames = len(frames)
    loud = np.concatenate([[0.0], np.cumsum(_GUIDANCE * np.maximum(-evidence.astype(np.float64), 0.0))])
    sums = np.concatenate([np.zeros((1, frames.shape[1])), np.cumsum(frames, axis=0)])
    squares = np.concatenate([[0.0], np.cumsum((frames * frames).sum(axis=1))])
    costs = np.full((n_frames + 1, longest + 1), np.inf)
    for length in range(1, longest + 1):
        total = sums[length:] - sums[:-length]
        scatter = squares[length:] - squares[:-length] - (total * total).sum(axis=1) / length
        of_length = _LENGTH_WEIGHT * np.log(length / average) ** 2
        costs[length:, length] = 0.5 * scatter + of_length + loud[length:] - loud[:-length]
    return costs


def pause_costs(frames: np.ndarray, evidence: np.ndarray) -> np.ndarray:
    """Return the cumulative cost of a pause up to frame t, float64 (n_frames + 1,); infinite without pause-like frames.

    It is half the squared distances of the frames from the mean of pause-like frames, plus evidence for speech.
    """
    paused = evidence < 0
    if not paused.any():
        return np.concatenate([[0.0], np.full(len(frames), np.inf)])
    apart = ((frames - frames[paused].mean(axis=0)) ** 2).sum(axis=1)
    return np.concatenate([[0.0], np.cumsum(0.5 * apart + _GUIDANCE * np.maximum(evidence, 0.0))])


@njit(cache=True, nogil=True)
def _fill(phones, pauses, pause, shortest, lengths):  # type: ignore[no-untyped-def]
    """Fill in the lengths of the cheapest division, 0 for an unused pause; return whether there is one."""
    n_frames, longest = phones.shape[0] - 1, phones.shape[1] - 1
    n_nodes = pause.shape[0]
    best = np.full((n_nodes + 1, n_frames + 1), np.inf)
    before = np.zeros((n_nodes + 1, n_frames + 1), np.int64)
    best[0, 0] = 0.0
    for node in range(n_nodes):
        if pause[node]:
            least, where = np.inf, 0
            for end in range(n_frames + 1):
                best[node + 1, end] = best[node, end]
                before[node + 1, end] = end
                start = end - shortest
                if start >= 0 and best[node, start] - pauses[start] < least:
                    least, where = best[node, start] - pauses[start], start
                if least + pauses[end] < best[node + 1, end]:
                    best[node + 1, end] = least + pauses[end]
                    before[node + 1, end] = where
        else:
            for end in range(shortest, n_frames + 1):
                for length in range(shortest, min(longest, end) + 1):
                    cost = best[node, end - length] + phones[end, length]
                    if cost < best[node + 1, end]:
                        best[node + 1, end] = cost
                        before[node + 1, end] = end - length
    if best[n_nodes, n_frames] == np.inf:
        return False
    end = n_frames
    for node in range(n_nodes, 0, -1):
        lengths[node - 1] = end - before[node, end]
        end = before[node, end]
    return True
