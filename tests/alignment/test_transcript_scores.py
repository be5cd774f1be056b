"""Scores of transcripts against any string of phones, on frames whose states are known."""

import numpy as np
import pytest

from asr.alignment.forced_alignment import align_utterance
from asr.alignment.transcript_graph import transcript_graph
from asr.alignment.transcript_scores import draw_rivals, phone_loop, score_transcripts, score_utterance
from asr.decode.token_passing import best_path
from asr.features.frame_table import FrameTable
from asr.hmm.topology import SILENCE, Topology
from asr.lexicon import Lexicon
from asr.util.errors import Issue

LEXICON = Lexicon({"A": (("x", "y"),), "B": (("y", "x"),), "LONG": (("x", "y") * 20,)})
TOPOLOGY = Topology(("x", "y"))
SELF_LOOPS = np.full(TOPOLOGY.n_units, 0.5)
LOOP = phone_loop(TOPOLOGY)


def graph(*words: str):
    return transcript_graph(words, LEXICON, TOPOLOGY)


def scores_of(*phones: str, frames: int = 2, unlikely: float = -5.0) -> np.ndarray:
    states = np.repeat([unit for phone in phones for unit in TOPOLOGY.units(phone)], frames)
    return np.where(states[:, None] == np.arange(TOPOLOGY.n_states), 0.0, unlikely).astype(np.float32)


SPOKEN = scores_of(SILENCE, "x", "y", SILENCE)


def test_what_was_said_scores_nothing_and_anything_else_less():
    found = score_utterance(SPOKEN, [graph("A"), graph("B"), graph("A", "B")], LOOP, TOPOLOGY, SELF_LOOPS)
    assert found.score == 0.0
    assert (found.rivals < -1.0).all()
    assert found.beaten == 2


def test_score_is_the_difference_to_the_best_phones_a_frame():
    found = score_utterance(SPOKEN, [graph("B")], LOOP, TOPOLOGY, SELF_LOOPS)
    aligned = align_utterance(SPOKEN, graph("B"), TOPOLOGY, SELF_LOOPS)
    free = best_path(SPOKEN, LOOP, TOPOLOGY.unit_state, SELF_LOOPS)
    assert 12 <= (aligned.path.score - free.score) / found.score <= len(SPOKEN)


def test_pauses_do_not_dilute_a_score():
    padded = np.vstack([np.repeat(SPOKEN[:1], 100, axis=0), SPOKEN])
    short, long = (
        score_utterance(scores, [graph("B")], LOOP, TOPOLOGY, SELF_LOOPS).score for scores in (SPOKEN, padded)
    )
    assert long == pytest.approx(short, rel=1e-6)


def test_transcript_that_is_too_long_has_no_score():
    found = score_utterance(SPOKEN, [graph("A"), graph("LONG"), graph("B")], LOOP, TOPOLOGY, SELF_LOOPS)
    assert len(found.rivals) == 1
    missing = score_utterance(SPOKEN, [graph("LONG")], LOOP, TOPOLOGY, SELF_LOOPS)
    assert isinstance(missing, Issue)
    table = FrameTable.from_utterances(["a", "b"], ["s", "s"], [SPOKEN, SPOKEN])
    graphs = {"a": graph("A"), "b": graph("LONG")}
    assert set(score_transcripts(lambda frames: frames, table, graphs, {"a": ("b",)}, TOPOLOGY, SELF_LOOPS)) == {"a"}


@pytest.mark.parametrize("n_utterances", [12, 400])
def test_rivals_are_other_transcripts_and_none_comes_twice(n_utterances):
    transcripts = {f"u{number:03d}": ("A" if number % 3 else "B", str(number % 7)) for number in range(n_utterances)}
    drawn = draw_rivals(transcripts, 4, seed=1)
    assert drawn == draw_rivals(transcripts, 4, seed=1) != draw_rivals(transcripts, 4, seed=2)
    assert set(drawn) == set(transcripts)
    for name, rivals in drawn.items():
        assert len(set(rivals)) == len(rivals) == 4
        assert all(transcripts[rival] != transcripts[name] for rival in rivals)
    assert draw_rivals(transcripts, 4, names=["u003"], seed=1) == {"u003": drawn["u003"]}


def test_there_are_fewer_rivals_where_all_say_the_same():
    assert draw_rivals({"a": ("A",), "b": ("A",)}, 4) == {"a": (), "b": ()}
    assert draw_rivals({"a": ("A",), "b": ("B",)}, 4) == {"a": ("b",), "b": ("a",)}
