"""What sounds like a pause, on frames whose pauses are known."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.alignment.pause_model import CERTAIN, runs
from asr.alignment.pauses import pause_evidence, speech_axis
from asr.features.frame_table import FrameTable


def utterances(pauses: tuple[tuple[int, int], ...], n: int = 12, seed: int = 0) -> tuple[FrameTable, np.ndarray]:
    """Frames of six features of n utterances of 200 frames, with pauses there (a little later in every utterance)."""
    rng = np.random.default_rng(seed)
    matrices, paused = [], []
    for number in range(n):
        quiet = np.zeros(200, bool)
        for start, end in pauses:
            quiet[start + (number if start else 0) : end + number] = True
        sounds = np.repeat(rng.normal(size=(25, 6)) * 2.0, 8, axis=0) + rng.normal(size=(200, 6)) * 0.5
        sounds[:, 3] += 6.0
        noise = rng.normal(size=(200, 6)) * 0.7
        matrices.append(np.where(quiet[:, None], noise, sounds) + rng.normal() * 5.0)
        paused.append(quiet)
    return FrameTable.from_utterances([f"u{i:02d}" for i in range(n)], ["s"] * n, matrices), np.concatenate(paused)


THREE = ((0, 40), (90, 120), (160, 200))


def agreement(table: FrameTable, paused: np.ndarray) -> float:
    return float(np.mean((pause_evidence(table) < 0) == paused))


def test_pauses_before_between_and_after_words_are_found():
    table, paused = utterances(THREE)
    assert agreement(table, paused) > 0.95
    assert pause_evidence(table).min() >= -CERTAIN
    assert (pause_evidence(table)[~paused] == CERTAIN).mean() > 0.9


@pytest.mark.parametrize("turned", [False, True])
def test_no_column_need_be_an_energy_and_none_need_rise_with_it(turned):
    table, paused = utterances(THREE)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0] if turned else -np.eye(6)
    frames = np.ascontiguousarray(table.frames @ turn, np.float32)
    assert agreement(FrameTable(table.ids, table.speakers, frames, table.offsets), paused) > 0.95


def test_levels_that_differ_by_utterance_or_are_normalized_do_no_harm():
    table, paused = utterances(THREE)
    scaled = table.map(lambda frames: (frames - frames.mean(0)) / frames.std(0))
    assert agreement(scaled, paused) > 0.93


def test_pauses_are_found_in_noise_of_changing_level():
    table, paused = utterances(((0, 75), (95, 140), (160, 200)))
    level = np.tile(np.sin(np.linspace(0.0, 3.0 * np.pi, 200)), len(table))  # in one feature, such as breath or traffic
    frames = table.frames.copy()
    frames[:, 3] += np.where(paused, 1.5 * level, 0.0).astype(np.float32)
    assert agreement(FrameTable(table.ids, table.speakers, frames, table.offsets), paused) > 0.95


def test_what_is_shorter_than_a_pause_is_none():
    table, paused = utterances(((0, 40), (100, 112), (160, 200)))
    evidence = pause_evidence(table)
    short = paused.copy()
    for number in range(len(table)):
        rows = table.rows(number)
        short[rows.start : rows.start + 60] = short[rows.start + 150 : rows.stop] = False
    assert (evidence[short] == CERTAIN).all()
    twice = pause_evidence(table, frame_shift=0.02)  # with twice the shift it is long enough
    assert (twice[short] < 0).mean() > 0.7


@pytest.mark.parametrize("lengths", [(3, 5, 2), (40, 0, 60)], ids=["only ends", "one without frames"])
def test_frames_that_tell_nothing_are_evidence_for_speech(lengths):
    table = FrameTable.from_utterances("abc", "sss", [np.ones((length, 2), np.float32) for length in lengths])
    assert speech_axis(table) is None
    assert (pause_evidence(table) == CERTAIN).all()


def test_ends_that_differ_from_middles_by_chance_only_tell_nothing():
    rng = np.random.default_rng(0)
    matrices = [np.repeat(rng.normal(size=(25, 6)) * 3, 8, axis=0) + rng.normal(size=(200, 6)) for _ in range(40)]
    assert speech_axis(FrameTable.from_utterances(map(str, range(40)), "s" * 40, matrices)) is None


@given(st.lists(st.booleans(), max_size=30))
def test_runs_are_the_true_values(mask):
    found = np.zeros(len(mask), bool)
    spans = list(runs(np.array(mask, bool)))
    for start, end in spans:
        assert start < end
        found[start:end] = True
    assert found.tolist() == mask
    assert all(end < start for (_, end), (start, _) in pairwise(spans))
