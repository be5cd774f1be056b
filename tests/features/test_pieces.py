"""Division of long utterances at pauses."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.pieces import divided, pause_cuts


@given(st.integers(1, 400), st.integers(1, 30), st.integers(1, 40), st.integers(0, 9))
def test_pause_cuts_any_loudness_keep_the_limits(n_frames, shortest, more, seed):
    longest = shortest + more
    loudness = np.random.default_rng(seed).normal(size=n_frames)
    lengths = np.diff([0, *pause_cuts(loudness, shortest, longest, 5), n_frames])
    assert (lengths[:-1] >= shortest).all() and (lengths[:-1] <= longest).all()
    assert lengths[-1] <= shortest + longest


def test_pause_cuts_pauses_are_found():
    loudness = np.ones(1000)
    loudness[[*range(290, 310), *range(590, 610)]] = 0.0
    assert pause_cuts(loudness, 200, 400, 20) == [300, 600]


def test_divided_short_utterances_are_the_same_table():
    table = FrameTable.from_utterances("ab", "ab", [np.zeros((100, 13), np.float32)] * 2)
    assert divided(table, FeatureConfig()).table is table


def test_divided_long_utterance_keeps_frames_and_speaker():
    frames = np.random.default_rng(0).normal(size=(9000, 13)).astype(np.float32)
    table = FrameTable.from_utterances("ab", "sp", [frames[:100], frames[100:]])
    pieces = divided(table, FeatureConfig())
    assert pieces.table.frames is table.frames
    assert list(pieces.parts) == ["b"] and pieces.table.ids[0] == "a"
    assert set(pieces.table.speakers[1:]) == {"p"}
    for name, first in pieces.parts["b"]:
        rows = pieces.table.rows(name)
        assert rows.start == 100 + first and 800 <= rows.stop - rows.start <= 3800
