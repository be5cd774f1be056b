"""Training on a corpus made of well-separated Gaussians, whose true segmentation is known."""

import itertools

import numpy as np
import pytest
from pydantic import ValidationError

from asr.acoustic.gmm_training import GmmSettings, train_gmm
from asr.acoustic.state_mixtures import mixtures_of_states
from asr.alignment.forced_alignment import align_utterance
from asr.alignment.transcript_graph import transcript_graph
from asr.decode.path_segments import Segment, phone_segments
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology
from asr.lexicon import Lexicon
from asr.util.errors import AlignmentError
from discriminants.parallel.workers import LocalWorkers, SerialWorkers

# No word ends with the first phone of another word, because the border between two equal phones could not be found.
LEXICON = Lexicon({"A": (("a", "b"),), "B": (("a", "c"),), "C": (("a", "b", "c"),), "D": (("a", "c", "b"),)})
TOPOLOGY = Topology(("a", "b", "c"))
MEANS = {SILENCE: (0.0, 0.0), "a": (6.0, 0.0), "b": (0.0, 6.0), "c": (-6.0, -6.0)}


class Corpus:
    """Twenty-five utterances of one to three words; silence only at the ends."""

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.true_segments: dict[str, list[Segment]] = {}
        self.graphs: dict[str, StateGraph] = {}
        matrices = []
        for number in range(25):
            words = rng.choice(LEXICON.words, rng.integers(1, 4)).tolist()
            phones = [SILENCE, *(phone for word in words for phone in LEXICON[word][0]), SILENCE]
            lengths = rng.integers(5, 12, len(phones))
            ends = np.cumsum(lengths)
            name = f"u{number:02d}"
            self.true_segments[name] = [
                Segment(phone, int(end - length), int(end))
                for phone, length, end in zip(phones, lengths, ends, strict=True)
            ]
            self.graphs[name] = transcript_graph(words, LEXICON, TOPOLOGY)
            means = np.repeat([MEANS[phone] for phone in phones], lengths, axis=0)
            matrices.append((means + rng.normal(size=means.shape)).astype(np.float32))
        self.table = FrameTable.from_utterances(sorted(self.graphs), ["s"] * 25, matrices)

    def with_short_utterance(self) -> FrameTable:
        """One more utterance, of two frames and two words."""
        self.graphs["zz"] = transcript_graph(["A", "B"], LEXICON, TOPOLOGY)
        names = (*self.table.ids, "zz")
        parts = [*(self.table.utterance(name) for name in self.table.ids), np.zeros((2, 2), np.float32)]
        return FrameTable.from_utterances(names, ["s"] * len(names), parts)


def settings(training: str = "viterbi") -> GmmSettings:
    return GmmSettings(mixtures=(1, 2), iterations=(6, 3), training=training)


@pytest.mark.slow
@pytest.mark.parametrize("training", ["viterbi", "baum-welch"])
def test_a_flat_start_ends_at_the_true_segmentation(training):
    corpus = Corpus()
    stages = list(train_gmm(corpus.table, corpus.graphs, TOPOLOGY, settings(training)))
    assert [n_components for n_components, _, _ in stages] == [1, 2]
    curve = stages[0][2]
    assert all(later > earlier - 0.02 for earlier, later in itertools.pairwise(curve))
    for _, model, _ in stages:
        distances = []
        for name, true in corpus.true_segments.items():
            scores = model.log_likelihood(corpus.table.utterance(name))
            alignment = align_utterance(scores, corpus.graphs[name], TOPOLOGY, model.self_loops)
            found = phone_segments(alignment.path, alignment.graph, TOPOLOGY)
            labels = [SILENCE if segment.label == SHORT_PAUSE else segment.label for segment in found]
            assert labels == [segment.label for segment in true]
            distances += [abs(ours.start - theirs.start) for ours, theirs in zip(found, true, strict=True)]
        assert np.mean(np.array(distances) <= 1) > 0.98
    for phone, mean in MEANS.items():
        centre = stages[0][1].acoustic_model.means[TOPOLOGY.units(phone)[1], 0]
        np.testing.assert_allclose(centre, mean, atol=0.6)


@pytest.mark.parametrize("training", ["viterbi", "baum-welch"])
def test_the_workers_do_not_change_a_bit_and_a_short_utterance_is_reported(training, caplog):
    corpus = Corpus()
    table = corpus.with_short_utterance()
    caplog.set_level("DEBUG", logger="asr.acoustic")
    alone, shared = (
        list(train_gmm(table, corpus.graphs, TOPOLOGY, settings(training), workers=workers))
        for workers in (SerialWorkers(), LocalWorkers(2))
    )
    for (_, one, curve), (_, two, same_curve) in zip(alone, shared, strict=True):
        assert curve == same_curve
        assert one.self_loops.tobytes() == two.self_loops.tobytes()
        for name in ("log_weights", "means", "variances"):
            assert getattr(one.acoustic_model, name).tobytes() == getattr(two.acoustic_model, name).tobytes()
    messages = [record.getMessage() for record in caplog.records if "not aligned:" in record.getMessage()]
    assert [message.partition(" are")[0] for message in messages] == ["zz: not aligned: 2 frames"] * 2


