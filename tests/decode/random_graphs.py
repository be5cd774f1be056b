"""Small random state graphs, and every path through them by plain enumeration."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from asr.hmm.state_graph import NO_WORD, StateGraph, StateGraphBuilder

WORDS = ("a", "b", "c")


@dataclass(frozen=True)
class Problem:
    """A graph with scores of frames; units 0 and 2 share a state."""

    graph: StateGraph
    scores: np.ndarray
    self_loops: np.ndarray
    unit_state: np.ndarray


@st.composite
def problems(draw: st.DrawFn, *, max_frames: int = 5, cyclic: bool = True) -> Problem:
    """Up to four nodes; jumps only lead to higher nodes, arcs anywhere (forward only unless `cyclic`)."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_nodes = draw(st.integers(1, 4))
    builder = StateGraphBuilder(WORDS)
    for _ in range(n_nodes):
        builder.node()
    for _ in range(draw(st.integers(0, 6))):
        start, end = rng.integers(n_nodes, size=2).tolist()
        if cyclic or start < end:
            word, unit = (int(rng.integers(high)) for high in (len(WORDS) + 1, 3))
            builder.chain(start, end, [unit], weight=_weight(rng), word=word - 1, begins_word=word > 0)
    for _ in range(draw(st.integers(0, 4))):
        start, end = sorted(rng.integers(n_nodes, size=2).tolist())
        if start < end:
            builder.jump(start, end, weight=_weight(rng), word=int(rng.integers(-1, len(WORDS))))
    for node in range(n_nodes):
        if rng.random() < 0.5:
            builder.finish(node, _weight(rng))
    n_frames = draw(st.integers(0, max_frames))
    scores = np.round(rng.normal(scale=3.0, size=(n_frames, 2)), 2).astype(np.float32)
    scores[rng.random(scores.shape) < 0.1] = -np.inf
    return Problem(builder.build(0), scores, rng.uniform(0.1, 0.9, 3), np.array([0, 1, 0], np.int32))


def _weight(rng: np.random.Generator) -> float:
    return round(float(rng.normal()), 2)


@dataclass(frozen=True)
class Walk:
    """A path so far.

    `steps` are frame and number of every arc entered, and of every jump as `-1 - jump`; `node` is None
    inside the last arc; `n_frames` are taken.
    """

    steps: tuple[tuple[int, int], ...]
    node: int | None
    n_frames: int
    score: float

    def recorded(self, graph: StateGraph) -> tuple[tuple[int, int], ...]:
        """The steps that a search result shows: arcs, and jumps with a word."""
        return tuple(step for step in self.steps if step[1] >= 0 or graph.jump_word[-1 - step[1]] != NO_WORD)


def all_walks(problem: Problem, *, lm_scale: float = 1.0, insertion_penalty: float = 0.0) -> Iterator[Walk]:
    """Every walk that takes all frames, once in its last arc and once at every node it reaches then."""
    graph, self_loops = problem.graph, problem.self_loops

    def entry(weight: float, word: int) -> float:
        return lm_scale * float(weight) + (insertion_penalty if word != NO_WORD else 0.0)

    waiting = [Walk((), graph.initial, 0, 0.0)]
    while waiting:
        walk = waiting.pop()
        frame, node = walk.n_frames, walk.node
        heard = problem.scores[frame].astype(np.float64) if frame < len(problem.scores) else None
        if heard is None:
            yield walk
        if node is None:
            arc = walk.steps[-1][1]
            unit = graph.arc_unit[arc]
            waiting.append(Walk(walk.steps, int(graph.arc_end[arc]), frame, walk.score + np.log1p(-self_loops[unit])))
            if heard is not None:
                score = walk.score + np.log(self_loops[unit]) + heard[problem.unit_state[unit]]
                waiting.append(Walk(walk.steps, None, frame + 1, score))
            continue
        for jump in range(graph.jump_start[node], graph.jump_start[node + 1]):
            score = walk.score + entry(graph.jump_weight[jump], graph.jump_word[jump])
            steps = (*walk.steps, (frame, -1 - jump))
            waiting.append(Walk(steps, int(graph.jump_end[jump]), frame, score))
        if heard is not None:
            for arc in range(graph.arc_start[node], graph.arc_start[node + 1]):
                score = walk.score + entry(graph.arc_weight[arc], graph.arc_word[arc])
                score += heard[problem.unit_state[graph.arc_unit[arc]]]
                waiting.append(Walk((*walk.steps, (frame, arc)), None, frame + 1, score))
