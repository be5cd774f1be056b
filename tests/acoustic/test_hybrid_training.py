"""Fit, realign, fit again, on a corpus made of well-separated Gaussians."""

import logging
import warnings
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from asr.acoustic import fit_progress, hybrid_training
from asr.acoustic.gmm_training import train_gmm
from asr.acoustic.hybrid_training import HybridSettings, train_hybrid
from asr.alignment.batch_alignment import align_table
from asr.features.frame_table import FrameTable
from asr.util.errors import AlignmentError, ConfigError
from discriminants.parallel.workers import LocalWorkers, SerialWorkers
from tests.acoustic.test_gmm_training import TOPOLOGY, Corpus, settings

Start = tuple[Corpus, np.ndarray, np.ndarray]
SMALL = {"n_centers": 30, "n_candidates": 60, "max_iter": 2, "min_steps": 20}
NAIVE = {"classifier": "sklearn.naive_bayes.GaussianNB", "realignments": 1}


def trained_from(start: Start, hybrid_settings: HybridSettings, table: FrameTable | None = None, **options: object):
    """Train a hybrid on the alignment of `start`."""
    corpus, states, self_loops = start
    return train_hybrid(table or corpus.table, states, corpus.graphs, TOPOLOGY, self_loops, hybrid_settings, **options)


@pytest.fixture(scope="module")
def start() -> Start:
    """The corpus, and the alignment and self-loops of Gaussians trained on it."""
    corpus = Corpus()
    *_, (_, hmm, _) = train_gmm(corpus.table, corpus.graphs, TOPOLOGY, settings())
    states = align_table(hmm.log_likelihood, corpus.table, corpus.graphs, TOPOLOGY, hmm.self_loops).states
    return corpus, states, hmm.self_loops


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("kernel-logistic", SMALL),
        ("orols", {"n_centers": 30}),
        ("npd", {"n_centers": 30}),
        ("mlp", {"hidden_layer_sizes": [16], "max_iter": 30}),
        ("sklearn.naive_bayes.GaussianNB", {}),
        ("sklearn.linear_model.RidgeClassifier", {}),
        ("sklearn.linear_model.LogisticRegression", {"warm_start": True, "max_iter": 1000}),
    ],
)
def test_every_kind_of_classifier_learns_the_phones_twice(start: Start, name: str, parameters: dict) -> None:
    corpus, states, _ = start
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Maximum iterations")
        result = trained_from(start, HybridSettings(classifier=name, parameters=parameters, realignments=2))
    classifier = result.hmm.acoustic_model.classifier
    if "warm_start" in classifier.get_params():
        assert classifier.warm_start is parameters.get("warm_start", False)  # as requested
    phones = np.where(states < 0, -1, TOPOLOGY.unit_phone[np.maximum(states, 0)])
    heard = TOPOLOGY.unit_phone[result.hmm.acoustic_model.log_posterior(corpus.table.frames).argmax(axis=1)]
    assert (heard == phones).mean() > 0.9
    assert len(result.curves) == 3


