"""Warps of speakers against warped cepstra, maps found by a numerical optimizer, and speakers warped on purpose."""

import numpy as np
import pytest
from scipy.optimize import minimize

from asr.acoustic.constrained_transforms import best_of
from asr.acoustic.fmllr import FmllrSettings, fit_fmllr
from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.vtln import LONGER_AND_SHORTER, WARPS, maps_of_other_lengths, warps_of_frames
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.features.warping import warped_copies
from asr.training.config import load_config
from asr.util.errors import ConfigError, FeatureError
from discriminants.logistic.affine_transform import AffineTransform, identity_map
from tests.acoustic.test_fmllr import (
    N_FEATURES,
    drawn,
    drawn_from,
    log_likelihood,
    mixtures_of,
    some_map,
    stacked,
    statistics_of_a_map,
    unmapped,
)

SMALL = FeatureConfig(sample_rate=8000, n_filters=20, n_cepstra=6, delta_order=1, normalize="none")


def static_of(config: FeatureConfig, rng: np.random.Generator) -> FrameTable:
    spread = np.linspace(3.0, 0.5, config.static_dimension)
    parts = [(rng.normal(size=(30, config.static_dimension)) * spread).astype(np.float32) for _ in "uv"]
    return FrameTable.from_utterances("uv", "st", parts)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"energy_first": True, "lifter": 0, "delta_order": 2},
        {"normalize": "corpus", "context": 1, "append_static": True},
        {"normalize": "speaker", "speaker_prior": 1e9},
    ],
)
def test_a_matrix_gives_the_frames_of_warped_cepstra_up_to_an_offset(changed):
    config = SMALL.model_copy(update=changed)
    static = static_of(config, np.random.default_rng(0))
    front_end = FrontEnd(config).fit(static)
    matrices = warps_of_frames(front_end)
    assert len(matrices) == len(WARPS)
    frames = front_end.transform(static)
    np.testing.assert_allclose(matrices[WARPS.index(1.0)], np.eye(front_end.n_features_), atol=1e-12)
    for warp in (0.84, 1.12):
        warped = front_end.transform(warped_copies(static, [warp], config)).frames[static.n_frames :]
        error = warped - frames.frames @ matrices[WARPS.index(warp)].T
        if changed.get("normalize") != "speaker":  # every speaker has a separate offset
            np.testing.assert_allclose(error, np.broadcast_to(error[0], error.shape), atol=1e-4)
        np.testing.assert_allclose(error[:30], np.broadcast_to(error[0], error[:30].shape), atol=1e-4)


def test_map_of_another_vocal_tract_undoes_the_difference():
    config = SMALL.model_copy(update={"normalize": "corpus"})
    rng = np.random.default_rng(1)
    static = static_of(config, rng)
    front_end = FrontEnd(config).fit(static)
    frames, n = front_end.transform(static).frames, front_end.n_features_
    own = np.column_stack([np.eye(n) + 0.1 * rng.normal(size=(n, n)), rng.normal(size=n)])
    for warp, other in zip(LONGER_AND_SHORTER, maps_of_other_lengths(front_end, [own]), strict=True):
        warped = front_end.transform(warped_copies(static, [warp], config)).frames[static.n_frames :]
        error = frames @ other[:, :n].T - warped @ own[:, :n].T
        np.testing.assert_allclose(error, np.broadcast_to(error[0], error.shape), atol=1e-4)
        np.testing.assert_array_equal(other[:, n], own[:, n])


def test_best_of_some_matrices_is_that_of_an_optimizer():
    rng = np.random.default_rng(1)
    statistics = statistics_of_a_map(rng, 150)
    matrices = np.stack([some_map(rng).matrix for _ in range(4)])
    found = best_of(statistics, matrices)

    def lost(theta: np.ndarray, matrix: np.ndarray) -> float:
        return -statistics.auxiliary(np.column_stack([np.exp(theta[:4])[:, None] * matrix, theta[4:]]))

    best = [minimize(lost, np.zeros(8), matrix, method="BFGS").fun for matrix in matrices]
    assert -statistics.auxiliary(found) == pytest.approx(min(best), abs=1e-4)
    ratio = found[:, :N_FEATURES] / matrices[int(np.argmin(best))]
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:, :1], ratio.shape), rtol=1e-8)
    assert (ratio > 0).all()


def test_every_iteration_makes_a_speaker_likelier():
    rng, mixtures, frames, states = drawn(2, 400)
    matrices = np.stack([np.eye(N_FEATURES), *(some_map(rng).matrix for _ in range(4))])
    seen = unmapped(AffineTransform(matrices[2], np.ones(N_FEATURES)), frames)
    values, found = [], identity_map(N_FEATURES)
    for _ in range(6):
        values.append(log_likelihood(mixtures, seen.astype(np.float64), states, found))
        settings = FmllrSettings(prior=0.0, iterations=1)
        found = fit_fmllr(mixtures, seen, states, settings, start=found, among=matrices)
    assert np.all(np.diff(values) > -1e-6)
    np.testing.assert_allclose(found.matrix, matrices[2], atol=0.15)


