"""Fit of transcripts to their audio: the score of a forced alignment relative to that of a free phone loop.

The log-likelihood of an alignment depends on loudness, length and noise. Subtracting the score of the same frames in a
free phone loop removes this: the difference is a log likelihood ratio, 0 if the transcript is the best of all phone
sequences and negative otherwise (the filler or background model of keyword spotting, Rose and Paul 1990). It is
normalized per frame of speech, so that pauses do not dilute it. Transcripts of other utterances, aligned with the same
frames, give the scores of wrong transcripts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from asr.alignment.forced_alignment import align_utterance
from asr.alignment.word_edits import EditMargins, edit_margins
from asr.decode.path_segments import frame_states
from asr.decode.token_passing import BestPath, best_path
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph, StateGraphBuilder
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon
from asr.util.errors import Issue, attempt
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers

_FEW = 8  # oversampling factor, because some have the same transcript


@dataclass(frozen=True)
class TranscriptScore:
    """Fit of a transcript."""

    score: float  # log likelihood ratio of transcript and phone loop per frame of speech; at most 0
    # float64 (n,); the same for other transcripts on the same frames, without those that are too long
    rivals: np.ndarray
    edits: EditMargins = field(default_factory=EditMargins)

    @property
    def beaten(self) -> int:
        """Number of rivals that fit worse."""
        return int((self.rivals < self.score).sum())


def phone_loop(topology: Topology) -> StateGraph:
    """Return the graph of any string of phones and pauses."""
    builder = StateGraphBuilder(())
    node = builder.node()
    for phone in topology.phone_names:
        places = topology.alternatives(phone)
        inner = [node, *(builder.node() for _ in places[1:]), node]
        for start, end, units in zip(inner[:-1], inner[1:], places, strict=True):
            for unit in units.tolist():
                builder.chain(start, end, [unit])
    builder.finish(node)
    return builder.build(node)


def free_path(scores: np.ndarray, loop: StateGraph, topology: Topology, self_loops: np.ndarray) -> BestPath | Issue:
    """Return the best path through the phone loop, or the fault if no path has a finite score."""
    path = best_path(scores, loop, topology.unit_state, self_loops)
    if path is None or not path.complete:
        return Issue("not-aligned", f"no phone sequence has a finite score in {len(scores)} frames")
    return path


def score_utterance(
    scores: np.ndarray,
    graphs: Sequence[StateGraph],
    loop: StateGraph,
    topology: Topology,
    self_loops: np.ndarray,
    free: BestPath | None = None,
) -> TranscriptScore | Issue:
    """Score an utterance's transcript and its rivals, or return the fault if it cannot be aligned.

    `scores`, float32 (n_frames, n_states), are natural log-likelihoods. `graphs` are those of the transcript and its
    rivals; `loop` comes from `phone_loop`, and `free` from `free_path` if it is known.
    """
    path = free or free_path(scores, loop, topology, self_loops)
    if isinstance(path, Issue):
        return path
    spoken = frame_states(path, loop, topology) >= len(topology.silence_states)
    found: list[float | Issue] = []
    for graph in graphs:
        aligned = align_utterance(scores, graph, topology, self_loops)
        if isinstance(aligned, Issue):
            found.append(aligned)
        else:
            speech = spoken | (frame_states(aligned.path, graph, topology) >= len(topology.silence_states))
            # On the same path both sums differ only in rounding.
            found.append(min(0.0, float(aligned.path.score - path.score) / max(1, int(speech.sum()))))
    own = found[0]
    if isinstance(own, Issue):
        return own
    return TranscriptScore(own, np.array([other for other in found[1:] if not isinstance(other, Issue)], np.float64))


def score_transcripts(
    log_likelihood: Callable[[np.ndarray], np.ndarray],
    table: FrameTable,
    graphs: Mapping[str, StateGraph],
    rivals: Mapping[str, tuple[str, ...]],
    topology: Topology,
    self_loops: np.ndarray,
    transcripts: Mapping[str, tuple[str, ...]] | None = None,
    lexicon: Lexicon | None = None,
    *,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> dict[str, TranscriptScore]:
    """Score the utterances of a table; those that cannot be aligned are left out.

    `log_likelihood`: state scores of frames, float32 (n_frames, n_features) to (n_frames, n_states). `graphs`:
    transcript graphs of the utterances and of their rivals. `rivals`: utterances whose transcripts are compared; see
    `draw_rivals`. `transcripts` and `lexicon` add the margins against edited transcripts.
    """
    items = (
        (
            batch,
            [
                (
                    [graphs[one] for one in (name, *rivals.get(name, ()))],
                    [transcripts[one] for one in (name, *rivals.get(name, ()))] if transcripts is not None else [],
                )
                for name in batch.ids
            ],
        )
        for batch in table.batches()
    )
    workers = in_threads(workers)
    shared = workers.share(log_likelihood), workers.share((topology, self_loops, phone_loop(topology), lexicon))
    found = [result for batch in workers.map(_score_batch, items, *shared) for result in batch]
    return {name: result for name, result in zip(table.ids, found, strict=True) if isinstance(result, TranscriptScore)}


def draw_rivals(
    transcripts: Mapping[str, tuple[str, ...]], number: int, *, names: Iterable[str] | None = None, seed: int = 0
) -> dict[str, tuple[str, ...]]:
    """Draw, for all utterances or those of `names`, other utterances with different transcripts.

    The draw is without replacement; there are fewer than `number` if the corpus has too few.
    """
    everyone = sorted(transcripts)
    drawn = {}
    for name in everyone if names is None else sorted(names):
        random = np.random.default_rng((seed, *name.encode()))
        if len(everyone) <= _FEW * number:
            others = random.permutation(len(everyone))
        else:
            others = random.integers(len(everyone), size=_FEW * number)
        different = dict.fromkeys(
            everyone[other] for other in others.tolist() if transcripts[everyone[other]] != transcripts[name]
        )
        drawn[name] = tuple(different)[:number]
    return drawn


def _score_batch(
    item: tuple[FrameTable, list[tuple[list[StateGraph], list[tuple[str, ...]]]]],
    log_likelihood: Callable[[np.ndarray], np.ndarray],
    constants: tuple[Topology, np.ndarray, StateGraph, Lexicon | None],
) -> list[TranscriptScore | Issue]:
    batch, of_utterances = item
    return [
        attempt(_score, batch.utterance(number), graphs, transcripts, log_likelihood, *constants)
        for number, (graphs, transcripts) in enumerate(of_utterances)
    ]


def _score(
    frames: np.ndarray,
    graphs: Sequence[StateGraph],
    transcripts: Sequence[tuple[str, ...]],
    log_likelihood: Callable[[np.ndarray], np.ndarray],
    topology: Topology,
    self_loops: np.ndarray,
    loop: StateGraph,
    lexicon: Lexicon | None,
) -> TranscriptScore | Issue:
    scores = log_likelihood(frames)
    found = score_utterance(scores, graphs, loop, topology, self_loops)
    if isinstance(found, Issue) or lexicon is None or not transcripts:
        return found
    return replace(found, edits=edit_margins(scores, transcripts, lexicon, topology, self_loops))
