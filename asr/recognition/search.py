"""Search of one utterance, repeated with wider beams if no complete path survived."""

from collections.abc import Iterator

import numpy as np

from asr.acoustic.phone_hmm import PhoneHmm
from asr.acoustic.search_settings import WIDEST_BEAM, SearchSettings
from asr.decode.path_segments import Segment, word_segments
from asr.decode.token_passing import BestPath, best_path, best_path_and_tokens
from asr.hmm.state_graph import StateGraph
from asr.lattices.generation import LatticeBeam, word_lattice
from asr.lattices.lattice import Lattice

BATCH_FRAMES = 512  # Batch size of a worker, in whole utterances: a few tenths of a second.

WIDENINGS = (1, 4, 16)
"""Factors on the beam and the limit of hypotheses, tried in turn until a complete path survives."""
MAX_TOKENS = 50_000_000  # arcs x frames of the final search without beam and limit: about 600 MB


CHEAP_GRAPH = 10_000
"""Arcs of a graph for which any search takes a few hundredths of real time."""
WIDE_BEAM = 400.0
"""Natural log; in small graphs, a beam of 200 has lost spoken sentences."""
WIDE_ACTIVE = 3000


def wide_enough(search: SearchSettings, graph: StateGraph) -> SearchSettings:
    """Return search settings for a grammar that the model was not tuned with.

    With few sentences, the spoken one may score far below the best partial path for a long time, so it needs a wider
    beam. A wide search of a small graph costs little.
    """
    if graph.n_arcs > CHEAP_GRAPH:
        return search
    active = search.max_active and max(search.max_active, WIDE_ACTIVE)
    return search.model_copy(update={"beam": max(search.beam, WIDE_BEAM), "max_active": active})


def search_words(hmm: PhoneHmm, scores: np.ndarray, graph: StateGraph, search: SearchSettings) -> list[Segment] | None:
    """Return the words of the best path for state scores, float32 (n_frames, n_states); None if no sentence fits."""
    path = search_path(hmm, scores, graph, search)
    return None if path is None else word_segments(path, graph, hmm.topology)


def search_path(hmm: PhoneHmm, scores: np.ndarray, graph: StateGraph, search: SearchSettings) -> BestPath | None:
    """Return the best complete path for state scores, float32 (n_frames, n_states); None if it does not exist.

    If the beam or the limit removed all complete paths, the search is repeated with wider ones.
    """
    for beam, max_active in _widths(search, graph, len(scores)):
        path = best_path(
            scores,
            graph,
            hmm.topology.unit_state,
            hmm.self_loops,
            lm_scale=search.lm_scale,
            insertion_penalty=search.insertion_penalty,
            filler_penalty=search.filler_penalty,
            beam=beam,
            max_active=max_active,
        )
        if path is not None and path.complete:
            return path
    return None


def search_lattice(
    hmm: PhoneHmm, scores: np.ndarray, graph: StateGraph, search: SearchSettings, lattice_beam: LatticeBeam
) -> tuple[BestPath | None, Lattice | None]:
    """Return the path of `search_path`, and the lattice around it."""
    for beam, max_active in _widths(search, graph, len(scores)):
        found = best_path_and_tokens(
            scores,
            graph,
            hmm.topology.unit_state,
            hmm.self_loops,
            lattice_beam=lattice_beam.width,
            lm_scale=search.lm_scale,
            insertion_penalty=search.insertion_penalty,
            filler_penalty=search.filler_penalty,
            beam=beam,
            max_active=max_active,
        )
        if found is not None:
            path, trellis = found
            return path, word_lattice(
                path,
                trellis.narrowed(lattice_beam.density * len(scores)),
                scores,
                graph,
                hmm.topology,
                hmm.self_loops,
                lm_scale=search.lm_scale,
                insertion_penalty=search.insertion_penalty,
                filler_penalty=search.filler_penalty,
            )
    return None, None


def _widths(search: SearchSettings, graph: StateGraph, n_frames: int) -> Iterator[tuple[float, int]]:
    widths = [(search.beam * factor, search.max_active * factor) for factor in WIDENINGS]
    if graph.n_arcs * n_frames <= MAX_TOKENS:
        widths.append((np.inf, 0))
    yield from dict.fromkeys((min(beam, WIDEST_BEAM), most) for beam, most in widths)
