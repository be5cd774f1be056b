"""Whole-word models against hmmlearn's own scores, on words made of Gaussian steps."""

import numpy as np
import pytest

pytest.importorskip("hmmlearn", reason="hmmlearn is not installed; it has no wheel for Python 3.14")

from hmmlearn.hmm import GaussianHMM

from asr.acoustic.whole_word import WholeWordHmms
from asr.features.frame_table import FrameTable
from asr.util.errors import ConfigError, CorpusError, FeatureError
from discriminants.parallel.workers import LocalWorkers, SerialWorkers

N_FEATURES = 3
# Each word is a path through centers. The second is the first in reverse, so that only the order separates them.
WALKS = {"UP": (0, 1, 2), "DOWN": (2, 1, 0), "STAY": (1, 1, 3)}
CENTRES = np.array([[0.0, 0, 0], [3, 0, 0], [0, 3, 0], [0, 0, 3]])


def make_table(seed: int, n_each: int = 20, frames: tuple[int, int] = (6, 15)) -> tuple[FrameTable, dict]:
    rng = np.random.default_rng(seed)
    ids, matrices, transcripts = [], [], {}
    for word in sorted(WALKS):
        for number in range(n_each):
            n_frames = int(rng.integers(*frames))
            walk = np.asarray(WALKS[word])[np.arange(n_frames) * 3 // n_frames]
            ids.append(f"{word}-{number}")
            matrices.append(CENTRES[walk] + 0.7 * rng.normal(size=(n_frames, N_FEATURES)))
            transcripts[ids[-1]] = (word,)
    return FrameTable.from_utterances(ids, ["anna"] * len(ids), matrices), transcripts


def small(**parameters) -> WholeWordHmms:
    return WholeWordHmms(**{"n_states": 3, "n_mixtures": 2, "n_iter": 5, **parameters})


@pytest.fixture(scope="module")
def trained() -> WholeWordHmms:
    return small().fit(*make_table(0))


def test_words_of_the_same_frames_in_another_order_are_told_apart(trained):
    table, transcripts = make_table(1)
    assert trained.recognize(table) == transcripts


def test_scores_of_all_utterances_at_once_are_those_of_hmmlearn_one_by_one(trained):
    table, _ = make_table(2, n_each=7, frames=(1, 40))
    scores = trained.score(table)
    n = trained.n_states * trained.n_mixtures
    for number, word in enumerate(trained.words_):
        hmm = GaussianHMM(n, covariance_type="diag")
        rows = slice(number * n, (number + 1) * n)
        hmm.startprob_, hmm.transmat_ = trained.start_[number], trained.transitions_[number]
        hmm.means_, hmm.covars_ = trained.gaussians_.means[rows, 0], trained.gaussians_.variances[rows, 0]
        for row, name in enumerate(table.ids):
            frames = (table.utterance(name) - trained.mean_) / trained.deviation_
            expected = hmm.score(frames.astype(np.float64))
            np.testing.assert_allclose(scores[row, number], expected, rtol=1e-5, atol=1e-3, err_msg=word)


def test_no_path_leads_back_or_past_a_state(trained):
    state = np.arange(6) // 2
    moves = state[None, :] - state[:, None]
    assert not trained.transitions_[:, (moves < 0) | (moves > 1)].any()
    assert not trained.start_[:, state > 0].any()
    np.testing.assert_allclose(trained.transitions_.sum(axis=2), 1.0)
    np.testing.assert_allclose(trained.start_.sum(axis=1), 1.0)


def test_training_raises_the_likelihood(trained):
    for curve in trained.curves_.values():
        assert 2 <= len(curve) <= 5
        assert (np.diff(curve) > -1e-3).all() and curve[-1] > curve[0]


def test_training_ends_early_where_nothing_is_gained():
    model = small(n_mixtures=1, n_iter=200).fit(*make_table(0))
    assert all(len(curve) < 200 for curve in model.curves_.values())


@pytest.mark.slow
def test_the_result_depends_on_the_seed_alone(trained):
    table, transcripts = make_table(0)
    for workers in (SerialWorkers(), LocalWorkers(2)):
        again = small().fit(table, transcripts, workers=workers)
        np.testing.assert_array_equal(again.transitions_, trained.transitions_)
        np.testing.assert_array_equal(again.gaussians_.means, trained.gaussians_.means)


def test_the_scale_of_the_features_does_not_matter(trained):
    table, transcripts = make_table(0)
    scaled = table.map(lambda frames: (1000 * frames + np.float32(50)).astype(np.float32))
    assert small().fit(scaled, transcripts).recognize(scaled) == trained.recognize(table)


def test_a_constant_feature_and_utterances_of_one_frame_do_no_harm():
    table, transcripts = make_table(3)
    table = table.map(lambda frames: np.hstack([frames, np.ones((len(frames), 1), np.float32)]))
    short = FrameTable.from_utterances(["short"], ["anna"], [table.utterance(0)[:1]])
    joined = FrameTable.from_utterances(
        [*table.ids, "short"], ["anna"] * 61, [*(table.utterance(i) for i in range(60)), short.utterance(0)]
    )
    model = small().fit(joined, {**transcripts, "short": transcripts[table.ids[0]]})
    assert np.isfinite(model.score(joined)).all()
    assert len(model.recognize(short)["short"]) == 1


def test_frames_all_alike_are_kept_from_collapsing_by_the_priors():
    table, transcripts = make_table(4)
    silent = table.map(np.zeros_like)
    with pytest.warns(UserWarning, match="distinct clusters"):  # k-means reports the reason
        model = small().fit(silent, transcripts)
    assert (model.gaussians_.variances > 0).all()
    assert np.isfinite(model.score(silent)).all()


@pytest.mark.parametrize(
    ("words", "message"),
    [((), "UP-3 has 0 words"), (("UP", "DOWN"), "UP-3 has 2 words"), (None, "UP-3 has no transcript")],
)
def test_an_utterance_that_has_not_exactly_one_word_is_refused(words, message):
    table, transcripts = make_table(0)
    if words is None:
        del transcripts["UP-3"]
    else:
        transcripts["UP-3"] = words
    with pytest.raises(CorpusError, match=message):
        small().fit(table, transcripts)


def test_a_word_with_too_few_frames_is_named():
    table, transcripts = make_table(0)
    transcripts["UP-3"] = ("RARE",)
    with pytest.raises(CorpusError, match=r"'RARE'.*state 1 of 3"):
        small(n_mixtures=6).fit(table, transcripts)


def test_features_that_are_not_finite_are_refused_with_the_utterance():
    table, transcripts = make_table(0)
    table.frames[table.offsets[4]] = np.nan
    with pytest.raises(FeatureError, match=table.ids[4]):
        small().fit(table, transcripts)


def test_a_training_that_ends_without_numbers_is_not_taken_for_converged(monkeypatch):
    fit = GaussianHMM.fit

    def diverging(self, frames, lengths):
        fit(self, frames, lengths)
        self.monitor_.history.append(float("nan"))

    monkeypatch.setattr(GaussianHMM, "fit", diverging)
    with pytest.raises(ConfigError, match="not finite"):
        small().fit(*make_table(0))


def test_no_states_at_all_are_refused():
    with pytest.raises(ConfigError, match="n_states is 0"):
        small(n_states=0).fit(*make_table(0))


def test_frames_of_another_front_end_are_refused(trained):
    table = FrameTable.from_utterances(["a"], ["anna"], [np.zeros((4, 5))])
    with pytest.raises(FeatureError, match=r"5 features.*3"):
        trained.recognize(table)


@pytest.mark.slow
@pytest.mark.corpus
def test_digits_of_a_speaker_not_heard_in_training_are_recognized(speech_data):
    from asr.corpus.data_directory import read_data_directory
    from asr.features.config import FeatureConfig
    from asr.features.extraction import extract_static
    from asr.features.frontend import FrontEnd

    corpus = read_data_directory(speech_data / "fsdd" / "train")
    corpus = corpus.subset(u.id for u in corpus.utterances if u.id.split("_")[2] < "20")
    config = FeatureConfig(sample_rate=8000, normalize="speaker")
    static, problems = extract_static(corpus, config)
    assert not problems
    table = FrontEnd(config).fit(static).transform(static)
    speaker = dict(zip(table.ids, table.speakers, strict=True))
    transcripts = {utterance.id: utterance.words for utterance in corpus.utterances}
    model = WholeWordHmms(n_iter=4).fit(
        table.subset(name for name in table.ids if speaker[name] != "theo"), transcripts
    )
    untrained_words = table.subset(name for name in table.ids if speaker[name] == "theo")
    recognized = model.recognize(untrained_words)
    assert np.mean([recognized[name] == transcripts[name] for name in untrained_words.ids]) > 0.9
