"""Margins against edited transcripts, on frames whose states are known."""

import numpy as np
import pytest

from asr.alignment.forced_alignment import align_utterance
from asr.alignment.transcript_graph import transcript_graph
from asr.alignment.word_edits import EditMargins, edit_margins, edited_graph
from asr.decode.token_passing import best_path
from asr.hmm.topology import SILENCE, Topology
from asr.lexicon import Lexicon
from tests.hmm.random_tying import random_tying

LEXICON = Lexicon({"A": (("x", "y"),), "B": (("y", "z"), ("z",)), "C": (("z", "z", "x"),)})
TOPOLOGY = Topology(("x", "y", "z"))
SELF_LOOPS = np.full(TOPOLOGY.n_units, 0.5)


def scores_of(*words: str, seed: int = 0) -> np.ndarray:
    phones = [SILENCE, *(phone for word in words for phone in LEXICON.pronunciations[word][0]), SILENCE]
    states = np.repeat([unit for phone in phones for unit in TOPOLOGY.units(phone)], 3)
    spoken = np.where(states[:, None] == np.arange(TOPOLOGY.n_states), 0.0, -5.0)
    return (spoken + np.random.default_rng(seed).normal(size=spoken.shape)).astype(np.float32)


def margins(spoken: str, transcript: str) -> EditMargins:
    return edit_margins(scores_of(*spoken), [tuple(transcript), ("C", "B")], LEXICON, TOPOLOGY, SELF_LOOPS)


def test_edit_margins_of_right_transcript_exceed_those_of_rivals():
    found = margins("ABCA", "ABCA")
    assert found.added > 5.0 > 0.0 > found.rival_added
    assert found.missing > found.rival_missing + 5.0


@pytest.mark.parametrize(("spoken", "given"), [("ABC", "ABAC"), ("ABC", "CABC"), ("BA", "BAB")])
def test_edit_margins_of_added_word_are_negative(spoken, given):
    assert margins(spoken, given).added < -3.0


@pytest.mark.parametrize(("spoken", "given"), [("ABAC", "ABC"), ("CAB", "AB"), ("BAC", "BA")])
def test_edit_margins_of_missing_word_are_negative(spoken, given):
    assert margins(spoken, given).missing < -5.0 < margins(spoken, spoken).missing


def test_edited_graph_leaves_out_the_best_word():
    scores, words = scores_of("A", "C", "B"), ("A", "B", "C", "B")
    by_hand = [
        align_utterance(
            scores, transcript_graph(words[:at] + words[at + 1 :], LEXICON, TOPOLOGY), TOPOLOGY, SELF_LOOPS
        ).path.score
        for at in range(len(words))
    ]
    graph = edited_graph(words, LEXICON, TOPOLOGY, "leave-out")
    assert best_path(scores, graph, TOPOLOGY.unit_state, SELF_LOOPS).score == pytest.approx(max(by_hand))


def test_edited_graph_without_edit_is_the_transcript():
    scores, words = scores_of("A", "B"), ("A", "B", "A")
    plain, edited = (
        best_path(scores, graph, TOPOLOGY.unit_state, SELF_LOOPS).score
        for graph in (
            transcript_graph(words, LEXICON, TOPOLOGY),
            edited_graph(words, LEXICON, TOPOLOGY, "none"),
        )
    )
    assert edited == pytest.approx(plain)


def test_edit_margins_of_no_or_too_many_words_are_unknown():
    assert np.isnan(margins("A", "").added)
    assert np.isnan(margins("A", "A" * 201).missing)
    assert np.isnan(margins("A", "A").rival_missing)


def test_edited_graph_of_tied_states_allows_any_context():
    tied = Topology(TOPOLOGY.phones, tying=random_tying(0, len(TOPOLOGY.phones), TOPOLOGY.states_per_phone))
    scores = np.random.default_rng(0).normal(size=(40, tied.n_states)).astype(np.float32)
    self_loops, words = np.full(tied.n_units, 0.5), ("A", "B", "C")
    strict = align_utterance(scores, transcript_graph(words, LEXICON, tied), tied, self_loops).path.score
    free = best_path(scores, edited_graph(words, LEXICON, tied, "none"), tied.unit_state, self_loops).score
    assert free >= strict
    found = edit_margins(scores, [words, ("C", "B")], LEXICON, tied, self_loops)
    assert np.isfinite([found.added, found.missing, found.rival_added, found.rival_missing]).all()
