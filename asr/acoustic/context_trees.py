"""Growing the trees that tie the states of phones in context (Young, Odell and Woodland 1994).

All frames of a phone's state begin in one leaf. Again and again the leaf and question are taken that raise the
likelihood most when either answer has a Gaussian of its own. Nobody has to write the questions: they are every phone
by itself and the sets of a clustering of the phones, asked of the neighbour on either side, and whether the phone
begins or ends a word. A user's own are asked beside them.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import linkage

from asr.alignment.phone_contexts import SpokenPhones
from asr.hmm.phone_questions import PhoneQuestion
from asr.hmm.state_tying import BEGINS, ENDS, LEFT, RIGHT, StateTying
from asr.hmm.topology import Topology

MIN_FRAMES = 100
"""In a leaf."""
FRAMES_A_STATE = 1000
"""Of the speech, where it says how many states there are."""
MAX_STATES = 600
"""As many as it says at most: a classifier takes as much longer to learn more, and no more have been measured."""
SIDES_ASKED = {"left": (LEFT,), "right": (RIGHT,), "both": (LEFT, RIGHT), "itself": ()}
VARIANCE_FLOOR = 0.01  # as a fraction of the variance over all frames


def states_for(n_frames: int) -> int:
    """States of all phones in context together, where nobody says how many."""
    return min(n_frames // FRAMES_A_STATE, MAX_STATES)


@dataclass(frozen=True)
class Questions:
    """As `StateTying` holds them: what is asked about, and where the answer is yes."""

    side: np.ndarray
    phones: np.ndarray

    def and_given(self, given: Sequence[PhoneQuestion], topology: Topology) -> "Questions":
        """These, and those of a user that differ from them and for which some phones give either answer."""
        known = {(side, phones.tobytes()) for side, phones in zip(self.side.tolist(), self.phones, strict=True)}
        side, answers = [], []
        for question in given:
            phones = question.answers(topology.phones)
            for neighbour in SIDES_ASKED[question.side]:
                if phones.any() and not phones.all() and (neighbour, phones.tobytes()) not in known:
                    known.add((neighbour, phones.tobytes()))
                    side.append(neighbour)
                    answers.append(phones)
        if not side:
            return self
        return Questions(np.append(self.side, np.array(side, np.int8)), np.concatenate([self.phones, answers]))

    def answers(self, contexts: np.ndarray) -> np.ndarray:
        """Whether the answer is yes, bool (n_questions, n), of contexts, int (n, 5)."""
        return self.phones[np.arange(len(self.side))[:, None], contexts[:, 1 + self.side].T]


@dataclass(frozen=True)
class Sums:
    """Number, sum and sum of squares of frames, float64 (n, 1 + 2 * n_features)."""

    rows: np.ndarray
    floor: np.ndarray

    def log_likelihood(self, rows: np.ndarray) -> np.ndarray:
        """Of the frames that sums (..., 1 + 2 * n_features) stand for, each under a Gaussian of its own, but for a
        constant a frame.
        """
        count = np.maximum(rows[..., :1], 1.0)
        mean, square = np.split(rows[..., 1:] / count, 2, axis=-1)
        variance = np.maximum(square - mean**2, self.floor)
        likelihood: np.ndarray = -0.5 * rows[..., 0] * np.log(variance).sum(axis=-1)
        return likelihood


@dataclass
class _Leaf:
    place: int
    rows: np.ndarray
    node: int
    gain: float = 0.0
    question: int = -1


def grow_trees(
    frames: np.ndarray,
    states: np.ndarray,
    spoken: SpokenPhones,
    topology: Topology,
    n_states: int,
    given: Sequence[PhoneQuestion] = (),
) -> StateTying:
    """Trees with `n_states` leaves in all, or fewer where frames are too few to tell more apart.

    Parameters
    ----------
    frames : float32 (n_frames, n_features)
    states : int32 (n_frames,)
        Alignment by states of phones, as `topology` without tying numbers them; -1 leaves a frame out.
    spoken : SpokenPhones
        The phones of that alignment.
    n_states : int
        Leaves wanted; every phone has at least one a place.
    given : sequence of PhoneQuestion
        May be asked beside the automatic ones; none about the phone itself, which has trees of its own.
    """
    contexts, context = np.unique(spoken.contexts, axis=0, return_inverse=True)
    keys, sums = _accumulate(frames, states, spoken, context.ravel(), topology)
    questions = automatic_questions(keys, sums, contexts, topology).and_given(given, topology)
    answers = questions.answers(contexts)
    n_places = len(topology.phones) * topology.states_per_phone
    place = (contexts[keys[:, 0], 0] - 1) * topology.states_per_phone + keys[:, 1]

    question, yes, no = [-1] * n_places, [0] * n_places, [0] * n_places
    leaves = {}
    waiting: list[tuple[float, int]] = []

    def add(leaf: _Leaf) -> None:
        leaf.gain, leaf.question = _best_question(leaf, answers[:, keys[leaf.rows, 0]], sums)
        leaves[leaf.node] = leaf
        if leaf.question >= 0:
            heapq.heappush(waiting, (-leaf.gain, leaf.node))

    for number in range(n_places):
        add(_Leaf(number, np.flatnonzero(place == number), number))
    while waiting and len(leaves) < n_states:
        leaf = leaves.pop(heapq.heappop(waiting)[1])
        answer = answers[leaf.question, keys[leaf.rows, 0]]
        question[leaf.node] = leaf.question
        for to, rows in ((yes, leaf.rows[answer]), (no, leaf.rows[~answer])):
            to[leaf.node] = len(question)
            add(_Leaf(leaf.place, rows, len(question)))
            question.append(-1)
            yes.append(0)
            no.append(0)
    ordered = sorted(leaves.values(), key=lambda leaf: (leaf.place, leaf.node))
    for state, leaf in enumerate(ordered, start=topology.states_per_phone):
        yes[leaf.node] = no[leaf.node] = state
    asked = sorted(set(question) - {-1})
    renumbered = {old: new for new, old in enumerate(asked)} | {-1: -1}
    return StateTying(
        topology.states_per_phone,
        questions.side[asked],
        questions.phones[asked],
        np.arange(n_places, dtype=np.int32).reshape(-1, topology.states_per_phone),
        np.array([renumbered[number] for number in question], np.int32),
        np.array(yes, np.int32),
        np.array(no, np.int32),
    )


def tied_states(states: np.ndarray, spoken: SpokenPhones, topology: Topology, tying: StateTying) -> np.ndarray:
    """An alignment by states of phones as one by tied states, int32 (n_frames,); silence and -1 stay."""
    tied = states.astype(np.int32)
    rows, phone, position = _places(states, spoken, topology)
    tied[rows] = tying.states(spoken.contexts)[phone, position]
    return tied


def _places(states: np.ndarray, spoken: SpokenPhones, topology: Topology) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every frame of a spoken phone, the number of the phone in `spoken`, and the place of its state in the phone."""
    start, end = spoken.frames.T
    phone = np.repeat(np.arange(len(start)), end - start)
    rows = np.arange(len(phone)) - np.repeat(np.cumsum(end - start) - end, end - start)
    return rows, phone, states[rows] - topology.states_per_phone * spoken.contexts[phone, 0]


