"""State tying by decision trees over questions about the phone context.

States of the same phone and position with similar sounds are tied. A tree of questions assigns a tied state to every
context, including those that training did not have (Young, Odell and Woodland, Tree-based state tying for high accuracy
acoustic modeling, 1994).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

LEFT, RIGHT, BEGINS, ENDS = range(4)
SIDES = ("left", "right", "begins", "ends")
"""Subject of a question: the phone before, the phone after, whether the phone begins or ends a word."""
MAX_NODES = 1_000_000


class Context(NamedTuple):
    """A phone and its context, with the topology's phone numbers; pauses and the ends of an utterance are 0."""

    phone: int
    left: int
    right: int
    begins_word: bool
    ends_word: bool


@dataclass(frozen=True, eq=False)
class StateTying:
    """Trees for every phone and position; the states are numbered after those of silence."""

    n_silence_states: int
    question_side: np.ndarray  # int8 (n_questions,); number in `SIDES`
    # bool (n_questions, n_phones + 1); phone numbers with answer yes; for "begins" and "ends" only column 1
    question_phones: np.ndarray
    root: np.ndarray  # int32 (n_phones, states_per_phone); root node of each phone (numbers from 1) and position
    node_question: np.ndarray  # int32 (n_nodes,); -1 at a leaf
    node_yes: np.ndarray  # int32 (n_nodes,); child for the answer yes, a later node; the state at a leaf
    node_no: np.ndarray  # int32 (n_nodes,); the same for no

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StateTying) and self._bytes == other._bytes

    def __hash__(self) -> int:
        return hash(self._bytes)

    @cached_property
    def _bytes(self) -> tuple[int, tuple[bytes, ...]]:
        return self.n_silence_states, tuple(array.tobytes() for array in self.to_arrays().values())

    @cached_property
    def n_states(self) -> int:
        """Number of states of silence and leaves."""
        return self.n_silence_states + int((self.node_question < 0).sum())

    @cached_property
    def state_place(self) -> np.ndarray:
        """Phone number and position of every state, int32 (n_states, 2); silence is phone 0."""
        place = np.zeros((self.n_states, 2), np.int32)
        place[: self.n_silence_states, 1] = np.arange(self.n_silence_states)
        for phone, roots in enumerate(self.root.tolist(), start=1):
            for position, root in enumerate(roots):
                for leaf in self._leaves(root):
                    place[self.node_yes[leaf]] = phone, position
        return place

    def _leaves(self, root: int) -> list[int]:
        found, left = [], [root]
        while left:
            node = left.pop()
            if self.node_question[node] < 0:
                found.append(node)
            else:
                left += [int(self.node_no[node]), int(self.node_yes[node])]
        return found

    def states(self, contexts: np.ndarray | Sequence[Context]) -> np.ndarray:
        """Return the states of phones, int32 (n, states_per_phone), in contexts, int (n, 5), without silence."""
        contexts = np.asarray(contexts, np.int64).reshape(-1, 5)
        node = self.root[contexts[:, 0] - 1].astype(np.int64)
        while True:
            question = self.node_question[node]
            rows, columns = np.nonzero(question >= 0)
            if not len(rows):
                return self.node_yes[node].astype(np.int32)
            asked = question[rows, columns]
            value = contexts[rows, 1 + self.question_side[asked]]
            at = node[rows, columns]
            node[rows, columns] = np.where(self.question_phones[asked, value], self.node_yes[at], self.node_no[at])

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays by name, without the number of silence states."""
        return {
            "question_side": self.question_side,
            "question_phones": self.question_phones,
            "root": self.root,
            "node_question": self.node_question,
            "node_yes": self.node_yes,
            "node_no": self.node_no,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], n_phones: int, states_per_phone: int) -> "StateTying":
        """Rebuild from the arrays of `to_arrays`; ValueError if they do not form trees of these phones and states."""
        side, phones, root, question, yes, no = (arrays[name] for name in cls._NAMES)
        n_questions, n_nodes = len(side), len(question)
        shapes = {
            "question_side": (side, (n_questions,), np.int8),
            "question_phones": (phones, (n_questions, n_phones + 1), np.bool_),
            "root": (root, (n_phones, states_per_phone), np.int32),
            "node_question": (question, (n_nodes,), np.int32),
            "node_yes": (yes, (n_nodes,), np.int32),
            "node_no": (no, (n_nodes,), np.int32),
        }
        for name, (array, shape, kind) in shapes.items():
            if array.shape != shape or array.dtype != kind:
                raise ValueError(
                    f"tying.{name} is {array.dtype} of shape {array.shape}. Expected {kind.__name__} of shape {shape}"
                )
        if n_nodes > MAX_NODES:
            raise ValueError(f"the trees have {n_nodes} nodes. Expected at most {MAX_NODES}")
        leaf, number = question < 0, np.arange(n_nodes)
        children = np.concatenate([yes[~leaf], no[~leaf]])
        states = yes[leaf]
        if (
            (question >= n_questions).any()
            or ((side < 0) | (side >= len(SIDES))).any()
            or ((root < 0) | (root >= n_nodes)).any()
            or not ((number[~leaf] < yes[~leaf]) & (number[~leaf] < no[~leaf])).all()
            or not np.array_equal(np.sort(np.concatenate([children, root.ravel()])), number)
            or not np.array_equal(np.sort(states), states_per_phone + np.arange(leaf.sum()))
            or not np.array_equal(states, no[leaf])
        ):
            raise ValueError("the questions are not a tree for every phone and position with one state per leaf")
        return cls(states_per_phone, side, phones, root, question, yes, no)

    _NAMES = ("question_side", "question_phones", "root", "node_question", "node_yes", "node_no")
