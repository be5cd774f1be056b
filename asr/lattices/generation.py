"""Word lattices from the tokens of a search, determinized over word sequences, with the times of the best paths."""

from dataclasses import dataclass, replace

import numpy as np

from asr.decode.token_passing import BestPath
from asr.decode.trellis import SLACK, Trellis
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology
from asr.lattices.closures import best_ways
from asr.lattices.determinization import WordSteps, word_steps
from asr.lattices.lattice import Lattice
from asr.lattices.links import TraceLinks, trellis_links
from asr.lattices.word_times import TimedWords, WordPath


@dataclass(frozen=True)
class LatticeBeam:
    """Limits of a lattice."""

    width: float  # natural log of scores below the best path
    # limit on arcs and nodes of the search per frame, for unclear speech with millions of sentences in the beam
    density: float = np.inf


def word_lattice(
    path: BestPath,
    trellis: Trellis,
    scores: np.ndarray,
    graph: StateGraph,
    topology: Topology,
    self_loops: np.ndarray,
    *,
    lm_scale: float = 1.0,
    insertion_penalty: float = 0.0,
    filler_penalty: float = 0.0,
) -> Lattice:
    """Return the lattice of a search.

    It has every word sequence within the trellis' beam once, with the scores and times of its best path (Povey et al.
    2012). `path` and `trellis` come from `best_path_and_tokens`, whose arguments the others are. `topology` has the
    units of the graph.
    """
    links = trellis_links(
        trellis,
        scores,
        graph,
        topology,
        self_loops,
        lm_scale=lm_scale,
        insertion_penalty=insertion_penalty,
        filler_penalty=filler_penalty,
    )
    heads = np.unique(np.append(links.target[links.word >= 0], links.initial)).astype(np.int64)
    steps = word_steps(links, heads, best_ways(links, heads))
    lattice = _timed(links, steps, path.n_frames).lattice(
        words=graph.words,
        n_frames=path.n_frames,
        lm_scale=lm_scale,
        insertion_penalty=insertion_penalty,
        beam=steps.beam,
        first=_words_of(path, graph),
    )
    return replace(lattice.pruned(steps.beam + SLACK), any_state=_any_state(scores))


def _any_state(scores: np.ndarray) -> np.ndarray:
    """Return the logarithm of the mean of exp(score) over the states, float64 (n_frames,)."""
    highest = scores.max(axis=1, keepdims=True)
    mean = np.exp(scores - highest).mean(axis=1, dtype=np.float64)
    return np.asarray(np.log(mean) + highest[:, 0])


def _words_of(path: BestPath, graph: StateGraph) -> tuple[str, ...]:
    numbers = np.empty(len(path.arcs), np.int32)
    jumped = path.arcs < 0
    numbers[~jumped] = graph.arc_word[path.arcs[~jumped]]
    numbers[jumped] = graph.jump_word[-1 - path.arcs[jumped]]
    return tuple(graph.words[number] for number in numbers[numbers >= 0].tolist())


def _timed(links: TraceLinks, steps: WordSteps, n_frames: int) -> TimedWords:
    """Take every step in the order of time, from each of the ways that lead to its source."""
    heads = np.append(links.target[steps.link], links.initial)
    unique_heads, head_number = np.unique(heads, return_inverse=True)
    ways = best_ways(links, unique_heads, detailed=True)
    n_tokens = len(links.frame)
    key = np.repeat(np.arange(len(unique_heads)), np.diff(ways.start)) * n_tokens + ways.junction
    order = np.argsort(key)
    key = key[order]

    def way_numbers(head_numbers: np.ndarray, elements: np.ndarray) -> np.ndarray:
        return order[np.searchsorted(key, head_numbers * n_tokens + steps.junction[elements])]

    frame_of_link = np.repeat(links.frame, np.diff(links.start))

    def way(number: int) -> WordPath:
        events = []
        event = int(ways.last_event[number])
        while event >= 0:
            link = ways.event_link[event]
            events.append(
                (
                    int(links.event[link]),
                    int(frame_of_link[link]),
                    float(ways.event_acoustic[event]),
                    float(ways.event_grammar[event]),
                )
            )
            event = int(ways.event_before[event])
        return WordPath(tuple(events[::-1]), float(ways.acoustic[number]), float(ways.grammar[number]))

    found: dict[int, WordPath] = {}
    timed = TimedWords(n_frames)
    end = n_tokens - 1
    firsts = np.arange(steps.n_first)
    for element, number in zip(firsts.tolist(), way_numbers(head_number[-1:], firsts).tolist(), strict=True):
        timed.begin(element, way(number), at_end=bool(steps.junction[element] == end))
    numbers = way_numbers(head_number[:-1], steps.target)
    in_time = np.lexsort((numbers, steps.target, steps.junction[steps.target]))
    for step in in_time.tolist():
        number, link, element = int(numbers[step]), int(steps.link[step]), int(steps.target[step])
        if number not in found:
            found[number] = way(number)
        timed.step(
            int(steps.source[step]),
            element,
            int(links.word[link]),
            (int(links.event[link]), int(frame_of_link[link])),
            (float(links.acoustic[link]), float(links.grammar[link])),
            found[number],
            at_end=bool(steps.junction[element] == end),
        )
    return timed
