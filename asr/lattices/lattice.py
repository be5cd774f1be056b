"""A word lattice: every word sequence near the best path once, with its best score and exact times."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from asr.decode.path_segments import Segment
from asr.util.errors import DecodeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROUNDING = 1e-12  # of the largest score: forward and backward scores of one path differ by rounding


@dataclass(frozen=True)
class Lattice:
    """Words between points of time.

    Arcs lead to higher-numbered nodes; every path begins at node 0. No two paths have the same words.
    """

    words: tuple[str, ...]  # name of every word number
    node_frame: np.ndarray  # int32 (n_nodes,); end frame of the word before
    source: np.ndarray  # int32 (n_arcs,); sorted
    target: np.ndarray  # int32 (n_arcs,); the word ends at its frame
    word: np.ndarray  # int32 (n_arcs,)
    begin: np.ndarray  # int32 (n_arcs,); first frame of the word; a pause may precede it
    # float64 (n_arcs,); natural log of states and transitions since the end of the word before, unscaled
    acoustic: np.ndarray
    grammar: np.ndarray  # float64 (n_arcs,); natural log, unscaled
    final_acoustic: np.ndarray  # float64 (n_nodes,); -inf if not final
    final_grammar: np.ndarray  # float64 (n_nodes,); -inf if not final
    n_frames: int
    lm_scale: float  # factor of the search on grammar scores
    insertion_penalty: float  # added by the search for every word
    beam: float  # all word sequences of the search less than this below the best are included
    first: tuple[str, ...]  # words of the decoder's path; the best of paths with equal scores
    # float64 (n_frames,), optional; log mean likelihood over all states; None if read from a file
    any_state: np.ndarray | None = None

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.node_frame)

    @property
    def n_arcs(self) -> int:
        """Number of words on arcs."""
        return len(self.word)

    @cached_property
    def score(self) -> np.ndarray:
        """Score of every arc in the search, float64 (n_arcs,)."""
        return self.acoustic + self.lm_scale * self.grammar + self.insertion_penalty

    @cached_property
    def final_score(self) -> np.ndarray:
        """Score of ending at every node, float64 (n_nodes,)."""
        ends = self.final_acoustic > -np.inf
        return np.where(ends, self.final_acoustic + self.lm_scale * np.where(ends, self.final_grammar, 0.0), -np.inf)

    @cached_property
    def arc_start(self) -> np.ndarray:
        """Arcs from node n are `arc_start[n]:arc_start[n + 1]`, int64 (n_nodes + 1,)."""
        return np.searchsorted(self.source, np.arange(self.n_nodes + 1))

    @cached_property
    def forward(self) -> np.ndarray:
        """Score of the best path to every node, float64 (n_nodes,)."""
        best = np.full(self.n_nodes, -np.inf)
        best[0] = 0.0
        for source, target, score in zip(self.source.tolist(), self.target.tolist(), self.score.tolist(), strict=True):
            best[target] = max(best[target], best[source] + score)
        return best

    @cached_property
    def backward(self) -> np.ndarray:
        """Score of the best path from every node to an end, float64 (n_nodes,)."""
        best = self.final_score.copy()
        arcs = zip(self.source[::-1].tolist(), self.target[::-1].tolist(), self.score[::-1].tolist(), strict=True)
        for source, target, score in arcs:
            best[source] = max(best[source], best[target] + score)
        return best

    @property
    def best_score(self) -> float:
        """Score of the best path."""
        return float(self.backward[0])

    def segments(self, arcs: np.ndarray) -> list[Segment]:
        """Return the words of a path with their times in frames."""
        return [
            Segment(self.words[word], begin, end)
            for word, begin, end in zip(
                self.word[arcs].tolist(), self.begin[arcs].tolist(), self.node_frame[self.target[arcs]].tolist(),
                strict=True,
            )
        ]  # fmt: skip

    @property
    def first_path(self) -> np.ndarray:
        """The arcs of the path with the words `first`, int64 (n,)."""
        arcs = self.path(self.first)
        assert arcs is not None
        return arcs

    def path(self, words: tuple[str, ...]) -> np.ndarray | None:
        """Return the arcs of the path with these words, int64 (n,), or None."""
        steps: list[dict[int, int]] = []  # node reached -> arc that led there
        reached = {0: -1}
        for word in words:
            steps.append(reached)
            following: dict[int, int] = {}
            for node in reached:
                for arc in range(int(self.arc_start[node]), int(self.arc_start[node + 1])):
                    if self.words[self.word[arc]] == word:
                        following[int(self.target[arc])] = arc
            reached = following
        ends = [node for node in reached if self.final_score[node] > -np.inf]
        if not ends:
            return None
        node, arcs = max(ends, key=lambda end: float(self.final_score[end])), list[int]()
        for by_node in reversed((*steps[1:], reached) if words else ()):
            arcs.append(by_node[node])
            node = int(self.source[by_node[node]])
        return np.asarray(arcs[::-1], np.int64)

    def plot(self, ax: "Axes | None" = None, *, max_words: int = 40) -> "Axes":
        """Draw the lattice with matplotlib, and return the axes.

        A circle is a node, with the frame where its words end; thick circles are ends. Words have their posteriors, and
        the best path is blue.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; those of a new figure by default.
        max_words : int
            Number of words to draw; the least likely ones are left out.
        """
        from asr.lattices.lattice_plot import draw_lattice

        return draw_lattice(self, ax, max_words)

    def pruned(self, beam: float) -> "Lattice":
        """Keep only arcs on paths at most `beam` below the best one; DecodeError without a path."""
        best = self.best_score
        if not best > -np.inf:
            raise DecodeError("no path leads from the first node of the lattice to an end")
        reached = self.forward[np.isfinite(self.forward)]
        least = best - beam - _ROUNDING * max(1.0, float(np.abs(reached).max()))  # the best path itself always stays
        through = self.forward[self.source] + self.score + self.backward[self.target]
        kept = (through >= least) & (through > -np.inf)
        ends = (self.forward + self.final_score >= least) & (self.final_score > -np.inf)
        used = np.zeros(self.n_nodes, np.bool_)
        used[0] = True
        used[self.target[kept]] = True
        number = np.cumsum(used) - 1
        return replace(
            self,
            node_frame=self.node_frame[used],
            source=number[self.source[kept]].astype(np.int32),
            target=number[self.target[kept]].astype(np.int32),
            word=self.word[kept],
            begin=self.begin[kept],
            acoustic=self.acoustic[kept],
            grammar=self.grammar[kept],
            final_acoustic=np.where(ends, self.final_acoustic, -np.inf)[used],
            final_grammar=np.where(ends, self.final_grammar, -np.inf)[used],
            beam=min(beam, self.beam),
        )
