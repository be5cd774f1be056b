"""Statistics of speakers: drawn towards those of training, and undisturbed by recordings without a voice."""

from dataclasses import replace

import numpy as np
import pytest

from asr.features.config import FeatureConfig
from asr.features.deltas import add_deltas
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.features.mfcc import mfcc
from asr.util.errors import ModelFormatError

CONFIG = FeatureConfig(sample_rate=8000, normalize="speaker", speaker_prior=50.0)


def speech(gain: float, rng: np.random.Generator, config: FeatureConfig = CONFIG) -> np.ndarray:
    """Static features of noise that swells and fades, as syllables do."""
    n = 8000
    swell = 0.02 + np.square(np.sin(np.arange(n) / 900))
    return mfcc((gain * swell * rng.standard_normal(n)).astype(np.float32), config)


def corpus(config: FeatureConfig = CONFIG, seed: int = 0) -> FrameTable:
    rng = np.random.default_rng(seed)
    ids = [f"u{n}" for n in range(12)]
    parts = [speech(800.0 * (1 + n % 3), rng, config) for n in range(12)]
    return FrameTable.from_utterances(ids, [f"s{n % 3}" for n in range(12)], parts)


def test_a_speaker_s_mean_and_variance_are_those_of_the_formula():
    static = corpus()
    front_end = FrontEnd(CONFIG).fit(static)
    prior = front_end.prior_
    assert prior is not None
    deltas = {n: add_deltas(static.utterance(n), 2, 2).astype(float) for n in range(len(static))}
    everything = np.concatenate(list(deltas.values()))
    spoken = {s: np.concatenate([deltas[n] for n in deltas if static.speakers[n] == s]) for s in set(static.speakers)}
    within = np.concatenate([frames - frames.mean(axis=0) for frames in spoken.values()]).var(axis=0)
    np.testing.assert_allclose(prior.mean, everything.mean(axis=0), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(prior.deviation, np.sqrt(within), rtol=1e-4)
    frames = deltas[1]
    scaled = ((frames - prior.mean) / prior.deviation).astype(np.float32)
    n, expected = len(frames), prior.mean + prior.deviation * prior.background.offset(scaled)
    mean = (50 * expected + n * frames.mean(axis=0)) / (50 + n)
    variance = (50 * within + n * frames.var(axis=0)) / (50 + n)
    found = front_end.transform(static.subset(["u1"])).frames
    np.testing.assert_allclose(found, (frames - mean) / np.sqrt(variance), rtol=1e-3, atol=1e-3)


def with_pauses(
    rng: np.random.Generator, share: float, config: FeatureConfig = CONFIG
) -> tuple[np.ndarray, np.ndarray]:
    """Static features of swelling noise with a hum around it that takes up this share, and which frames are the hum."""
    n = 8000
    hum = 20.0 * rng.standard_normal(round(n * share / (1 - share) / 2))
    spoken = 800.0 * (0.3 + np.square(np.sin(np.arange(n) / 900))) * rng.standard_normal(n)
    static = mfcc(np.concatenate([hum, spoken, hum]).astype(np.float32), CONFIG)
    middle = (np.arange(len(static)) + 0.5) * (len(hum) * 2 + n) / len(static)
    return static, (middle < len(hum)) | (middle > len(hum) + n)


@pytest.mark.parametrize(("statistics", "stays"), [("moments", False), ("matched", True)])
def test_pauses_move_sounds_less_where_frames_are_matched(statistics, stays):
    rng = np.random.default_rng(4)
    config = CONFIG.model_copy(update={"speaker_statistics": statistics, "speaker_prior": 100.0})
    ids = [f"u{n}" for n in range(12)]
    parts = [with_pauses(rng, 0.2)[0] for _ in ids]
    front_end = FrontEnd(config).fit(FrameTable.from_utterances(ids, [f"s{n % 3}" for n in range(12)], parts))
    means = []
    for share in (0.2, 0.7):
        own = [with_pauses(rng, share) for _ in range(10)]
        table = FrameTable.from_utterances(ids[:10], ["new"] * 10, [static for static, _ in own])
        sounds = ~np.concatenate([pause for _, pause in own])
        means.append(front_end.transform(table).frames[sounds].mean(axis=0))
    energy = abs(means[0] - means[1])[CONFIG.static_dimension - 1]
    assert (energy < 0.25) if stays else (energy > 0.9)


def test_who_pauses_as_training_did_has_moments():
    rng = np.random.default_rng(4)
    names, speakers = [f"u{n}" for n in range(12)], [f"s{n % 3}" for n in range(12)]
    static = FrameTable.from_utterances(names, speakers, [with_pauses(rng, 0.2)[0] for _ in names])
    own = FrameTable.from_utterances(names[:10], ["new"] * 10, [with_pauses(rng, 0.2)[0] for _ in range(10)])
    by_moments, matched = (
        FrontEnd(CONFIG.model_copy(update={"speaker_statistics": kind})).fit(static).transform(own).frames
        for kind in ("moments", "matched")
    )
    np.testing.assert_allclose(matched, by_moments, atol=0.03)


@pytest.mark.parametrize("statistics", ["moments", "matched"])
def test_a_speaker_s_frames_do_not_depend_on_who_stands_before(statistics, monkeypatch):
    monkeypatch.setattr("asr.features.cmvn.MAX_OF_SPEAKER", 200)  # of 480
    static = corpus()
    front_end = FrontEnd(CONFIG.model_copy(update={"speaker_statistics": statistics})).fit(static)
    alone, behind = static.subset(["u1", "u4", "u7", "u10"]), static.subset(["u0", "u1", "u3", "u4", "u7", "u10"])
    np.testing.assert_array_equal(front_end.transform(alone).utterance(1), front_end.transform(behind).utterance(3))


def test_without_a_prior_nothing_is_matched():
    config = CONFIG.model_copy(update={"speaker_prior": 0.0})
    static = corpus()
    plain, matched = (
        FrontEnd(config.model_copy(update={"speaker_statistics": kind})).fit(static).transform(static).frames
        for kind in ("moments", "matched")
    )
    np.testing.assert_array_equal(plain, matched)


def test_a_front_end_from_before_counts_moments():
    arrays, metadata = FrontEnd(CONFIG).fit(corpus()).to_arrays()
    del metadata["config"]["speaker_statistics"]
    assert FrontEnd.from_arrays(arrays, metadata).config.speaker_statistics == "moments"


def test_many_frames_of_a_speaker_count_more_than_the_prior():
    front_end = FrontEnd(CONFIG).fit(corpus())
    rng = np.random.default_rng(8)
    ids = [f"u{n}" for n in range(200)]
    static = FrameTable.from_utterances(ids, ["new"] * 200, [speech(5000.0, rng) for _ in ids])
    frames = front_end.transform(static).frames
    np.testing.assert_allclose(frames.mean(axis=0, dtype=float), 0, atol=0.01)
    np.testing.assert_allclose(frames.std(axis=0, dtype=float), 1, atol=0.01)


def test_without_a_prior_a_speaker_s_own_frames_alone_count():
    config = CONFIG.model_copy(update={"speaker_prior": 0.0})
    front_end = FrontEnd(config).fit(corpus())
    assert front_end.prior_ is None
    assert set(front_end.to_arrays()[0]) == set()
    frames = front_end.transform(corpus().subset(["u1"])).frames
    np.testing.assert_allclose(frames.mean(axis=0, dtype=float), 0, atol=1e-4)


def test_front_end_with_a_prior_comes_back_from_its_arrays():
    static = corpus()
    front_end = FrontEnd(CONFIG).fit(static)
    arrays, metadata = front_end.to_arrays()
    again = FrontEnd.from_arrays(arrays, metadata)
    np.testing.assert_array_equal(again.transform(static).frames, front_end.transform(static).frames)
    with pytest.raises(ModelFormatError, match="settings need"):
        FrontEnd.from_arrays({}, metadata)
    del metadata["config"]["speaker_prior"]
    assert FrontEnd.from_arrays({}, metadata).config.speaker_prior == 0


@pytest.mark.parametrize("energy", ["log", "c0"])
@pytest.mark.parametrize("prior", [0.0, 50.0])
@pytest.mark.parametrize("level", [0.0, 0.4, 5.0])
def test_a_silent_recording_changes_no_other_of_its_speaker(energy, prior, level):
    config = CONFIG.model_copy(update={"speaker_prior": prior, "energy": energy})
    rng = np.random.default_rng(3)
    static = corpus(config)
    front_end = FrontEnd(config).fit(static)
    samples = (level * rng.standard_normal(16000)).astype(np.float32)
    parts = [static.utterance(n) for n in range(len(static))]
    ids = (*static.ids, "silent")
    with_silence = FrameTable.from_utterances(ids, ["s"] * len(ids), [*parts, mfcc(samples, config)])
    without = replace(static, speakers=("s",) * len(static))
    changed, plain = front_end.transform(with_silence), front_end.transform(without)
    for name in static.ids:
        np.testing.assert_array_equal(changed.frames[changed.rows(name)], plain.frames[plain.rows(name)])


def test_softer_recording_of_few_is_not_taken_for_silence():
    rng = np.random.default_rng(4)
    static = FrameTable.from_utterances("ab", "ss", [speech(2000.0, rng), speech(200.0, rng)])
    front_end = FrontEnd(CONFIG).fit(corpus())
    both = front_end.transform(static).frames
    loud_alone = front_end.transform(static.subset(["a"])).frames
    assert not np.allclose(both[: len(loud_alone)], loud_alone)


@pytest.mark.parametrize("statistics", ["moments", "matched"])
@pytest.mark.parametrize("energy", [{"energy": "log"}, {"energy": "c0", "energy_first": True}])
def test_transform_of_one_recording_at_another_level_is_the_same(statistics: str, energy: dict[str, object]) -> None:
    config = FeatureConfig(
        sample_rate=8000, normalize="speaker", speaker_prior=50.0, speaker_statistics=statistics, dynamic_range_db=35.0
    ).model_copy(update=energy)
    front_end = FrontEnd(config).fit(corpus(config))
    loud, quiet = (speech(gain, np.random.default_rng(5), config) for gain in (4000.0, 40.0))
    found, expected = (
        front_end.transform(FrameTable.from_utterances(["u"], ["new"], [static])).frames for static in (quiet, loud)
    )
    np.testing.assert_allclose(found, expected, atol=2e-3)
