import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.alignment.batch_alignment import align_table, flat_alignment
from asr.alignment.forced_alignment import Alignment, align_utterance, equal_runs, shortest_path_frames
from asr.alignment.transcript_graph import transcript_graph
from asr.decode.path_segments import frame_units, word_segments
from asr.features.frame_table import FrameTable
from asr.hmm.topology import SILENCE, Topology
from asr.lexicon import Lexicon
from asr.util.errors import AlignmentError, Issue, LexiconError
from discriminants.parallel.workers import LocalWorkers, SerialWorkers

LEXICON = Lexicon({"A": (("x", "y"),), "B": (("y",), ("y", "x", "y")), "C": (("x", "x", "y"), ("y", "x"))})
TOPOLOGY = Topology(("x", "y"))
SELF_LOOPS = np.full(TOPOLOGY.n_units, 0.7)
sentences = st.lists(st.sampled_from(LEXICON.words), max_size=5)


def scores_of(states: list[int], likely: float = 0.0, unlikely: float = -60.0) -> np.ndarray:
    return np.where(np.array(states)[:, None] == np.arange(TOPOLOGY.n_states), likely, unlikely).astype(np.float32)


def units_of(*phones: str) -> list[int]:
    return [unit for phone in phones for unit in TOPOLOGY.units(phone)]


@given(sentences)
def test_the_shortest_path_takes_the_shortest_variant_of_every_word(words):
    shortest = sum(min(TOPOLOGY.minimum_frames(p) for p in LEXICON[word]) for word in words)
    assert shortest_path_frames(transcript_graph(words, LEXICON, TOPOLOGY)) == shortest


@given(sentences, st.integers(0, 60), st.integers(0, 2**32 - 1))
def test_utterance_is_aligned_if_long_enough(words, n_frames, seed):
    graph = transcript_graph(words, LEXICON, TOPOLOGY)
    scores = np.random.default_rng(seed).normal(size=(n_frames, TOPOLOGY.n_states)).astype(np.float32)
    result = align_utterance(scores, graph, TOPOLOGY, SELF_LOOPS)
    if isinstance(result, Alignment):
        assert len(frame_units(result.path, graph)) == n_frames
        assert [segment.label for segment in word_segments(result.path, graph, TOPOLOGY)] == words
    elif words:
        shortest = shortest_path_frames(graph)
        assert result.code == "too-short"
        assert result.message.startswith(
            f"{n_frames} frames are too short for its transcript. Expected at least {shortest}"
        )
    else:
        assert n_frames in (1, 2)  # silence takes three
        assert "no path" in result.message


def test_the_best_variant_and_pause_are_chosen():
    units = units_of(SILENCE, "y", "x", "y", SILENCE, "x", "y")
    result = align_utterance(scores_of(units), transcript_graph(["B", "A"], LEXICON, TOPOLOGY), TOPOLOGY, SELF_LOOPS)
    assert frame_units(result.path, result.graph).tolist() == units
    spans = [(s.label, s.start, s.end) for s in word_segments(result.path, result.graph, TOPOLOGY)]
    assert spans == [("B", 3, 12), ("A", 15, 21)]


def test_a_path_that_a_narrow_beam_loses_is_found_by_the_next_wider():
    units = units_of("x", "y")
    scores = scores_of(units)
    scores[:4, TOPOLOGY.units(SILENCE)] = 10.0  # silence scores better until it is too late for the word
    graph = transcript_graph(["A"], LEXICON, TOPOLOGY)
    assert isinstance(align_utterance(scores, graph, TOPOLOGY, SELF_LOOPS, beams=(5.0,)), Issue)
    result = align_utterance(scores, graph, TOPOLOGY, SELF_LOOPS, beams=(5.0, np.inf))
    assert frame_units(result.path, graph).tolist() == units


def test_a_word_without_pronunciation_is_refused():
    with pytest.raises(LexiconError, match="no pronunciation for D E"):
        transcript_graph(["E", "A", "D"], LEXICON, TOPOLOGY)


@pytest.mark.parametrize("n_frames", [12, 17, 40])
def test_a_flat_start_divides_the_frames_evenly_with_silence_at_both_ends(n_frames):
    units, lengths = equal_runs(transcript_graph(["A"], LEXICON, TOPOLOGY), TOPOLOGY, n_frames)
    assert units.tolist() == units_of(SILENCE, "x", "y", SILENCE)
    assert lengths.sum() == n_frames
    assert lengths.max() - lengths.min() <= 1


