"""Half of a recording is silence: a flat start that divides it evenly loses it, one that looks for pauses does not."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from asr.acoustic import flat_start, gmm_training
from asr.acoustic.flat_start import GuidedMixtures, first_models, with_evidence
from asr.acoustic.gmm import single_gaussians
from asr.acoustic.gmm_training import GmmSettings, train_gmm
from asr.alignment.batch_alignment import AlignedTable, align_table
from asr.alignment.pause_model import CERTAIN
from asr.alignment.transcript_graph import transcript_graph
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import SILENCE, Topology
from asr.lexicon import Lexicon
from asr.util.errors import AlignmentError
from discriminants.parallel.workers import LocalWorkers, SerialWorkers

PHONES = ("a", "b", "c", "d", "e")
TOPOLOGY = Topology(PHONES)
LEXICON = Lexicon({"AB": (("a", "b"),), "CD": (("c", "d"),), "EAC": (("e", "a", "c"),), "DEB": (("d", "e", "b"),)})


class PaddedCorpus:
    """Utterances of two to four words; long silence of two kinds of noise before, after and between them."""

    def __init__(self, seed: int = 2, silence: tuple[int, int] = (25, 90), n: int = 60) -> None:
        rng = np.random.default_rng(seed)
        means = {phone: rng.normal(size=6) * 1.3 for phone in PHONES}
        self.graphs: dict[str, StateGraph] = {}
        matrices, truth = [], []
        for number in range(n):
            words = rng.choice(LEXICON.words, rng.integers(2, 5)).tolist()
            parts: list[np.ndarray] = []
            phones: list[np.ndarray] = []
            gaps = [True, *(rng.random(len(words) - 1) < 0.4), True]
            room = rng.normal(size=6) * 0.7
            for gap, word in zip(gaps, [*words, None], strict=True):
                if gap:
                    length = rng.integers(*silence)
                    parts.append(room + rng.normal(size=(length, 6)) * 0.6)
                    phones.append(np.full(length, -1))
                for phone in LEXICON[word][0] if word else ():
                    length = rng.integers(6, 14)
                    parts.append(means[phone] + [0, 0, 2.5, 0, 0, 0] + rng.normal(size=(length, 6)))
                    phones.append(np.full(length, PHONES.index(phone)))
            self.graphs[f"u{number:02d}"] = transcript_graph(words, LEXICON, TOPOLOGY)
            matrices.append(np.concatenate(parts))
            truth.append(np.concatenate(phones))
        self.table = FrameTable.from_utterances(sorted(self.graphs), ["s"] * n, matrices)
        self.phones = np.concatenate(truth)
        self.silent = self.phones < 0


def silence_found(corpus: PaddedCorpus, start: str, training: str = "viterbi") -> np.ndarray:
    settings = GmmSettings(mixtures=(1, 2), iterations=(8, 4), start=start, training=training)
    (*_, (_, hmm, _)) = train_gmm(corpus.table, corpus.graphs, TOPOLOGY, settings)
    aligned = align_table(hmm.log_likelihood, corpus.table, corpus.graphs, TOPOLOGY, hmm.self_loops)
    return aligned.states < len(TOPOLOGY.silence_states)


@pytest.mark.slow
@pytest.mark.parametrize("training", ["viterbi", "baum-welch"])
def test_silence_around_and_between_words_stays_silence(training):
    corpus = PaddedCorpus()
    found = silence_found(corpus, "pauses", training)
    assert abs(found.mean() - corpus.silent.mean()) < 0.05
    assert (found == corpus.silent).mean() > 0.95


@pytest.mark.slow
def test_lost_silence_restarts_training_from_the_pauses():
    corpus = PaddedCorpus(seed=0, silence=(40, 120))
    equal, auto, pauses = (silence_found(corpus, start) for start in ("equal", "auto", "pauses"))
    assert (equal == corpus.silent).mean() < 0.75
    np.testing.assert_array_equal(auto, pauses)
    assert (auto == corpus.silent).mean() > 0.8


@pytest.mark.slow
def test_kept_silence_lets_training_go_on(monkeypatch):
    monkeypatch.setattr(gmm_training, "LITTLE_SPEECH", 0.0)
    corpus = PaddedCorpus(seed=0, silence=(10, 26))
    equal, auto = (silence_found(corpus, start) for start in ("equal", "auto"))
    np.testing.assert_array_equal(auto, equal)


def test_little_speech_is_divided_where_the_sound_changes():
    corpus = PaddedCorpus(seed=0, silence=(10, 26))
    changes, auto, equal = (silence_found(corpus, start) for start in ("changes", "auto", "equal"))
    np.testing.assert_array_equal(auto, changes)
    assert (auto == corpus.silent).mean() > max(0.95, (equal == corpus.silent).mean())


@pytest.mark.slow
@pytest.mark.parametrize("training", ["viterbi", "baum-welch"])
def test_a_restart_mends_what_the_first_division_gave_to_the_wrong_phones(training):
    def wrong(flat_start_restarts: int, seed: int) -> float:
        corpus = PaddedCorpus(seed, silence=(25, 60), n=12)
        grown = {"mixtures": (1, 2), "iterations": (8, 4), "silence_gaussian_ratio": 2}
        settings = GmmSettings(start="equal", flat_start_restarts=flat_start_restarts, training=training, **grown)
        done: list[int] = []
        (*_, (_, hmm, _)) = train_gmm(corpus.table, corpus.graphs, TOPOLOGY, settings, progress=done.append)
        assert done == list(range(1, settings.n_realignments + 1))
        aligned = align_table(hmm.log_likelihood, corpus.table, corpus.graphs, TOPOLOGY, hmm.self_loops)
        phones = (aligned.states - len(TOPOLOGY.silence_states)) // TOPOLOGY.states_per_phone
        return float(np.mean((phones != corpus.phones)[~corpus.silent]))

    before, after = (
        np.array([wrong(flat_start_restarts, seed) for seed in range(3)]) for flat_start_restarts in (0, 1)
    )
    assert (after < before).all()
    assert after.mean() < 0.75 * before.mean()


def first(corpus: PaddedCorpus, workers=SerialWorkers()):  # noqa: B008
    table = with_evidence(corpus.table, corpus.graphs)
    overall = single_gaussians(np.zeros(6), np.ones(6), TOPOLOGY.n_states)
    return first_models(table, corpus.graphs, TOPOLOGY, overall, np.full(6, 0.01), workers=workers)


def test_first_silence_is_what_sounds_like_a_pause_and_no_phone_is_like_it():
    corpus = PaddedCorpus()
    mixtures, self_loops = first(corpus)
    pause, speech = (corpus.table.frames[mask].mean(0) for mask in (corpus.silent, ~corpus.silent))
    of_silence = mixtures.means[TOPOLOGY.silence_states, 0].mean(0)
    of_phones = mixtures.means[len(TOPOLOGY.silence_states) :, 0]
    assert np.linalg.norm(of_silence - pause) < 0.2 * np.linalg.norm(speech - pause)
    assert (np.linalg.norm(of_phones - pause, axis=1) > np.linalg.norm(of_silence - pause)).all()
    assert ((self_loops > 0) & (self_loops < 1)).all()


def test_first_models_do_not_depend_on_the_workers():
    corpus = PaddedCorpus()
    one, two = (first(corpus, workers) for workers in (SerialWorkers(), LocalWorkers(2)))
    assert one[0].means.tobytes() == two[0].means.tobytes()
    assert one[0].variances.tobytes() == two[0].variances.tobytes()
    assert one[1].tobytes() == two[1].tobytes()


def test_an_utterance_too_long_for_a_lattice_is_divided_evenly(monkeypatch):
    corpus = PaddedCorpus()
    monkeypatch.setattr(flat_start, "_MAX_LATTICE", 0)
    mixtures, _ = first(corpus)
    table = corpus.table
    begin = np.concatenate([table.utterance(name)[:3] for name in table.ids]).mean(0)
    assert np.isfinite(mixtures.means).all()
    assert np.linalg.norm(mixtures.means[TOPOLOGY.units(SILENCE)[0], 0] - begin) < 1.0


def test_evidence_takes_from_speech_in_a_pause_and_from_silence_elsewhere():
    mixtures = single_gaussians(np.zeros(2), np.ones(2), TOPOLOGY.n_states)
    frames = np.zeros((3, 3), np.float32)
    frames[:, 2] = -CERTAIN, 0.0, CERTAIN
    plain = mixtures.log_likelihood(np.ascontiguousarray(frames[:, :2]))
    lost = plain - GuidedMixtures(mixtures, 3).log_likelihood(frames)
    np.testing.assert_allclose(lost[:, :3], np.array([0, 0, 8])[:, None] * np.ones(3))
    np.testing.assert_allclose(lost[:, 3:], np.array([8, 0, 0])[:, None] * np.ones(TOPOLOGY.n_states - 3))


def test_utterance_too_short_for_its_words_has_no_say():
    corpus = PaddedCorpus()
    graphs = {**corpus.graphs, "zz": corpus.graphs["u00"]}
    parts = [*(corpus.table.utterance(name) for name in corpus.table.ids), np.full((4, 6), 50.0)]
    longer = FrameTable.from_utterances([*corpus.table.ids, "zz"], ["s"] * 61, parts)
    evidence = with_evidence(longer, graphs).frames[:, -1]
    np.testing.assert_array_equal(evidence[:-4], with_evidence(corpus.table, corpus.graphs).frames[:, -1])
    assert not evidence[-4:].any()
    alone = longer.subset(["zz"])
    overall = single_gaussians(np.zeros(6), np.ones(6), TOPOLOGY.n_states)
    with pytest.raises(AlignmentError, match=r"none of the 1 utterances .* zz: 4 frames"):
        first_models(with_evidence(alone, graphs), graphs, TOPOLOGY, overall, np.ones(6))


def test_models_that_have_not_heard_a_recording_tell_its_silence_too():
    corpus = PaddedCorpus(n=20)
    rows = corpus.table.rows("u00")
    noise = rows.start + np.flatnonzero(corpus.silent[rows])
    frames = corpus.table.frames.copy()
    frames[noise] += np.array([0, 0, -2, 0, 0, 0], np.float32)  # unlike anything else in the corpus
    table = FrameTable(corpus.table.ids, corpus.table.speakers, frames, corpus.table.offsets)
    n_silence = len(TOPOLOGY.silence_states)
    states = np.zeros(table.n_frames, np.int32)
    for run in np.split(np.arange(table.n_frames), np.flatnonzero(np.diff(corpus.phones)) + 1):
        thirds = np.arange(len(run)) * TOPOLOGY.states_per_phone // len(run)
        phone = corpus.phones[run[0]]
        states[run] = thirds + (0 if phone < 0 else n_silence + TOPOLOGY.states_per_phone * phone)
    states[noise] = n_silence  # a first division aligned it to a phone
    runs = np.ones(TOPOLOGY.n_units)
    occupancy = gmm_training._hard_occupancy(AlignedTable(states, runs, runs, 0.0, {}), TOPOLOGY.n_states)
    with ThreadPoolExecutor(1) as pool:
        training = gmm_training._Training(
            table, corpus.graphs, TOPOLOGY, GmmSettings(silence_gaussian_ratio=2), 0.01, SerialWorkers(), pool, None
        )
        overall = single_gaussians(np.zeros(6), np.ones(6), TOPOLOGY.n_states)
        grown = gmm_training._GmmState((overall, np.full(TOPOLOGY.n_units, 0.8)), occupancy, [])
        silent = training.silence_found(grown)
    assert silent[noise].mean() > 0.8
    assert (silent == corpus.silent).mean() > 0.95


def test_of_one_utterance_silence_is_what_its_own_model_took_for_it():
    corpus = PaddedCorpus(n=1)
    settings = GmmSettings(mixtures=(1,), iterations=(4,), start="pauses", flat_start_restarts=1)
    (*_, (_, hmm, _)) = train_gmm(corpus.table, corpus.graphs, TOPOLOGY, settings)
    assert np.isfinite(hmm.log_likelihood(corpus.table.frames)).all()
