"""Several acoustic models as one."""

import re
from dataclasses import dataclass

import numpy as np
import pytest

from asr.acoustic.composite import CompositeAcousticModel, Stream, beside, hybrid_stream
from asr.acoustic.gmm import single_gaussians
from asr.acoustic.model_file import SpeechModel, save_model
from asr.acoustic.phone_hmm import PhoneHmm
from asr.errors import ConfigError
from tests.acoustic.test_model_file import two_streams

FRAMES = np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32)


@dataclass(frozen=True)
class Linear:
    """Scores that are a product with a matrix."""

    matrix: np.ndarray

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        return (frames @ self.matrix).astype(np.float32)


def linear(n_features: int, seed: int) -> Linear:
    return Linear(np.random.default_rng(seed).normal(size=(n_features, 3)))


def test_scores_of_any_number_of_streams_over_any_columns_are_weighted_and_added():
    models = [linear(5, 1), linear(2, 2), linear(3, 3)]
    composite = CompositeAcousticModel(
        [Stream(models[0], 0, 5, 0.5), Stream(models[1], 3, 5, 2.0), Stream(models[2], 0, 3, 0.25)]
    )
    expected = (
        0.5 * FRAMES @ models[0].matrix + 2 * FRAMES[:, 3:] @ models[1].matrix + 0.25 * FRAMES[:, :3] @ models[2].matrix
    )
    scores = composite.log_likelihood(FRAMES)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)
    other = composite.with_model(1, models[1])
    np.testing.assert_array_equal(other.log_likelihood(FRAMES), scores)


def test_a_composite_can_be_a_stream_of_another():
    inner = CompositeAcousticModel([Stream(linear(2, 1), 0, 2, 1.0), Stream(linear(2, 2), 2, 4, 1.0)])
    outer = CompositeAcousticModel([Stream(inner, 1, 5, 1.0)])
    np.testing.assert_array_equal(outer.log_likelihood(FRAMES), inner.log_likelihood(FRAMES[:, 1:]))


@pytest.mark.parametrize("weights", [[], [0.0, 0.0], [1.0, -0.5], [float("nan")], [float("inf")]])
def test_weights_that_weigh_nothing_are_refused(weights):
    with pytest.raises(ConfigError, match="must be numbers from 0"):
        CompositeAcousticModel([Stream(linear(5, 1), 0, 5, weight) for weight in weights])


def test_a_stream_without_columns_is_refused():
    with pytest.raises(ConfigError, match=re.escape("columns 3 to 3, which are none")):
        CompositeAcousticModel([Stream(linear(5, 1), 3, 3, 1.0)])


def test_posteriors_of_a_composite_add_up_to_one_and_need_a_hybrid():
    model = two_streams()
    acoustic = model.hmm.acoustic_model
    number, hybrid = hybrid_stream(acoustic)
    assert (number, hybrid) == (0, acoustic.streams[0].model)
    frames = np.random.default_rng(0).normal(size=(6, model.front_end.n_features_)).astype(np.float32)
    np.testing.assert_allclose(np.exp(acoustic.log_posterior(frames)).sum(axis=1), 1.0, rtol=1e-4)
    with pytest.raises(ConfigError, match="posteriors are defined for hybrids"):
        acoustic.with_model(0, acoustic.streams[1].model).log_posterior(frames)


def test_a_file_has_no_room_for_composites_of_another_kind(tmp_path):
    model = two_streams()
    first, second = model.hmm.acoustic_model.streams
    end = model.front_end.n_features_
    for streams in (
        [second, first],
        [first],
        [first, second, second],
        [first, Stream(second.model, second.start, end, 0.9)],
    ):
        hmm = PhoneHmm(model.hmm.topology, CompositeAcousticModel(streams), model.hmm.self_loops)
        other = SpeechModel(hmm, model.front_end, model.lexicon, model.search, model.source)
        with pytest.raises(ConfigError, match="other composites are put together in a program"):
            save_model(tmp_path / "model", other)
    assert not (tmp_path / "model").exists()


def test_what_stands_beside_a_hybrid_has_the_last_columns():
    hybrid = two_streams().hmm.acoustic_model.streams[0].model
    second = single_gaussians(np.zeros(2), np.ones(2), hybrid.n_states)
    streams = beside(hybrid, second, 2, 9, 0.25).streams
    assert [(stream.start, stream.end, stream.weight) for stream in streams] == [(0, 7, 0.75), (7, 9, 0.25)]