def test_flat_start_of_short_utterance_leaves_silence_out():
    graph = transcript_graph(["A"], LEXICON, TOPOLOGY)
    assert equal_runs(graph, TOPOLOGY, 6)[0].tolist() == units_of("x", "y")
    assert equal_runs(graph, TOPOLOGY, 5) is None


def test_an_utterance_without_words_is_all_silence():
    graph = transcript_graph([], LEXICON, TOPOLOGY)
    units, lengths = equal_runs(graph, TOPOLOGY, 4)
    assert (units.tolist(), lengths.tolist()) == ([0, 1, 2], [2, 1, 1])
    assert equal_runs(graph, TOPOLOGY, 2) is None


def table_of(*lengths: int) -> FrameTable:
    rng = np.random.default_rng(0)
    matrices = [rng.normal(size=(length, TOPOLOGY.n_states)) for length in lengths]
    return FrameTable.from_utterances([f"u{n}" for n in range(len(lengths))], ["s"] * len(lengths), matrices)


def test_table_is_aligned_alike_by_any_workers():
    table = table_of(30, 4, 21)
    graphs = {name: transcript_graph(["A", "B"], LEXICON, TOPOLOGY) for name in table.ids}
    one, two = (
        align_table(np.asarray, table, graphs, TOPOLOGY, SELF_LOOPS, workers=workers)
        for workers in (SerialWorkers(), LocalWorkers(2))
    )
    np.testing.assert_array_equal(one.states, two.states)
    assert one.log_likelihood_per_frame == two.log_likelihood_per_frame
    assert {name: fault.code for name, fault in one.failed.items()} == {"u1": "too-short"}
    assert (one.states[table.rows("u1")] == -1).all() and (one.states[table.rows("u2")] >= 0).all()
    assert one.stays.sum() + one.visits.sum() == 51
    assert one.visits[TOPOLOGY.units("x")].tolist() in ([2, 2, 2], [3, 3, 3], [4, 4, 4])


def scores_unless_not_finite(frames: np.ndarray) -> np.ndarray:
    if not np.isfinite(frames).all():
        raise ValueError("frames are not finite")
    return frames


@pytest.mark.parametrize("log_likelihood", [np.asarray, scores_unless_not_finite])
def test_an_utterance_that_cannot_be_scored_fails_alone_with_its_reason(log_likelihood):
    table = table_of(30, 0, 25, 21)
    graphs = {name: transcript_graph(["A", "B"], LEXICON, TOPOLOGY) for name in table.ids}
    whole = align_table(log_likelihood, table, graphs, TOPOLOGY, SELF_LOOPS)
    table.frames[table.rows("u2")] = np.nan
    found = align_table(log_likelihood, table, graphs, TOPOLOGY, SELF_LOOPS)
    assert found.failed.keys() == {"u1", "u2"}
    assert found.failed["u2"] == Issue("not-finite", "some values of its frames are not finite")
    for name in ("u0", "u3"):
        np.testing.assert_array_equal(found.states[table.rows(name)], whole.states[table.rows(name)])


def test_one_state_phones_that_follow_themselves_are_entered_anew():
    topology = Topology(("x", "y"), states_per_phone=1)
    scores = scores_of([1, 1, 2])[:, : topology.n_states]
    table = FrameTable.from_utterances(["u"], ["s"], [scores])
    graphs = {"u": transcript_graph(["C"], Lexicon({"C": (("x", "x", "y"),)}), topology)}
    aligned = align_table(lambda x: x, table, graphs, topology, np.full(topology.n_units, 0.5))
    assert (aligned.visits[1], aligned.stays[1]) == (2, 0)
    flat = flat_alignment(table, graphs, topology)
    assert (flat.visits[1], flat.stays[1]) == (2, 0)


def test_a_table_of_which_nothing_fits_is_refused_with_the_first_reason():
    table = table_of(2, 3)
    graphs = {name: transcript_graph(["A"], LEXICON, TOPOLOGY) for name in table.ids}
    message = "none of the 2 utterances .* u0: 2 frames"
    with pytest.raises(AlignmentError, match=message):
        flat_alignment(table, graphs, TOPOLOGY)
    with pytest.raises(AlignmentError, match=message):
        align_table(lambda x: x, table, graphs, TOPOLOGY, SELF_LOOPS)


def test_a_transcript_of_enormous_words_is_refused():
    lexicon = Lexicon({"A": tuple((f"p{n}",) * 1000 for n in range(40))})
    with pytest.raises(LexiconError, match="10 words has 400000 phones"):
        transcript_graph(["A"] * 10, lexicon, Topology(lexicon.phones))
