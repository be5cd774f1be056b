"""Systems that recipes compare: what is trained once and what comes of it."""

import logging

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from asr.acoustic.gmm_training import GmmSettings
from asr.acoustic.hybrid_training import HybridSettings, classifier_of, train_hybrid
from asr.acoustic.sequence_training import train_sequences
from asr.features.config import FeatureConfig
from asr.training.aligner_stages import train_mapped_mixtures
from asr.training.config import TrainingConfig
from asr.training.dataset import Dataset
from asr.training.gmm_stages import AlignedGmms, TrainingContext, train_mixtures
from asr.training.hybrid_stages import train_hybrid_system, training_copies
from asr.util.errors import ConfigError
from tests.toy_corpus import RATE

FEATURES = FeatureConfig(sample_rate=RATE, normalize="speaker")
KERNEL = HybridSettings(parameters={"n_centers": 30, "n_candidates": 60, "max_iter": 1}, vtlp_warps=(1.1,))
CALIBRATED = HybridSettings(classifier="sklearn.svm.LinearSVC", vtlp_warps=())


@pytest.fixture
def ground(toy_recipe) -> tuple[TrainingContext, Dataset, AlignedGmms]:
    """What hybrids stand on: the context, its training material and the mixtures that align it."""
    recipe = toy_recipe(TrainingConfig(features=FEATURES, gmm=GmmSettings(mixtures=(1,), iterations=(4,))))
    context, dataset = recipe.context, recipe.dataset("train")
    return context, dataset, train_mixtures(context, "gmm", dataset)


@pytest.mark.parametrize("settings", [KERNEL, CALIBRATED], ids=["kernel", "calibrated"])
def test_second_stream_is_as_if_both_were_trained_together(ground, settings):
    context, dataset, mixtures = ground
    features = FEATURES.model_copy(update={"context": 2, "lda_dimension": 10})
    both = settings.model_copy(update={"mixtures": 2, "mixture_weight": 0.4})
    assert both.one_stream == settings
    alone = train_hybrid_system(context, "alone", dataset, mixtures, settings, features)
    together = train_hybrid_system(context, "together", dataset, mixtures, both, features)
    beside = train_hybrid_system(context, "beside", dataset, mixtures, both, features, one_stream=alone)
    assert beside.path.read_bytes() == together.path.read_bytes()
    assert beside.curves == together.curves
    assert beside.seconds > alone.seconds


def test_a_fit_that_tells_no_progress_is_told_as_finished(ground, caplog):
    context, dataset, mixtures = ground
    with caplog.at_level(logging.DEBUG, logger="asr.runs.progress"):
        train_hybrid_system(context, "svm", dataset, mixtures, CALIBRATED, FEATURES)
    assert "svm: fitting, in %: 100 in " in caplog.text


@pytest.mark.slow
def test_realigned_frames_have_a_classifier_of_their_own(ground):
    context, dataset, mixtures = ground
    settings = KERNEL.model_copy(update={"realignments": 1})
    both = settings.model_copy(update={"mixtures": 2})
    alone = train_hybrid_system(context, "alone", dataset, mixtures, settings, FEATURES)
    together = train_hybrid_system(context, "together", dataset, mixtures, both, FEATURES)
    beside = train_hybrid_system(context, "beside", dataset, mixtures, both, FEATURES, one_stream=alone)
    assert beside.path.read_bytes() == together.path.read_bytes()


def test_copies_may_be_normalized_as_recordings_of_which_no_more_is_known(ground, monkeypatch):
    context, dataset, mixtures = ground
    seen = []

    def noted(table, *arguments, **options):
        seen.append(table)
        return train_hybrid(table, *arguments, **options)

    monkeypatch.setattr("asr.training.hybrid_stages.train_hybrid", noted)
    for name, settings in (("by-speaker", KERNEL), ("alone", KERNEL.model_copy(update={"augment_as_unadapted": True}))):
        train_hybrid_system(context, name, dataset, mixtures, settings, FEATURES)
    by_speaker, alone = (table.frames for table in seen)
    n_own = dataset.static.n_frames
    np.testing.assert_array_equal(by_speaker[:n_own], alone[:n_own])
    assert np.abs(by_speaker[n_own:] - alone[n_own:]).max() > 0.01
    assert seen[1].speakers[len(dataset.static) :] == seen[1].ids[len(dataset.static) :]