def test_a_short_utterance_does_not_change_the_model():
    corpus = Corpus()
    plain = list(train_gmm(corpus.table, corpus.graphs, TOPOLOGY, settings()))[-1][1]
    means = plain.acoustic_model.means
    other = list(train_gmm(corpus.with_short_utterance(), corpus.graphs, TOPOLOGY, settings()))[-1][1]
    np.testing.assert_allclose(other.acoustic_model.means, means, atol=1e-3)


def test_baum_welch_never_lowers_the_likelihood_of_one_gaussian_a_state():
    corpus = Corpus(1)
    grow = GmmSettings(mixtures=(1,), iterations=(8,), training="baum-welch")
    ((_, _, curve),) = train_gmm(corpus.table, corpus.graphs, TOPOLOGY, grow)
    assert all(later > earlier - 1e-3 for earlier, later in itertools.pairwise(curve))


def test_a_constant_feature_does_no_harm():
    corpus = Corpus()
    frames = np.hstack([corpus.table.frames, np.full((corpus.table.n_frames, 1), 7.0, np.float32)])
    table = FrameTable(corpus.table.ids, corpus.table.speakers, frames, corpus.table.offsets)
    (*_, (_, model, curve)) = train_gmm(table, corpus.graphs, TOPOLOGY, settings())
    assert np.isfinite(curve).all()
    assert np.isfinite(model.log_likelihood(frames)).all()


def test_a_corpus_of_which_nothing_can_be_aligned_is_refused():
    table = FrameTable.from_utterances(["u"], ["s"], [np.zeros((2, 2), np.float32)])
    graphs = {"u": transcript_graph(["D"], LEXICON, TOPOLOGY)}
    with pytest.raises(AlignmentError, match="none of the 1 utterances can be aligned"):
        list(train_gmm(table, graphs, TOPOLOGY, settings()))


@pytest.mark.parametrize(
    "wrong",
    [{"mixtures": (1, 3)}, {"mixtures": ()}, {"mixtures": (2, 4)}, {"iterations": (5,)}, {"iterations": (0,) * 5}],
)
def test_settings_that_cannot_be_followed_are_refused(wrong):
    with pytest.raises(ValidationError, match=r"must be|should|Expected"):
        GmmSettings(**wrong)


def test_one_gaussian_a_state_on_given_states_has_their_mean_and_variance():
    rng = np.random.default_rng(3)
    states = rng.integers(-1, 3, 400).astype(np.int32)
    frames = (rng.normal(size=(400, 2)) + 3 * states[:, None]).astype(np.float32)
    mixtures = mixtures_of_states(frames, states, 4, 1)
    for state in range(3):
        own = frames[states == state].astype(np.float64)
        np.testing.assert_allclose(mixtures.means[state, 0], own.mean(0), rtol=1e-6)
        np.testing.assert_allclose(mixtures.variances[state, 0], own.var(0), rtol=1e-4)
    np.testing.assert_allclose(mixtures.means[3, 0], frames.mean(0, dtype=np.float64), rtol=1e-6)  # never seen


def test_more_gaussians_on_given_states_fit_better():
    rng = np.random.default_rng(4)
    states = rng.integers(0, 2, 3000).astype(np.int32)
    frames = (rng.normal(size=(3000, 2)) + 4 * rng.integers(0, 4, (3000, 1)) + 9 * states[:, None]).astype(np.float32)
    own = [
        mixtures_of_states(frames, states, 2, n).log_likelihood(frames)[np.arange(3000), states].mean()
        for n in (1, 2, 4)
    ]
    assert own[0] < own[1] < own[2]
    alone, shared = (mixtures_of_states(frames, states, 2, 4, workers=w) for w in (SerialWorkers(), LocalWorkers(2)))
    np.testing.assert_array_equal(alone.means, shared.means)


def test_silence_has_all_of_its_components_before_the_others_grow():
    rng = np.random.default_rng(3)
    noises = rng.normal(scale=6.0, size=(4, 2))  # from four rooms, with the phone in each
    frames = np.concatenate([rng.normal(noises[n % 4], 0.3) for n in range(800)] + [rng.normal(0.0, 0.3, 800)])
    frames = frames.reshape(-1, 2).astype(np.float32)
    states = np.repeat(np.arange(2, dtype=np.int32), [800, 400])
    one, all_of_it = (
        mixtures_of_states(frames, states, 2, 1, silence=range(1), silence_gaussian_ratio=n) for n in (1, 4)
    )
    assert np.isfinite(all_of_it.log_weights).sum(axis=1).tolist() == [4, 1]
    np.testing.assert_allclose(all_of_it.means[1, 0], one.means[1, 0])
    of_noise = [(np.diff(found.log_likelihood(frames[:800]), axis=1) < 0).mean() for found in (one, all_of_it)]
    assert of_noise[0] <= of_noise[1]
    assert all_of_it.log_likelihood(frames[:800])[:, 0].mean() > one.log_likelihood(frames[:800])[:, 0].mean() + 1.0


def test_silence_grows_more_components_where_its_frames_suffice():
    rng = np.random.default_rng(0)
    states = np.repeat(np.arange(3, dtype=np.int32), [2000, 60, 2000])
    frames = rng.normal(size=(len(states), 2)).astype(np.float32)
    grown = mixtures_of_states(frames, states, 3, 4, silence=range(2), silence_gaussian_ratio=4)
    live = np.isfinite(grown.log_weights).sum(axis=1)
    assert live[0] > 8
    assert live[1] <= 3
    assert live[2] <= 4