def _accumulate(
    frames: np.ndarray, states: np.ndarray, spoken: SpokenPhones, context: np.ndarray, topology: Topology
) -> tuple[np.ndarray, Sums]:
    """Number of the context and place in the phone, int (n, 2), and the sums of the frames of each such pair."""
    rows, phone, position = _places(states, spoken, topology)
    key = context[phone] * topology.states_per_phone + position
    order = np.argsort(key, kind="stable")
    found, first = np.unique(key[order], return_index=True)
    sums = np.empty((len(found), 1 + 2 * frames.shape[1]))
    total = np.zeros(2 * frames.shape[1])
    for number, part in enumerate(np.split(rows[order], first[1:])):
        own = frames[part].astype(np.float64)
        sums[number] = len(part), *own.sum(axis=0), *np.square(own).sum(axis=0)
        total += sums[number, 1:]
    mean, square = np.split(total / max(1, len(rows)), 2)
    floor = VARIANCE_FLOOR * np.maximum(square - mean**2, np.finfo(np.float64).tiny)
    return np.stack(np.divmod(found, topology.states_per_phone), axis=1), Sums(sums, floor)


def _best_question(leaf: _Leaf, answers: np.ndarray, sums: Sums) -> tuple[float, int]:
    """The gain in log-likelihood of the best question, and its number; -1 if none divides the frames."""
    rows = sums.rows[leaf.rows]
    whole = rows.sum(axis=0)
    if whole[0] < 2 * MIN_FRAMES:
        return 0.0, -1
    yes = answers.astype(np.float64) @ rows
    no = whole - yes
    gains = sums.log_likelihood(yes) + sums.log_likelihood(no) - sums.log_likelihood(whole)
    gains[np.minimum(yes[:, 0], no[:, 0]) < MIN_FRAMES] = 0.0
    best = int(gains.argmax())
    return (float(gains[best]), best) if gains[best] > 0.0 else (0.0, -1)


def automatic_questions(keys: np.ndarray, sums: Sums, contexts: np.ndarray, topology: Topology) -> Questions:
    """Every phone and the pause by itself, and the sets of a clustering of the phones, on either side.

    Phones to the left are clustered by their last states, those to the right by their first: these touch the phone.
    """
    n_phones, last = len(topology.phones), topology.states_per_phone - 1
    side, phones = [BEGINS, ENDS], [np.arange(n_phones + 1) == 1] * 2
    for neighbour, position in ((LEFT, last), (RIGHT, 0)):
        sets = {frozenset([phone]) for phone in range(n_phones + 1)}
        own = keys[:, 1] == position
        sets |= _clusters(contexts[keys[own, 0], 0], sums.rows[own], n_phones)
        for members in sorted(sets, key=lambda members: (len(members), sorted(members))):
            side.append(neighbour)
            phones.append(np.isin(np.arange(n_phones + 1), sorted(members)))
    return Questions(np.array(side, np.int8), np.array(phones))


def _clusters(phone: np.ndarray, rows: np.ndarray, n_phones: int) -> set[frozenset[int]]:
    """Sets of phones whose states sound alike, by Ward's criterion on their means in units of the common deviation."""
    of_phone = np.zeros((n_phones + 1, rows.shape[1]))
    np.add.at(of_phone, phone, rows)
    heard = np.flatnonzero(of_phone[:, 0] > 0)
    if len(heard) < 3:
        return set()
    mean, square = np.split(of_phone[heard, 1:] / of_phone[heard, :1], 2, axis=1)
    within = np.average(square - mean**2, axis=0, weights=of_phone[heard, 0])
    merged = linkage(mean / np.sqrt(np.maximum(within, np.finfo(np.float64).tiny)), "ward")
    members = [frozenset([int(phone)]) for phone in heard]
    for first, second, *_ in merged[:-1]:  # the last holds all
        members.append(members[int(first)] | members[int(second)])
    return set(members)
