"""Static features in, words out: front end, state scores and search over the utterances of a table."""

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from asr.acoustic.model_file import SearchSettings, SpeechModel
from asr.acoustic.phone_hmm import PhoneHmm
from asr.decode.path_segments import Segment, word_segments
from asr.decode.token_passing import best_path
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph


@dataclass(frozen=True)
class Recognition:
    """What was recognised.

    Attributes
    ----------
    words : mapping of utterance id to word segments
        Times in frames; an utterance in which no path survived is missing here ...
    failed : mapping of utterance id to the reason
        ... and listed here.
    cpu_seconds : float
        Processor time of front end, scoring and search.
    """

    words: Mapping[str, list[Segment]]
    failed: Mapping[str, str]
    cpu_seconds: float

    @property
    def hypotheses(self) -> dict[str, tuple[str, ...]]:
        """The words alone."""
        return {name: tuple(segment.label for segment in segments) for name, segments in self.words.items()}


def recognise(
    model: SpeechModel,
    static: FrameTable,
    graph: StateGraph,
    search: SearchSettings | None = None,
    *,
    jobs: int = 1,
) -> Recognition:
    """Recognise every utterance of a table.

    Parameters
    ----------
    static : FrameTable
        Static features; under speaker normalisation all of a speaker's utterances should be in it.
    graph : StateGraph
        From `compile_graph`.
    search : SearchSettings, optional
        Instead of the model's own.
    jobs : int
        Threads; the words do not depend on it.
    """
    chosen = model.search if search is None else search
    started = time.process_time()
    with threadpool_limits(1):
        frames = model.front_end.transform(static)

        def one(name: str) -> list[Segment] | None:
            return search_words(model.hmm, model.hmm.log_likelihood(frames.utterance(name)), graph, chosen)

        with ThreadPoolExecutor(jobs) as pool:
            found = dict(zip(frames.ids, pool.map(one, frames.ids), strict=True))
    return Recognition(
        {name: segments for name, segments in found.items() if segments is not None},
        {
            name: f"no path through the grammar fits its {len(frames.utterance(name))} frames"
            for name, segments in found.items()
            if segments is None
        },
        time.process_time() - started,
    )


def search_words(hmm: PhoneHmm, scores: np.ndarray, graph: StateGraph, search: SearchSettings) -> list[Segment] | None:
    """Words of the best path for state scores, float32 (n_frames, n_states); None if no path survives."""
    path = best_path(
        scores,
        graph,
        hmm.topology.unit_state,
        hmm.self_loops,
        lm_scale=search.lm_scale,
        insertion_penalty=search.insertion_penalty,
        beam=search.beam,
        max_active=search.max_active,
    )
    return None if path is None else word_segments(path, graph, hmm.topology)
