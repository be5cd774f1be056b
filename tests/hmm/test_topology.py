import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology, estimate_self_loops, uniform_self_loops
from asr.util.errors import LexiconError


@given(st.lists(st.sampled_from("abcdef"), unique=True).map(tuple), st.integers(1, 5))
def test_every_phone_owns_a_run_of_units(phones, states_per_phone):
    topology = Topology(phones, states_per_phone)
    units = [unit for name in topology.phone_names for unit in topology.units(name)]
    assert units == list(range(topology.n_units))
    for number, name in enumerate(topology.phone_names):
        assert (topology.unit_phone[topology.units(name)] == number).all()
    assert topology.unit_state[:-1].tolist() == list(range(topology.n_states))
    assert topology.unit_state[-1] in topology.silence_states
    assert topology.phone_names[0] == SILENCE and topology.phone_names[-1] == SHORT_PAUSE


def test_pause_is_tied_to_the_centre_of_silence():
    topology = Topology(("AA", "B"))
    assert topology.unit_state.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 1]
    assert [topology.state_name(state) for state in (0, 3, 8)] == ["SIL_1", "AA_1", "B_3"]
    assert topology.minimum_frames(["AA", SHORT_PAUSE, "B", SILENCE]) == 10


def test_an_unknown_phone_is_refused_with_the_phones_there_are():
    with pytest.raises(LexiconError, match=r"'q' is unknown. The phones of the model are SIL a SP"):
        Topology(("a",)).units("q")


@pytest.mark.parametrize("phones", [("a", "SIL"), ("SP",), ("a", "b", "a")])
def test_reserved_and_repeated_phones_are_refused(phones):
    with pytest.raises(LexiconError):
        Topology(phones)


def test_self_loops_hold_a_unit_for_its_mean_duration():
    topology = Topology(("a",))
    np.testing.assert_allclose(1 / (1 - uniform_self_loops(topology, 4.0)), 4.0)
    visits = np.full(topology.n_units, 1e6)
    np.testing.assert_allclose(1 / (1 - estimate_self_loops(3 * visits, visits)), 4.0, atol=1e-4)
    extremes = estimate_self_loops(np.array([0.0, 0.0, 1e9]), np.array([0.0, 1e9, 1.0]))
    np.testing.assert_allclose(extremes, [0.5, 0.05, 0.95])


def test_without_context_every_state_is_that_of_its_phone():
    topology = Topology(("x", "y"))
    assert topology.phone_state.tolist() == list(range(topology.n_states))
