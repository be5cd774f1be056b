"""Posteriors of a classifier, divided by priors."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB

from asr.acoustic.composite import two_stream_model
from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.hybrid import LOWEST_LOG_POSTERIOR, HybridAcousticModel
from asr.util.errors import ConfigError

N_STATES = 5
MEANS = np.array([[0, 0, 0], [5, 0, 0], [0, 5, 0], [0, 0, 5]])  # state 4 does not occur
COUNTS = (400, 100, 60, 40)


@pytest.fixture(scope="module")
def frames() -> np.ndarray:
    generator = np.random.default_rng(0)
    return (np.repeat(MEANS, COUNTS, axis=0) + generator.normal(size=(sum(COUNTS), 3))).astype(np.float32)


@pytest.fixture(scope="module")
def states() -> np.ndarray:
    return np.repeat(np.arange(4), COUNTS).astype(np.int32)


class OnlyProba(ClassifierMixin, BaseEstimator):
    """Certain, and without logarithms: probability 1 for the class of the largest column."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "OnlyProba":
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        best = np.where(X.max(axis=1) < 2.5, 0, 1 + X.argmax(axis=1))
        return np.eye(4)[best]


def test_no_prior_is_above_the_ceiling() -> None:
    states = np.repeat([0, 1, 2], [900, 50, 50])
    model = HybridAcousticModel(GaussianNB(), 3, prior_ceiling=2.0)
    model.set_priors(states)
    np.testing.assert_allclose(np.exp(model.log_priors), [0.5, 0.25, 0.25], rtol=1e-5)


def test_scores_are_log_posteriors_minus_log_priors(frames: np.ndarray, states: np.ndarray) -> None:
    model = HybridAcousticModel(LogisticRegression(), 4).fit(frames, states)
    expected = model.classifier.predict_log_proba(frames) - np.log(np.array(COUNTS) / sum(COUNTS))
    scores = model.log_likelihood(frames)
    assert scores.dtype == np.float32
    assert scores.flags.c_contiguous
    np.testing.assert_allclose(scores, expected, atol=1e-4)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_prior_exponent_scales_the_prior_divided_out(frames: np.ndarray, states: np.ndarray, exponent: float) -> None:
    model = HybridAcousticModel(GaussianNB(), 4, prior_exponent=exponent).fit(frames, states)
    expected = model.log_posterior(frames) - exponent * np.log(np.array(COUNTS) / sum(COUNTS))
    np.testing.assert_allclose(model.log_likelihood(frames), expected, rtol=1e-5, atol=1e-5)


def test_priors_are_floored_and_sum_to_one(frames: np.ndarray, states: np.ndarray) -> None:
    model = HybridAcousticModel(GaussianNB(), N_STATES, prior_floor=0.5).fit(frames, states)
    shares = np.array([400, 100, 60, 60, 60]) / 600  # the floor is half of a fifth, which is 60 of 600 frames
    np.testing.assert_allclose(np.exp(model.log_priors), shares / shares.sum(), rtol=1e-5)


def test_a_state_without_frames_is_possible_but_never_best(frames: np.ndarray, states: np.ndarray) -> None:
    model = HybridAcousticModel(GaussianNB(), N_STATES).fit(frames, states)
    scores = model.log_likelihood(frames)
    assert np.isfinite(scores).all()
    assert set(scores.argmax(axis=1)) == {0, 1, 2, 3}
    np.testing.assert_array_equal(model.log_posterior(frames)[:, 4], LOWEST_LOG_POSTERIOR)


def test_prior_floor_of_zero_is_refused() -> None:
    with pytest.raises(ConfigError, match="prior_floor is 0"):
        HybridAcousticModel(GaussianNB(), N_STATES, prior_floor=0.0)


def test_frames_marked_minus_one_are_left_out(frames: np.ndarray, states: np.ndarray) -> None:
    partly = states.copy()
    partly[::3] = -1
    model = HybridAcousticModel(GaussianNB(), 4).fit(frames, partly)
    alone = HybridAcousticModel(GaussianNB(), 4).fit(frames[partly >= 0], partly[partly >= 0])
    np.testing.assert_array_equal(model.log_likelihood(frames), alone.log_likelihood(frames))
    np.testing.assert_array_equal(model.classifier.class_count_, np.bincount(partly[partly >= 0]))


