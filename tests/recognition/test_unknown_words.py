"""Words without a pronunciation: the phone that any speech fits."""

import numpy as np

from asr.acoustic.phone_hmm import PhoneHmm
from asr.alignment.forced_alignment import Alignment, align_utterance
from asr.alignment.transcript_graph import transcript_graph
from asr.decode.path_segments import frame_states, phone_segments, word_segments
from asr.hmm.topology import Topology, uniform_self_loops
from asr.lexicon import Lexicon
from asr.recognition.unknown_words import (
    known_states,
    unknown_phone,
    unknown_words,
    with_unknown_phone,
    with_unknown_words,
    write_unknown_words,
)
from tests.hmm.random_tying import random_tying

LEXICON = Lexicon({"ab": (("a", "b"),), "c": (("c",),)})


class Scores:
    """An acoustic model whose frames are the scores."""

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        return frames.astype(np.float32)


def hmm_of(topology: Topology) -> PhoneHmm:
    return PhoneHmm(topology, Scores(), uniform_self_loops(topology))


def frames_in(states: list[int], n_states: int, level: float = -6.0) -> np.ndarray:
    frames = np.full((len(states), n_states), level, np.float32)
    frames[np.arange(len(states)), states] = 0.0
    return frames


def test_unknown_word_takes_the_frames_between_known_ones():
    topology = Topology(("a", "b", "c"), 1)
    hmm = with_unknown_phone(hmm_of(topology))
    lexicon = with_unknown_words(LEXICON, ["new"], unknown_phone(topology.phones))
    graph = transcript_graph(("ab", "new", "c"), lexicon, hmm.topology)
    spoken = [0, 0, 1, 1, 2, 2, 3, 1, 3, 1, 3, 3, 3, 0]  # SIL a b, other speech, c SIL
    found = align_utterance(hmm.log_likelihood(frames_in(spoken, 4)), graph, hmm.topology, hmm.self_loops)
    assert isinstance(found, Alignment)
    words = word_segments(found.path, graph, hmm.topology)
    assert [word.label for word in words] == ["ab", "new", "c"]
    assert (words[1].start, words[1].end) == (6, 10)
    assert [phone.label for phone in phone_segments(found.path, graph, hmm.topology)] == [
        "SIL", "a", "b", "spn", "c", "SIL"
    ]  # fmt: skip
    states = frame_states(found.path, graph, hmm.topology)
    assert known_states(states, hmm).tolist() == [0, 0, 1, 1, 2, 2, -1, -1, -1, -1, 3, 3, 3, 0]


def test_with_unknown_phone_keeps_the_states_of_trees():
    topology = Topology(("a", "b", "c"), 3, random_tying(1, 3, 3))
    extended = with_unknown_phone(hmm_of(topology)).topology
    assert extended.n_states == topology.n_states + 3
    assert np.array_equal(extended.unit_state[: topology.n_states], topology.unit_state[: topology.n_states])
    assert extended.unit_state[-1] == topology.unit_state[-1]
    graph = transcript_graph(("ab", "new"), with_unknown_words(LEXICON, ["new"], "spn"), extended)
    names = {extended.phone_names[phone] for phone in extended.unit_phone[graph.arc_unit].tolist()}
    assert names == {"SIL", "a", "b", "spn", "SP"}


def test_scores_of_unknown_speech_are_the_mean_without_silence():
    hmm = with_unknown_phone(hmm_of(Topology(("a", "b"), 1)))
    scores = hmm.log_likelihood(np.log(np.array([[0.9, 0.2, 0.4]])))
    assert np.allclose(np.exp(scores), [[0.9, 0.2, 0.4, 0.3]])
    assert known_states(np.array([0, 1, 2, 3], np.int32), hmm).tolist() == [0, 1, 2, -1]


def test_unknown_phone_of_a_lexicon_with_spn_has_another_name():
    assert unknown_phone(("spn", "a")) == "spn_"


def test_unknown_words_are_counted_in_utterances_with_known_ones(tmp_path):
    counts = unknown_words([("ab", "new", "x"), ("new", "c"), ("y", "z")], LEXICON)
    assert counts == {"new": 2, "x": 1}
    write_unknown_words(tmp_path, counts, "spn")
    assert (tmp_path / "unknown-words.tsv").read_text() == "word\tcount\nnew\t2\nx\t1\n"
