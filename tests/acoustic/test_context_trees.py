"""Trees of states in context, against the gains of all questions computed from the frames themselves."""

import numpy as np
import pytest

from asr.acoustic.context_trees import MIN_FRAMES, Questions, grow_trees, tied_states
from asr.alignment.phone_contexts import SpokenPhones
from asr.hmm.phone_questions import PhoneQuestion
from asr.hmm.state_tying import LEFT
from asr.hmm.topology import Topology

TOPOLOGY = Topology(("a", "b", "c", "d"), states_per_phone=2)
LENGTH = 6  # frames per phone
LEFT_MATTERS = 3  # the first state of this phone sounds different after "a" or "b"


def speech(n_phones: int = 2000, colours: tuple[int, int] = (1, 2)) -> tuple[np.ndarray, np.ndarray, SpokenPhones]:
    """Frames, states and phones in which one neighbour colours one state."""
    rng = np.random.default_rng(0)
    phone = rng.integers(1, 5, n_phones)
    left, right = rng.integers(0, 5, (2, n_phones))
    contexts = np.stack([phone, left, right, rng.integers(0, 2, n_phones), rng.integers(0, 2, n_phones)], axis=1)
    start = LENGTH * np.arange(n_phones)
    position = np.tile(np.repeat([0, 1], LENGTH // 2), n_phones)
    states = (2 * np.repeat(phone, LENGTH) + position).astype(np.int32)
    frames = rng.normal(size=(len(states), 3)) + states[:, None]
    coloured = (phone == LEFT_MATTERS) & np.isin(left, colours)
    frames[np.repeat(coloured, LENGTH) & (position == 0), 1] += 5.0
    return frames.astype(np.float32), states, SpokenPhones(contexts, np.stack([start, start + LENGTH], axis=1))


def test_the_first_question_is_the_one_that_matters():
    frames, states, spoken = speech()
    tying = grow_trees(frames, states, spoken, TOPOLOGY, 9)
    assert tying.n_states == 2 + 9
    root = int(tying.root[LEFT_MATTERS - 1, 0])
    asked = tying.node_question[root]
    assert asked >= 0
    assert tying.question_side[asked] == LEFT
    yes = {phone for phone in range(5) if tying.question_phones[asked, phone]}
    assert yes in ({1, 2}, {0, 3, 4})
    assert (tying.node_question[np.setdiff1d(tying.root.ravel(), [root])] < 0).all()


def test_given_question_is_asked_where_it_gains_most():
    frames, states, spoken = speech(colours=(1, 3))
    given = [
        PhoneQuestion(name="these two", side="left", phones=("a", "c")),
        PhoneQuestion(name="nobody", phones=("x",)),
        PhoneQuestion(name="all", phones=("sil", "*")),
        PhoneQuestion(name="itself", side="itself", phones=("a",)),
    ]
    for questions, wanted in ((given, True), ([], False)):
        tying = grow_trees(frames, states, spoken, TOPOLOGY, 9, questions)
        asked = tying.node_question[tying.root[LEFT_MATTERS - 1, 0]]
        assert (np.flatnonzero(tying.question_phones[asked]).tolist() == [1, 3]) == wanted
    assert Questions(np.array([LEFT], np.int8), np.eye(5, dtype=bool)[:1]).and_given(given, TOPOLOGY).side.tolist() == [
        0,
        0,
    ]


def gain(frames: np.ndarray, answer: np.ndarray) -> float:
    """Of two Gaussians instead of one, from the frames."""

    def likelihood(part: np.ndarray) -> float:
        return -0.5 * len(part) * float(np.log(part.astype(np.float64).var(axis=0)).sum())

    return likelihood(frames[answer]) + likelihood(frames[~answer]) - likelihood(frames)


def test_no_question_about_a_neighbour_gains_more_than_the_chosen_one():
    frames, states, spoken = speech()
    tying = grow_trees(frames, states, spoken, TOPOLOGY, 1000)
    phone = np.repeat(np.arange(len(spoken.contexts)), LENGTH)
    for place in ((1, 0), (3, 0), (4, 1)):
        own = states == 2 * place[0] + place[1]
        contexts = spoken.contexts[phone[own]]
        asked = tying.node_question[tying.root[place[0] - 1, place[1]]]
        chosen = tying.question_phones[asked, contexts[:, 1 + tying.question_side[asked]]]
        single = max(
            gain(frames[own], contexts[:, side] == value)
            for side in (1, 2)
            for value in range(5)
            if min((contexts[:, side] == value).sum(), (contexts[:, side] != value).sum()) >= MIN_FRAMES
        )
        assert gain(frames[own], chosen) >= single - 1e-6


def test_leaves_have_enough_frames_and_states_their_place():
    frames, states, spoken = speech()
    tying = grow_trees(frames, states, spoken, TOPOLOGY, 1000)
    tied = tied_states(states, spoken, TOPOLOGY, tying)
    assert np.bincount(tied)[2:].min() >= MIN_FRAMES
    assert tying.n_states > 20
    place = tying.state_place[tied]
    assert (2 * place[:, 0] + place[:, 1] == states).all()


def test_without_enough_speech_states_are_those_of_phones():
    frames, states, spoken = speech(40)
    states[:LENGTH] = -1
    spoken = SpokenPhones(spoken.contexts[1:], spoken.frames[1:])
    tying = grow_trees(frames, states, spoken, TOPOLOGY, 1000)
    assert tying.n_states == TOPOLOGY.n_states
    assert (tied_states(states, spoken, TOPOLOGY, tying) == states).all()


def test_a_phone_that_nobody_said_has_states():
    frames, states, spoken = speech()
    topology = Topology((*TOPOLOGY.phones, "e"), states_per_phone=2)
    tying = grow_trees(frames, states, spoken, topology, 20)
    assert (tying.states([[5, 0, 0, 1, 1]]) >= 2).all()
    assert tying.states([[1, 5, 5, 0, 0]]).shape == (1, 2)
    with pytest.raises(ValueError, match="tree"):
        type(tying).from_arrays(tying.to_arrays() | {"root": tying.root[::-1] * 0}, 5, 2)
