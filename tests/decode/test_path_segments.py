import numpy as np

from asr.alignment.transcript_graph import transcript_graph
from asr.decode.graph_compiler import compile_graph
from asr.decode.path_segments import (
    Segment,
    frame_states,
    frame_units,
    phone_segments,
    unit_runs,
    word_segments,
)
from asr.decode.token_passing import best_path
from asr.grammar import one_word, word_loop
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology
from asr.lexicon import Lexicon

TOPOLOGY = Topology(("x", "y"))
LEXICON = Lexicon({"A": (("x",),), "AB": (("x", "y"),), "B": (("y",),)})


def spoken(*phones: str) -> np.ndarray:
    """Scores of phones that last one frame a unit."""
    states = TOPOLOGY.unit_state[[unit for phone in phones for unit in TOPOLOGY.units(phone)]]
    return np.where(states[:, None] == np.arange(TOPOLOGY.n_states), 0.0, -50.0).astype(np.float32)


def decode(scores, grammar):
    graph = compile_graph(LEXICON, grammar, TOPOLOGY)
    return best_path(scores, graph, TOPOLOGY.unit_state, np.full(TOPOLOGY.n_units, 0.5)), graph


def test_words_end_where_the_pause_or_the_next_word_begins():
    phones = (SILENCE, "x", "y", SILENCE, "y", "x", SHORT_PAUSE)
    path, graph = decode(spoken(*phones), word_loop(["A", "AB", "B"]))
    assert word_segments(path, graph, TOPOLOGY) == [
        Segment("AB", 3, 9),
        Segment("B", 12, 15),
        Segment("A", 15, 18),
    ]
    assert [segment.label for segment in phone_segments(path, graph, TOPOLOGY)] == list(phones)
    assert [segment.start for segment in phone_segments(path, graph, TOPOLOGY)] == [0, 3, 6, 9, 12, 15, 18]
    assert frame_states(path, graph, TOPOLOGY).tolist() == [
        *range(9),
        *range(3),
        *range(6, 9),
        *range(3, 6),
        1,
    ]
    units, lengths = unit_runs(path, graph)
    assert lengths.tolist() == [1] * 19
    assert units[-1] == TOPOLOGY.units(SHORT_PAUSE)[0]


def test_a_word_cut_off_before_it_is_known_is_left_out():
    path, graph = decode(spoken("x")[:2], one_word(["A", "AB"]))
    assert not path.complete
    assert word_segments(path, graph, TOPOLOGY) == []
    assert phone_segments(path, graph, TOPOLOGY) == [Segment("x", 0, 2)]


def test_a_path_without_frames_says_nothing():
    empty = transcript_graph([], LEXICON, TOPOLOGY)
    path = best_path(spoken("x")[:0], empty, TOPOLOGY.unit_state, np.full(TOPOLOGY.n_units, 0.5))
    assert path.complete
    assert len(frame_units(path, empty)) == 0
    assert word_segments(path, empty, TOPOLOGY) == []
    assert phone_segments(path, empty, TOPOLOGY) == []