def speech_like(config: FeatureConfig, rng: np.random.Generator) -> tuple[FrontEnd, GaussianMixtures]:
    front_end = FrontEnd(config).fit(static_of(config, rng))
    shape = (8, 2, front_end.n_features_)
    return front_end, GaussianMixtures(np.full(shape[:2], np.log(0.5)), rng.normal(size=shape), np.full(shape, 0.1))


@pytest.mark.parametrize("warp", [0.86, 0.96, 1.0, 1.14])
def test_the_warp_of_a_speaker_is_found(warp):
    rng = np.random.default_rng(3)
    front_end, mixtures = speech_like(SMALL.model_copy(update={"normalize": "corpus"}), rng)
    matrices = warps_of_frames(front_end)
    own = matrices[WARPS.index(warp)]
    states = rng.integers(8, size=300).astype(np.int32)
    frames = rng.normal(mixtures.means[states, states % 2], np.sqrt(0.1))
    seen = np.linalg.solve(own, (frames - 0.2).T).T.astype(np.float32)
    found = fit_fmllr(mixtures, seen, states, among=matrices)
    rows = found.matrix / np.linalg.norm(found.matrix, axis=1, keepdims=True)
    directions = matrices / np.linalg.norm(matrices, axis=2, keepdims=True)
    nearest = WARPS[int(np.einsum("ij,mij->m", rows, directions).argmax())]
    assert abs(nearest - warp) <= 0.0201
    few = fit_fmllr(mixtures, seen[:3], states[:3], among=matrices)
    assert np.abs(few.matrix - np.eye(len(rows))).max() < 0.5 * np.abs(own - np.eye(len(rows))).max() + 0.2


def test_a_collapsed_mixture_has_the_moments_of_what_is_drawn_from_it():
    rng = np.random.default_rng(6)
    mixtures = mixtures_of(rng)
    one = GaussianMixtures(
        np.column_stack([mixtures.log_weights, np.full(5, -np.inf)]),
        np.concatenate([mixtures.means, np.zeros((5, 1, N_FEATURES))], axis=1),
        np.concatenate([mixtures.variances, np.ones((5, 1, N_FEATURES))], axis=1),
    ).collapsed()
    frames, states = drawn_from(mixtures, rng, 40_000)
    for state in range(5):
        own = frames[states == state]
        np.testing.assert_allclose(one.means[state, 0], own.mean(axis=0), atol=0.1)
        np.testing.assert_allclose(one.variances[state, 0], own.var(axis=0), rtol=0.06)
    assert one.n_components == 1 and not one.log_weights.any()


def test_without_frames_the_map_is_the_identity():
    rng = np.random.default_rng(4)
    front_end, mixtures = speech_like(SMALL, rng)
    none = np.zeros((0, front_end.n_features_), np.float32), np.zeros(0, np.int32)
    identity = stacked(identity_map(front_end.n_features_))
    for prior, tolerance in ((50.0, 1e-8), (0.0, 0.0)):
        found = fit_fmllr(mixtures, *none, FmllrSettings(prior=prior), among=warps_of_frames(front_end))
        np.testing.assert_allclose(stacked(found), identity, atol=tolerance)


def test_frames_that_no_matrix_warps_are_refused():
    rng = np.random.default_rng(5)
    static = static_of(SMALL, rng)
    labels = np.arange(static.n_frames) % 3
    for changed, words in (
        ({"lda_dimension": 2}, "LDA"),
        ({"normalize": "utterance"}, "deviations"),
        ({"normalize": "speaker", "speaker_prior": 0.0}, "speaker_prior"),
        ({"n_cepstra": 9}, "needs 10 columns .* have 7"),
    ):
        front_end = FrontEnd(SMALL.model_copy(update=changed)).fit(static, labels)
        with pytest.raises(FeatureError, match=words):
            warps_of_frames(front_end)


def test_settings_without_warped_frames_are_refused():
    vtln = {"speakers": {"maps": "vtln"}}
    assert load_config(vtln).speakers.maps == "vtln"
    turned = {"transform": "lda-mllt"}
    assert (
        load_config({**vtln, "context": 1, "tied_gmm": turned}).speakers.maps == "vtln"
    )  # no context and no tied states
    for tables, words in (
        ({"features": {"normalize": "utterance"}}, "speakers.maps = 'vtln': the frames are divided"),
        ({"gmm": turned}, "without gmm.transform"),
        ({"context": 3, "tied_gmm": turned}, "without tied_gmm.transform"),
        ({"speakers": {"maps": "vtlp_warps"}}, "speakers.maps: must be"),
    ):
        with pytest.raises(ConfigError, match=words):
            load_config({**vtln, **tables})
