"""Phones of an alignment with what is around them, against an utterance told by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.alignment.forced_alignment import align_utterance, path_of_states
from asr.alignment.phone_contexts import spoken_phones
from asr.alignment.transcript_graph import transcript_graph
from asr.decode.path_segments import frame_states
from asr.features.frame_table import FrameTable
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology
from asr.lexicon import Lexicon

LEXICON = Lexicon({"A": (("x", "y"),), "B": (("y",), ("y", "x", "y"))})
TOPOLOGY = Topology(("x", "y"), states_per_phone=2)


def table(*lengths: int) -> FrameTable:
    """Utterances of so many frames, of which nothing matters."""
    names = [f"u{number}" for number in range(len(lengths))]
    return FrameTable.from_utterances(names, ["s"] * len(names), [np.zeros((n, 1)) for n in lengths])


def test_contexts_and_frames_of_an_utterance():
    units = [*TOPOLOGY.units(SILENCE), *TOPOLOGY.units("x"), *TOPOLOGY.units("y"), *TOPOLOGY.units("y")]
    units += [*TOPOLOGY.units(SHORT_PAUSE), *TOPOLOGY.units("x"), *TOPOLOGY.units("y")]
    states = np.repeat(TOPOLOGY.unit_state[units], 2).astype(np.int32)
    frames = table(3, len(states))
    graphs = {name: transcript_graph(["A", "B", "A"], LEXICON, TOPOLOGY) for name in frames.ids}
    found = spoken_phones(np.concatenate([[-1, -1, -1], states]), frames, graphs, TOPOLOGY)
    assert found.contexts.tolist() == [
        [1, 0, 2, 1, 0],
        [2, 1, 2, 0, 1],
        [2, 2, 0, 1, 1],
        [1, 0, 2, 1, 0],
        [2, 1, 0, 0, 1],
    ]
    assert found.frames.tolist() == [[7, 11], [11, 15], [15, 19], [21, 25], [25, 29]]


@settings(max_examples=30)
@given(st.lists(st.sampled_from("AB"), min_size=1, max_size=3), st.integers(0, 2**32 - 1))
def test_a_path_is_found_again_from_its_states(words, seed):
    graph = transcript_graph(words, LEXICON, TOPOLOGY)
    scores = np.random.default_rng(seed).normal(size=(40, TOPOLOGY.n_states)).astype(np.float32)
    aligned = align_utterance(scores, graph, TOPOLOGY, np.full(TOPOLOGY.n_units, 0.5))
    states = frame_states(aligned.path, graph, TOPOLOGY)
    assert (frame_states(path_of_states(states, graph, TOPOLOGY), graph, TOPOLOGY) == states).all()
    with pytest.raises(ValueError, match="do not follow"):
        path_of_states(states[::-1].copy(), graph, TOPOLOGY)