def test_copies_that_are_alone_have_no_maps_of_speakers(ground, monkeypatch):
    context, dataset, mixtures = ground
    mapped = train_mapped_mixtures(context, "mapped", dataset, mixtures)
    settings, seen = KERNEL.model_copy(update={"augment_as_unadapted": True, "smbr_epochs": 1}), {}

    def noted(table, *arguments, **options):
        seen["frames"] = table
        return train_hybrid(table, *arguments, **options)

    def noted_too(hmm, table, *arguments, **options):
        seen["sequences"] = table
        return train_sequences(hmm, table, *arguments, **options)

    monkeypatch.setattr("asr.training.hybrid_stages.train_hybrid", noted)
    monkeypatch.setattr("asr.training.hybrid_stages.train_sequences", noted_too)
    train_hybrid_system(context, "alone", dataset, mapped, settings, FEATURES)
    speakers = mapped.largest.load().speakers
    copies, _ = training_copies(context, dataset, mapped.states, settings, FEATURES)
    plain = speakers.front_end.transform(copies.static.each_alone(copies.static.ids)).frames
    own = speakers.frames(dataset.static, speakers.of_states(dataset.static, mapped.states)).frames
    n_own = dataset.static.n_frames
    for table in seen.values():
        np.testing.assert_allclose(table.frames[n_own:], plain[n_own:], atol=1e-5)
        assert np.abs(table.frames[:n_own] - plain[:n_own]).max() > 0.05
    np.testing.assert_allclose(seen["frames"].frames[:n_own], own, atol=1e-5)
    assert len(seen) == 2


def test_warped_copies_may_begin_and_end_with_silence(ground):
    context, dataset, mixtures = ground
    settings = KERNEL.model_copy(update={"augment_silence_ms": 20.0})
    plain, states = training_copies(context, dataset, mixtures.states, KERNEL, FEATURES)
    quiet, quiet_states = training_copies(context, dataset, mixtures.states, settings, FEATURES)
    n_own = dataset.static.n_frames
    np.testing.assert_array_equal(quiet.static.frames[:n_own], plain.static.frames[:n_own])
    assert len(quiet_states) == quiet.static.n_frames
    silence = range(3)
    for number, name in enumerate(dataset.static.ids, len(dataset.static)):
        assert quiet.transcripts[quiet.static.ids[number]] == dataset.transcripts[name]
        before, after = (table.static.utterance(number) for table in (plain, quiet))
        own, longer = states[plain.static.rows(number)], quiet_states[quiet.static.rows(number)]
        first = (len(after) - len(before)) // 2
        assert first == 2
        np.testing.assert_array_equal(longer[first : first + len(own)], own)
        np.testing.assert_allclose(after[first + 2 : first + len(own) - 2], before[2:-2], atol=1e-3)
        assert set(longer[:first]) | set(longer[first + len(own) :]) <= set(silence)


def test_hybrid_is_trained_with_one_blas_thread(ground, monkeypatch):
    context, dataset, mixtures = ground
    threads = []

    def noted(*arguments, **options):
        threads.extend(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")
        return train_hybrid(*arguments, **options)

    monkeypatch.setattr("asr.training.hybrid_stages.train_hybrid", noted)
    train_hybrid_system(context, "hybrid", dataset, mixtures, KERNEL, FEATURES)
    assert set(threads) == {1}


def test_sequences_change_the_weights_of_the_hybrid_alone(ground):
    context, dataset, mixtures = ground
    on_frames = KERNEL.model_copy(update={"mixtures": 2})
    settings = on_frames.model_copy(update={"smbr_epochs": 2})
    assert settings.one_stream == KERNEL
    alone = train_hybrid_system(context, "alone", dataset, mixtures, on_frames, FEATURES)
    trained = train_hybrid_system(context, "hybrid", dataset, mixtures, settings, FEATURES)
    stages = context.run.directory / "stages"
    assert (stages / "hybrid" / "hybrid.safetensors").read_bytes() == alone.path.read_bytes()
    assert trained.path == stages / "hybrid-sequences" / "hybrid.safetensors"
    assert trained.seconds > context.run.stage_time("hybrid").wall
    (before, _), (after, _) = (system.load().hmm.acoustic_model.streams for system in (alone, trained))
    first, last = before.model.classifier, after.model.classifier
    np.testing.assert_array_equal(first.basis_centers_, last.basis_centers_)
    np.testing.assert_array_equal(before.model.log_priors, after.model.log_priors)
    assert not np.array_equal(first.dual_coef_, last.dual_coef_)


@pytest.mark.parametrize(
    ("settings", "passes"),
    [
        (HybridSettings(smbr_epochs="auto"), 2),
        (HybridSettings(smbr_epochs=7), 7),
        (HybridSettings(), 0),
        (HybridSettings(smbr_epochs="auto", classifier="mlp"), 0),
        (TrainingConfig().hybrid, 2),
    ],
)
def test_passes_over_sequences_are_for_classifiers_that_take_them(settings, passes):
    assert settings.n_sequence_epochs == passes


def test_sequences_are_refused_where_the_classifier_does_not_take_them():
    with pytest.raises(ConfigError, match="smbr_epochs"):
        classifier_of(HybridSettings(smbr_epochs=1, classifier="mlp"))
