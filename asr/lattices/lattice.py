"""A word lattice: every word sequence near the best path once, with its best score and exact times."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from asr.decode.path_segments import Segment
from asr.util.errors import DecodeError


@dataclass(frozen=True)
class Lattice:
    """Words between points of time.

    Nodes are numbered such that arcs lead to higher ones; every path begins at node 0. No two paths have the same
    words.

    Attributes
    ----------
    words : tuple of str
        Name of every word number.
    node_frame : int32 (n_nodes,)
        Frame at which the word before ended.
    source, target, word : int32 (n_arcs,)
        Sorted by source. The word ends at the frame of the target.
    begin : int32 (n_arcs,)
        Frame at which the word begins; a pause may lie between that of the source and it.
    acoustic, grammar : float64 (n_arcs,)
        Natural log scores: states and transitions from the end of the word before, unscaled; the grammar's.
    final_acoustic, final_grammar : float64 (n_nodes,)
        What ending there adds; -inf where no path ends.
    n_frames : int
    lm_scale, insertion_penalty : float
        What the search multiplied the grammar's scores with, and added for every word.
    beam : float
        All word sequences that the search found less than this below the best one are there.
    first : tuple of str
        Words of the decoder's path; of paths with equal scores it counts as the best.
    any_state : float64 (n_frames,), optional
        Acoustic score of every frame in no state in particular: the logarithm of the mean of what all states give it.
        None of a lattice read from a file, which does not tell.
    """

    words: tuple[str, ...]
    node_frame: np.ndarray
    source: np.ndarray
    target: np.ndarray
    word: np.ndarray
    begin: np.ndarray
    acoustic: np.ndarray
    grammar: np.ndarray
    final_acoustic: np.ndarray
    final_grammar: np.ndarray
    n_frames: int
    lm_scale: float
    insertion_penalty: float
    beam: float
    first: tuple[str, ...]
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
        """Of every arc as the search adds it, float64 (n_arcs,)."""
        return self.acoustic + self.lm_scale * self.grammar + self.insertion_penalty

    @cached_property
    def final_score(self) -> np.ndarray:
        """Of ending at every node, float64 (n_nodes,)."""
        ends = self.final_acoustic > -np.inf
        return np.where(ends, self.final_acoustic + self.lm_scale * np.where(ends, self.final_grammar, 0.0), -np.inf)

    @cached_property
    def arc_start(self) -> np.ndarray:
        """Arcs that leave node n are `arc_start[n]:arc_start[n + 1]`, int64 (n_nodes + 1,)."""
        return np.searchsorted(self.source, np.arange(self.n_nodes + 1))

    @cached_property
    def forward(self) -> np.ndarray:
        """Score of the best way to every node, float64 (n_nodes,)."""
        best = np.full(self.n_nodes, -np.inf)
        best[0] = 0.0
        for source, target, score in zip(self.source.tolist(), self.target.tolist(), self.score.tolist(), strict=True):
            best[target] = max(best[target], best[source] + score)
        return best

    @cached_property
    def backward(self) -> np.ndarray:
        """Score of the best way from every node to an end, float64 (n_nodes,)."""
        best = self.final_score.copy()
        arcs = zip(self.source[::-1].tolist(), self.target[::-1].tolist(), self.score[::-1].tolist(), strict=True)
        for source, target, score in arcs:
            best[source] = max(best[source], best[target] + score)
        return best

    @property
    def best_score(self) -> float:
        """Of the best path."""
        return float(self.backward[0])

    def segments(self, arcs: np.ndarray) -> list[Segment]:
        """The words of a path with their times in frames."""
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
        """The arcs of the path with these words, int64 (n,); None where there is none."""
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

    def pruned(self, beam: float) -> "Lattice":
        """Only arcs on paths at most `beam` below the best one.

        Raises
        ------
        DecodeError
            If there is no path.
        """
        best = self.best_score
        if not best > -np.inf:
            raise DecodeError("the lattice has no path from its first node to an end")
        least = best - beam
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
