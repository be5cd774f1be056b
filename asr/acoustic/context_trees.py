"""Decision trees that tie the states of phones in context (Young, Odell and Woodland 1994).

All frames of a phone's state start in one leaf. The leaf and question with the largest gain in likelihood, with one
Gaussian per leaf, are split repeatedly. Questions are generated automatically: every single phone and the sets of a
phone clustering, asked of the left and right neighbor, and whether the phone begins or ends a word. A user's questions
are added to these.
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
"""Minimum number of frames in a leaf."""
FRAMES_A_STATE = 1000
"""Frames of training speech per state, if the number of states is not given."""
MAX_STATES = 600
"""Maximum number of states if it is not given; larger numbers were not measured, and classifiers train more slowly."""
SIDES_ASKED = {"left": (LEFT,), "right": (RIGHT,), "both": (LEFT, RIGHT), "itself": ()}
VARIANCE_FLOOR = 0.01  # fraction of the variance over all frames


def states_for(n_frames: int) -> int:
    """Return the default total number of context-dependent states."""
    return min(n_frames // FRAMES_A_STATE, MAX_STATES)


@dataclass(frozen=True)
class Questions:
    """Questions in the form of `StateTying`: the side asked about, and the phones whose answer is yes."""

    side: np.ndarray
    phones: np.ndarray

    def and_given(self, given: Sequence[PhoneQuestion], topology: Topology) -> "Questions":
        """Add a user's questions that are new and that split the phones."""
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
        """Return the answers, bool (n_questions, n), for contexts, int (n, 5)."""
        return self.phones[np.arange(len(self.side))[:, None], contexts[:, 1 + self.side].T]


@dataclass(frozen=True)
class Sums:
    """Number, sum and sum of squares of frames, float64 (n, 1 + 2 * n_features)."""

    rows: np.ndarray
    floor: np.ndarray

    def log_likelihood(self, rows: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of the frames of each row under its own Gaussian, up to a constant per frame."""
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
    """Grow trees with `n_states` leaves in total, or fewer if there are too few frames.

    Parameters
    ----------
    frames : float32 (n_frames, n_features)
    states : int32 (n_frames,)
        Alignment to the states of phones, numbered as in `topology` without tying; -1 leaves a frame out.
    spoken : SpokenPhones
        The phones of that alignment.
    n_states : int
        Number of leaves; every state of a phone has at least one.
    given : sequence of PhoneQuestion
        Additional questions. Those about the phone itself are ignored, because each phone has its own trees.
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
    """Convert an alignment to tied states, int32 (n_frames,); silence and -1 stay."""
    tied = states.astype(np.int32)
    rows, phone, position = _places(states, spoken, topology)
    tied[rows] = tying.states(spoken.contexts)[phone, position]
    return tied


def _places(states: np.ndarray, spoken: SpokenPhones, topology: Topology) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the frames of spoken phones, the phone's number in `spoken`, and the state's position in the phone."""
    start, end = spoken.frames.T
    phone = np.repeat(np.arange(len(start)), end - start)
    rows = np.arange(len(phone)) - np.repeat(np.cumsum(end - start) - end, end - start)
    return rows, phone, states[rows] - topology.states_per_phone * spoken.contexts[phone, 0]


def _accumulate(
    frames: np.ndarray, states: np.ndarray, spoken: SpokenPhones, context: np.ndarray, topology: Topology
) -> tuple[np.ndarray, Sums]:
    """Return pairs (context, position in the phone), int (n, 2), and the sums of the frames of each pair."""
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
    """Return the largest gain in log-likelihood and the number of its question; -1 if no question splits the frames."""
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
    """Return single phones, the pause, and the sets of a phone clustering as questions about either neighbor.

    Left neighbors are clustered by their last states and right neighbors by their first, which touch the phone.
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
    """Cluster phones by the means of their states in units of the common deviation (Ward's criterion)."""
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