def test_classifier_with_probabilities_alone_scores_finitely(frames: np.ndarray, states: np.ndarray) -> None:
    model = HybridAcousticModel(OnlyProba(), 4).fit(frames, states)
    assert model.calibration is None
    posteriors = model.log_posterior(frames)
    assert set(np.unique(posteriors)) == {np.float32(LOWEST_LOG_POSTERIOR), np.float32(0.0)}
    assert (posteriors.argmax(axis=1) == states).mean() > 0.9


def test_outputs_without_probabilities_are_calibrated(frames: np.ndarray, states: np.ndarray) -> None:
    model = HybridAcousticModel(RidgeClassifier(), 4).fit(frames, states)
    assert model.calibration is not None
    posteriors = np.exp(model.log_posterior(frames).astype(float))
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0, atol=1e-4)
    assert (posteriors.argmax(axis=1) == states).mean() > 0.9
    # Calibrated: about this share of the classes with this probability is correct.
    sure = posteriors.max(axis=1)
    assert abs(sure.mean() - (posteriors.argmax(axis=1) == states).mean()) < 0.1


def test_calibration_does_not_need_every_state_held_out(frames: np.ndarray, states: np.ndarray) -> None:
    few = np.concatenate([np.arange(400, 403), np.arange(0, 400), np.arange(500, 501), np.arange(560, 600)])
    model = HybridAcousticModel(RidgeClassifier(), 4).fit(frames[few], states[few])
    assert list(model.classifier.classes_) == [0, 1, 3]  # state 2 had one frame
    assert np.isfinite(model.log_likelihood(frames)).all()


def test_two_states_are_calibrated_by_one_output(frames: np.ndarray, states: np.ndarray) -> None:
    two = states < 2
    model = HybridAcousticModel(RidgeClassifier(), 2).fit(frames[two], states[two])
    assert (model.log_posterior(frames[two]).argmax(axis=1) == states[two]).mean() > 0.95


def test_the_draw_of_the_frames_held_out_follows_the_seed(frames: np.ndarray, states: np.ndarray) -> None:
    first, again, other = (
        HybridAcousticModel(RidgeClassifier(), 4).fit(frames, states, seed=seed).log_likelihood(frames)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_blocks_give_the_same_scores_as_all_frames_at_once(frames: np.ndarray, states: np.ndarray) -> None:
    model = HybridAcousticModel(GaussianNB(), 4, block=7).fit(frames, states)
    blocks = model.log_likelihood(frames)
    model.block = len(frames)
    np.testing.assert_allclose(model.log_likelihood(frames), blocks, rtol=1e-6)


def test_a_classifier_without_any_score_is_refused() -> None:
    class Mute(ClassifierMixin, BaseEstimator):
        """Predicts, and says nothing of how surely."""

    with pytest.raises(ConfigError, match=r"Mute .* predict_log_proba"):
        HybridAcousticModel(Mute(), 4)


def test_streams_are_weighted_and_multiplied(frames: np.ndarray, states: np.ndarray) -> None:
    generator = np.random.default_rng(1)
    mixtures = GaussianMixtures(
        np.log(np.full((N_STATES, 2), 0.5)), generator.normal(size=(N_STATES, 2, 2)), np.ones((N_STATES, 2, 2))
    )
    both = np.hstack([frames, generator.normal(size=(len(frames), 2)).astype(np.float32)])
    alone = HybridAcousticModel(GaussianNB(), N_STATES, prior_exponent=0.7).fit(frames, states)
    model = two_stream_model(alone, mixtures, 2, 5, 0.25)
    first = alone.log_posterior(frames).astype(float) - 0.7 * alone.log_priors
    expected = 0.75 * first + 0.25 * mixtures.log_likelihood(both[:, 3:])
    np.testing.assert_allclose(model.log_likelihood(both), expected, atol=1e-4)
    product = np.exp(expected + 0.7 * alone.log_priors)
    posteriors = product / product.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.exp(model.log_posterior(both)), posteriors, atol=1e-5)
