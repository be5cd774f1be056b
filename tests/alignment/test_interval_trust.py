"""Trust in the phones, words and the transcript of an alignment."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.alignment.forced_alignment import align_utterance
from asr.alignment.interval_trust import NEAR, SCALE, IntervalTrust, boundary_sharpness, interval_trust
from asr.alignment.transcript_graph import transcript_graph
from asr.alignment.transcript_scores import free_path, phone_loop
from asr.decode.path_segments import phone_segments, word_segments
from asr.hmm.topology import SILENCE, Topology
from asr.lexicon import Lexicon

LEXICON = Lexicon({"A": (("x", "y"),), "B": (("y", "z"),), "C": (("z", "x"),)})
TOPOLOGY = Topology(("x", "y", "z"))
SELF_LOOPS = np.linspace(0.3, 0.9, TOPOLOGY.n_units)
LOOP = phone_loop(TOPOLOGY)


def scores_of(*phones: str, frames: int = 3, unlikely: float = -30.0) -> np.ndarray:
    states = np.repeat([unit for phone in phones for unit in TOPOLOGY.units(phone)], frames)
    return np.where(states[:, None] == np.arange(TOPOLOGY.n_states), 0.0, unlikely).astype(np.float32)


def aligned(scores: np.ndarray, *words: str):
    found = align_utterance(scores, transcript_graph(words, LEXICON, TOPOLOGY), TOPOLOGY, SELF_LOOPS)
    return found.path, found.graph


def trust_of(scores: np.ndarray, *words: str) -> IntervalTrust:
    free = free_path(scores, LOOP, TOPOLOGY, SELF_LOOPS)
    return interval_trust(scores, *aligned(scores, *words), free, LOOP, TOPOLOGY, SELF_LOOPS)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_boundary_sharpness_equals_sum_over_all_paths(lengths: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    n_units, n_frames = len(lengths), sum(lengths)
    units = random.integers(TOPOLOGY.n_units, size=n_units)
    scores = random.normal(0.0, 20.0, (n_frames, TOPOLOGY.n_states)).astype(np.float32)
    own = np.cumsum(lengths)[:-1]
    total, near = 0.0, np.zeros(n_units - 1)
    for borders in combinations(range(1, n_frames), n_units - 1):
        path = np.repeat(np.arange(n_units), np.diff([0, *borders, n_frames]))
        score = sum(scores[frame, TOPOLOGY.unit_state[units[unit]]] for frame, unit in enumerate(path))
        stays = np.bincount(path) - 1
        weight = np.exp(SCALE * (score + (stays * np.log(SELF_LOOPS[units])).sum()))
        total += weight
        near += weight * (np.abs(np.array(borders) - own) <= NEAR)
    found = boundary_sharpness(scores, units, np.array(lengths), TOPOLOGY, SELF_LOOPS)
    assert found == pytest.approx(near / total, abs=1e-6)


def test_boundary_sharpness_of_clear_change_is_high() -> None:
    units, lengths = np.array([TOPOLOGY.units("x")[2], TOPOLOGY.units("y")[0]]), np.array([40, 40])
    states = np.repeat(units, lengths)
    clear, alike = (
        np.where(states[:, None] == np.arange(TOPOLOGY.n_states), 0.0, unlikely) for unlikely in (-30.0, 0.0)
    )
    loops = np.full(TOPOLOGY.n_units, 0.5)
    assert boundary_sharpness(clear, units, lengths, TOPOLOGY, loops)[0] > 0.99
    assert boundary_sharpness(alike, units, lengths, TOPOLOGY, loops)[0] == pytest.approx(5 / 79)


def test_interval_trust_of_wrong_word_is_low() -> None:
    scores = scores_of(SILENCE, "x", "y", "y", "z", SILENCE)
    right, wrong = trust_of(scores, "A", "B"), trust_of(scores, "A", "C")
    assert right.transcript > 0.9 and min(right.words) > 0.8 and min(right.phones) > 0.9
    assert 0.1 > wrong.words[1] < wrong.words[0] and wrong.transcript < 0.5
    assert min(wrong.phones) < 0.2


@pytest.mark.parametrize("frames", [1, 2])
def test_interval_trust_has_value_for_each_word_and_phone(frames: int) -> None:
    scores = scores_of(SILENCE, "x", "y", "x", "y", "y", "z", frames=frames, unlikely=-3.0)
    path, graph = aligned(scores, "A", "A", "B")
    found = trust_of(scores, "A", "A", "B")
    assert len(found.words) == len(word_segments(path, graph, TOPOLOGY)) == 3
    assert len(found.phones) == len(phone_segments(path, graph, TOPOLOGY))
    assert all(0.0 <= value <= 1.0 for value in (found.transcript, *found.words, *found.phones))


def test_interval_trust_without_words_has_phones() -> None:
    found = trust_of(scores_of(SILENCE))
    assert found.words == () and found.transcript > 0.9 and found.phones[0] > 0.9