def test_the_same_seed_gives_the_same_scores(start: Start) -> None:
    first, again, other = (
        trained_from(start, HybridSettings(parameters=SMALL), seed=seed, workers=workers).hmm.log_likelihood(
            start[0].table.frames
        )
        for seed, workers in ((0, SerialWorkers()), (0, LocalWorkers(2)), (1, SerialWorkers()))
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_utterance_not_aligned_stays_at_minus_one(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    _, states, self_loops = start
    corpus = Corpus()
    table = corpus.with_short_utterance()
    with_short = np.concatenate([states, [-1, -1]]).astype(np.int32)
    with caplog.at_level(logging.DEBUG, logger="asr.acoustic"):
        result = trained_from((corpus, with_short, self_loops), HybridSettings(**NAIVE | {"realignments": 2}), table)
    assert [message.partition(" are")[0] for message in caplog.messages if "zz" in message] == [
        "zz: not realigned: 2 frames"
    ] * 2
    np.testing.assert_array_equal(result.states[-2:], [-1, -1])
    assert (result.states[:-2] >= 0).all()


def test_utterance_that_failed_is_trained_on_once_aligned(start: Start) -> None:
    corpus, states, self_loops = start
    partly = states.copy()
    partly[corpus.table.rows("u03")] = -1
    result = trained_from((corpus, partly, self_loops), HybridSettings(**NAIVE))
    assert (result.states >= 0).all()
    assert result.hmm.acoustic_model.classifier.class_count_.sum() == len(states)


def test_nothing_to_align_at_all_is_an_error(start: Start) -> None:
    corpus, states, self_loops = start
    graphs = dict.fromkeys(corpus.table.ids, max(corpus.graphs.values(), key=lambda graph: graph.n_nodes))
    short = corpus.table.subset(corpus.table.ids)
    short = type(short).from_utterances(short.ids, short.speakers, [short.utterance(n)[:3] for n in short.ids])
    kept = np.concatenate([states[corpus.table.rows(name)][:3] for name in corpus.table.ids])
    with pytest.raises(AlignmentError, match="none of the 25 utterances"):
        train_hybrid(short, kept, graphs, TOPOLOGY, self_loops, HybridSettings(**NAIVE))


def test_state_lost_in_realignment_does_not_stop_a_warm_start(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    states = start[1]

    def without_one_state(*arguments: object, **options: object) -> object:
        aligned = align_table(*arguments, **options)
        aligned.states[aligned.states == states.max()] = states.max() - 1
        return aligned

    monkeypatch.setattr(hybrid_training, "align_table", without_one_state)
    perceptron = {"max_iter": 2000, "hidden_layer_sizes": [4], "tol": 1e-2}
    result = trained_from(start, HybridSettings(classifier="mlp", realignments=1, parameters=perceptron))
    assert states.max() not in result.hmm.acoustic_model.classifier.classes_


def test_a_classifier_that_cannot_be_fitted_is_named(start: Start) -> None:
    with pytest.raises(ConfigError, match=r"'sklearn\.naive_bayes\.MultinomialNB' cannot be trained on .* Negative"):
        trained_from(start, HybridSettings(classifier="sklearn.naive_bayes.MultinomialNB"))


def test_progress_counts_the_passes_of_all_rounds(start: Start) -> None:
    seen: list[tuple[int, int]] = []
    settings = HybridSettings(parameters=SMALL, realignments=1)
    trained_from(start, settings, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1]
    assert {total for _, total in seen} == {seen[-1][1]}


def test_a_fit_interrupted_in_any_round_goes_on_to_the_same_model(start: Start, tmp_path: Path) -> None:
    settings = HybridSettings(parameters=SMALL, realignments=1)

    def train(checkpoint: Path | None, until: int | None = None) -> np.ndarray:
        def progress(done: int, total: int) -> None:
            if until is not None and 4 * done >= until * total:
                raise KeyboardInterrupt

        result = trained_from(start, settings, checkpoint=checkpoint, progress=progress)
        return result.hmm.log_likelihood(start[0].table.frames)

    undisturbed = train(None)
    for until in (1, 3):
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path, until)
        assert list(tmp_path.iterdir()), "nothing was kept"
    np.testing.assert_array_equal(train(tmp_path), undisturbed)


def test_mixtures_of_a_second_stream_help_a_classifier_of_little_use(start: Start) -> None:
    corpus, states, _ = start
    noise = np.random.default_rng(0).normal(size=corpus.table.frames.shape).astype(np.float32)
    frames = np.hstack([noise, corpus.table.frames])
    table = FrameTable(corpus.table.ids, corpus.table.speakers, frames, corpus.table.offsets)
    result = trained_from(start, HybridSettings(**NAIVE, mixtures=2), table, n_unspliced=corpus.table.n_features)
    acoustic = result.hmm.acoustic_model
    first, second = acoustic.streams
    assert second.model.n_components == 2
    phones = np.where(states < 0, -1, TOPOLOGY.unit_phone[np.maximum(states, 0)])
    assert (TOPOLOGY.unit_phone[acoustic.log_posterior(frames).argmax(axis=1)] == phones).mean() > 0.9
    assert (TOPOLOGY.unit_phone[first.model.classifier.predict(noise)] == phones).mean() < 0.5


@pytest.mark.parametrize(("mixtures", "n_unspliced"), [(2, 0), (0, 1)])
def test_mixtures_and_their_columns_go_together(start: Start, mixtures: int, n_unspliced: int) -> None:
    with pytest.raises(ConfigError, match="second stream"):
        trained_from(start, HybridSettings(mixtures=mixtures), n_unspliced=n_unspliced)


def test_a_number_of_mixtures_that_is_no_power_of_two_is_refused() -> None:
    with pytest.raises(ValidationError, match="a power of two"):
        HybridSettings(mixtures=12)


def test_a_classifier_is_fitted_to_so_many_frames_and_the_priors_to_all(
    start: Start, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = start[1]
    settings = HybridSettings(classifier="sklearn.svm.SVC", max_frames=200)
    with caplog.at_level(logging.DEBUG, logger="asr.acoustic"):
        model = trained_from(start, settings).hmm.acoustic_model
    n_frames = int((states >= 0).sum())
    said = [record.getMessage() for record in caplog.records]
    assert any(line.startswith("SVC is trained on ") and f"of the {n_frames} frames" in line for line in said)
    assert model.classifier.shape_fit_[0] <= 200
    counts = np.bincount(states[states >= 0], minlength=TOPOLOGY.n_states)
    shares = np.maximum(counts / counts.sum(), settings.prior_floor / TOPOLOGY.n_states)
    np.testing.assert_allclose(model.log_priors, np.log(shares / shares.sum()), rtol=1e-5)
    monkeypatch.setitem(fit_progress.MAX_FRAMES, "SVC", 150)
    model = trained_from(start, HybridSettings(classifier="sklearn.svm.SVC")).hmm.acoustic_model
    assert model.classifier.shape_fit_[0] <= 150
