"""Alignments made by hand, right and wrong, and what is said of them."""

import numpy as np
import pytest

from asr.alignment.alignment_check import AlignmentCheck, check_alignment
from asr.alignment.transcript_graph import transcript_graph
from asr.features.frame_table import FrameTable
from asr.hmm.topology import SILENCE, Topology
from asr.lexicon import Lexicon

LEXICON = Lexicon({"A": (("x", "y"),), "B": (("y",), ("y", "x", "y"))})
TOPOLOGY = Topology(("x", "y"))
WORDS = ["A", "B"]


def utterance(*phones: tuple[str, int]) -> np.ndarray:
    """States of phones that last so many frames each."""
    states = ((np.array(TOPOLOGY.unit_state[list(TOPOLOGY.units(phone))]), length) for phone, length in phones)
    return np.concatenate([np.sort(np.resize(own, length)) for own, length in states]).astype(np.int32)


RIGHT = utterance((SILENCE, 60), ("x", 9), ("y", 12), (SILENCE, 45), ("y", 15), (SILENCE, 50))
SWALLOWED = utterance(("x", 60), ("y", 40), (SILENCE, 3), ("y", 88))


def checked(*states: np.ndarray, failed: int = 0) -> AlignmentCheck:
    """Of utterances whose frames sound like a pause where the right alignment says so."""
    rng = np.random.default_rng(0)
    matrices = []
    for _ in range(len(states) + failed):
        frames = rng.normal(size=(len(RIGHT), 3)) * 0.3
        frames[TOPOLOGY.unit_state[RIGHT] >= 3] += 4.0
        matrices.append(frames)
    names = [f"u{number}" for number in range(len(matrices))]
    table = FrameTable.from_utterances(names, ["s"] * len(names), matrices)
    graphs = {name: transcript_graph(WORDS, LEXICON, TOPOLOGY) for name in names}
    rest = [np.full(len(RIGHT), -1, np.int32)] * failed
    return check_alignment(np.concatenate([*states, *rest]), table, graphs, TOPOLOGY)


def test_a_good_alignment_gives_no_cause_for_complaint():
    check = checked(*[RIGHT] * 5)
    assert check.silence == pytest.approx(100 * 155 / len(RIGHT))
    assert check.pauses == pytest.approx(check.silence, abs=8)
    assert (check.long_phones, check.long_words, check.worst) == (0.0, 0.0, "")
    assert check.complaints() == []
    assert "81.2 % of the frames" in str(check)


def test_utterances_that_failed_do_not_count():
    assert checked(*[RIGHT] * 5, failed=2).silence == checked(*[RIGHT] * 5).silence


def test_silence_lost_in_phones_is_told_with_the_utterance():
    check = checked(*[RIGHT] * 10, SWALLOWED)
    assert check.long_phones == pytest.approx(100 * 3 / 33)
    assert check.long_words == pytest.approx(100 * 2 / 22)
    assert check.worst == "u10"
    for complaint, part in zip(check.complaints(), ("y, and in u10", "too long", "like a pause"), strict=True):
        assert complaint.startswith("9.1 % of the ") and part in complaint and "in u10:" in complaint
    assert (check.paused_words, check.worst_paused) == (pytest.approx(100 * 2 / 22), "u10")
    lost = checked(*[SWALLOWED] * 5).complaints()
    assert lost[0].startswith("only 2 % of the frames are aligned to silence, but 7")


def test_speech_swallowed_by_silence_is_told():
    speech = AlignmentCheck(silence=60.0, pauses=30.0, long_phones=0.0, long_words=0.0, worst="")
    assert len(speech.complaints()) == 1
    assert "silence may include speech" in speech.complaints()[0]


def test_states_of_another_transcript_are_refused():
    with pytest.raises(ValueError, match="do not follow the graph"):
        checked(RIGHT[::-1].copy())


def test_marks_of_silence_are_no_words():
    lexicon = Lexicon({"A": (("x", "y"),), "B": (("y",),), "sil": ((SILENCE,),)})
    states = utterance((SILENCE, 60), ("x", 9), ("y", 12), (SILENCE, 45), ("y", 15), (SILENCE, 50))
    table = FrameTable.from_utterances(["u"], ["s"], [np.random.default_rng(0).normal(size=(len(states), 3))])
    graph = transcript_graph(["sil", "A", "sil", "B", "sil"], lexicon, TOPOLOGY)
    assert check_alignment(states, table, {"u": graph}, TOPOLOGY).paused_words == 0.0
