"""Trees from contexts to states: against a walk by hand, and what a file may hold."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.hmm.state_tying import Context, StateTying
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology
from tests.hmm.random_tying import random_tying

CONTEXTS = [Context(*values) for values in product((1, 2), (0, 1, 2), (0, 1, 2), (False, True), (False, True))]


def walked(tying: StateTying, context: Context, position: int) -> int:
    """The state of one context, question by question."""
    node = int(tying.root[context.phone - 1, position])
    while tying.node_question[node] >= 0:
        question = tying.node_question[node]
        value = (context.left, context.right, context.begins_word, context.ends_word)[tying.question_side[question]]
        node = int((tying.node_yes if tying.question_phones[question, int(value)] else tying.node_no)[node])
    return int(tying.node_yes[node])


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_all_contexts_find_their_states(seed, states_per_phone):
    tying = random_tying(seed, 2, states_per_phone)
    found = tying.states(CONTEXTS)
    assert found.tolist() == [[walked(tying, context, p) for p in range(states_per_phone)] for context in CONTEXTS]
    place = tying.state_place
    for context, states in zip(CONTEXTS, found, strict=True):
        assert place[states].tolist() == [[context.phone, position] for position in range(states_per_phone)]


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_a_topology_with_trees_names_every_unit_once(seed, states_per_phone):
    topology = Topology(("x", "y"), states_per_phone, random_tying(seed, 2, states_per_phone))
    every = [unit for phone in topology.phone_names for units in topology.alternatives(phone) for unit in units]
    assert sorted(every) == list(range(topology.n_units))
    assert len({topology.state_name(state) for state in range(topology.n_states)}) == topology.n_states
    without = Topology(("x", "y"), states_per_phone)
    for phone in topology.phone_names[:-1]:
        for units, unit in zip(topology.alternatives(phone), without.units(phone), strict=True):
            assert topology.phone_state[topology.unit_state[units]].tolist() == [unit] * len(units)
    pauses = [Context(0, 1, 1, False, False), Context(3, 1, 1, False, False)]
    assert topology.units_in(pauses) == [topology.units(SILENCE), topology.units(SHORT_PAUSE)]
    with pytest.raises(ValueError, match="neighbors"):
        topology.units("x")


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_arrays_give_the_same_trees(seed):
    tying = random_tying(seed, 3, 2)
    again = StateTying.from_arrays(tying.to_arrays(), 3, 2)
    assert again == tying
    assert hash(again) == hash(tying)
    assert again != random_tying(seed + 1, 3, 2) or seed == 2**32 - 1


def _changed(name, index, value):
    def change(arrays):
        arrays[name] = arrays[name].copy()
        arrays[name][index] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _changed("node_yes", 0, 0),  # a circle
        _changed("node_no", 0, 10**6),
        _changed("node_question", -1, 10**6),
        _changed("node_yes", -1, 10**6),  # an invalid state
        _changed("question_side", 0, 4),
        _changed("root", (0, 0), -1),
        _changed("root", (0, 0), 1),  # two phones with one tree
        lambda arrays: arrays.update(root=arrays["root"][:1]),
        lambda arrays: arrays.update(node_yes=arrays["node_yes"].astype(np.float64)),
        lambda arrays: arrays.update(question_phones=arrays["question_phones"][:, :2]),
    ],
)
def test_arrays_that_are_no_trees_are_refused(change):
    seed = next(seed for seed in range(100) if random_tying(seed, 2, 1).node_question[0] >= 0)
    arrays = random_tying(seed, 2, 1).to_arrays()
    change(arrays)
    with pytest.raises(ValueError, match=r"tree|tying"):
        StateTying.from_arrays(arrays, 2, 1)
