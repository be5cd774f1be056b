"""Several acoustic models as one."""

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from asr.acoustic.composite import (
    CompositeAcousticModel,
    Stream,
    hybrid_stream,
    share_of_second,
    two_stream_model,
    with_share_of_second,
)
from asr.acoustic.gmm import single_gaussians
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.model_file import SpeechModel, describe_model, load_model, save_model
from asr.acoustic.phone_hmm import PhoneHmm
from asr.util.errors import ConfigError, ModelFormatError
from discriminants.serialization.model_file import load_arrays, save_arrays
from tests.fuzz.valid_models import training, two_streams

FRAMES = np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32)


@dataclass(frozen=True)
class Linear:
    """Scores that are a product with a matrix."""

    matrix: np.ndarray

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        return (frames @ self.matrix).astype(np.float32)


def linear(n_features: int, seed: int) -> Linear:
    return Linear(np.random.default_rng(seed).normal(size=(n_features, 3)))


def test_scores_of_streams_are_weighted_and_added():
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
    with pytest.raises(ConfigError, match="weights of the streams"):
        CompositeAcousticModel([Stream(linear(5, 1), 0, 5, weight) for weight in weights])


def test_a_stream_without_columns_is_refused():
    with pytest.raises(ConfigError, match=re.escape("(3 to 3)")):
        CompositeAcousticModel([Stream(linear(5, 1), 3, 3, 1.0)])


def test_posteriors_of_a_composite_add_up_to_one_and_need_a_hybrid():
    model = two_streams()
    acoustic = model.hmm.acoustic_model
    number, hybrid = hybrid_stream(acoustic)
    assert (number, hybrid) == (0, acoustic.streams[0].model)
    frames = np.random.default_rng(0).normal(size=(6, model.front_end.n_features_)).astype(np.float32)
    np.testing.assert_allclose(np.exp(acoustic.log_posterior(frames)).sum(axis=1), 1.0, rtol=1e-4)
    with pytest.raises(ConfigError, match="posteriors need a hybrid"):
        acoustic.with_model(0, acoustic.streams[1].model).log_posterior(frames)


def composed(model: SpeechModel, streams: list[Stream]) -> SpeechModel:
    hmm = PhoneHmm(model.hmm.topology, CompositeAcousticModel(streams), model.hmm.self_loops)
    return replace(model, hmm=hmm)


def test_any_composite_read_again_gives_equal_scores(tmp_path):
    model = two_streams()
    first, second = model.hmm.acoustic_model.streams
    end = model.front_end.n_features_
    frames = np.random.default_rng(0).normal(size=(6, end)).astype(np.float32)
    again = Stream(first.model, 0, first.end, 0.3)
    inside = Stream(CompositeAcousticModel([Stream(second.model, 2, 2 + end - second.start, 0.5)]), 1, end, 0.5)
    capped = HybridAcousticModel(GaussianNB(), first.model.n_states, prior_ceiling=2.0)
    static, states = training()
    columns = model.front_end.transform(static).frames[:, 1:3]
    for number, streams in enumerate(
        [
            [second, first],
            [first],
            [first, second, second],
            [second],
            [first, Stream(second.model, second.start, end, 0.9)],
            [first, again, Stream(capped.fit(columns, states), 1, 3, 1.5)],
            [first, inside],
        ]
    ):
        path = tmp_path / str(number)
        save_model(path, composed(model, streams))
        found = load_model(path)
        np.testing.assert_allclose(
            found.hmm.log_likelihood(frames), composed(model, streams).hmm.log_likelihood(frames), rtol=1e-6
        )
        described = describe_model(path)
        assert (described["kind"], found.kind) == ("composite", "gmm" if streams == [second] else "hybrid")
        assert described[f"stream {len(streams)}"]["weight"] == found.hmm.acoustic_model.streams[-1].weight
        save_model(tmp_path / "again", found)
        assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_a_file_has_no_room_for_models_of_a_program_s_own(tmp_path):
    model = two_streams()
    streams = [model.hmm.acoustic_model.streams[0], Stream(linear(2, 1), 0, 2, 1.0)]
    with pytest.raises(ConfigError, match="a Linear"):
        save_model(tmp_path / "model", composed(model, streams))
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("change", "texts"),
    [
        ({"end": 10_000}, "a stream has the columns"),
        ({"start": 30}, "a stream has the columns"),
        ({"end": 3}, "features, but the front end has"),
        ({"weight": -1.0}, "weight"),
        ({"kind": "gmm"}, "gmm.log_weights' is missing"),
        ({"hybrid": None}, "no classifier"),
    ],
)
def test_a_composite_whose_streams_do_not_fit_is_refused(tmp_path, change, texts):
    model = two_streams()
    save_model(tmp_path / "model", composed(model, [model.hmm.acoustic_model.streams[0]]))
    arrays, metadata = load_arrays(tmp_path / "model")
    metadata["streams"][0] |= change
    save_arrays(tmp_path / "model", arrays, metadata)
    with pytest.raises(ModelFormatError, match=texts):
        load_model(tmp_path / "model")


def test_what_stands_beside_a_hybrid_has_the_last_columns():
    hybrid = two_streams().hmm.acoustic_model.streams[0].model
    second = single_gaussians(np.zeros(2), np.ones(2), hybrid.n_states)
    streams = two_stream_model(hybrid, second, 2, 9, 0.25).streams
    assert [(stream.start, stream.end, stream.weight) for stream in streams] == [(0, 7, 0.75), (7, 9, 0.25)]


def test_the_share_of_the_second_stream_is_changed_and_their_sum_stays():
    composite = CompositeAcousticModel([Stream(linear(5, 1), 0, 5, 1.5), Stream(linear(2, 2), 3, 5, 0.5)])
    assert share_of_second(composite) == 0.25
    other = with_share_of_second(composite, 0.4)
    assert [stream.weight for stream in other.streams] == pytest.approx([1.2, 0.8])
    assert share_of_second(other) == pytest.approx(0.4)
    with pytest.raises(ConfigError, match="the model has 1 stream,"):
        share_of_second(linear(5, 1))


def test_hybrid_with_mixtures_keeps_its_kind_with_any_share():
    hybrid, second = HybridAcousticModel(GaussianNB(), 3), single_gaussians(np.zeros(2), np.ones(2), 3)
    for share in (0.05, 0.1, 0.35, 0.55, 0.95):
        model = two_stream_model(hybrid, second, 2, 5, 0.15)
        weights = [stream.weight for stream in with_share_of_second(model, share).streams]
        assert weights == [1.0 - share, share]
