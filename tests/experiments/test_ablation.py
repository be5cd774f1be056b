"""Ablations: what a row changes, what an average is, the table, and a small one from audio to the table."""

import json
import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr.acoustic.gmm_training import GmmSettings
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import SearchSettings
from asr.acoustic.speaker_adaptive_training import SpeakerSettings
from asr.experiments.ablation import Ablation, Average, Row, ScoredMixtures, run_ablation, table
from asr.experiments.recipe import Recipe
from asr.features.augmentation import Augmentation, NoiseClips, read_noise
from asr.features.config import FeatureConfig
from asr.grammar import Grammar, word_loop
from asr.training.config import TrainingConfig
from asr.training.dataset import Dataset
from recipes.an4 import ablation as an4
from recipes.speechocean import ablation as speechocean
from tests.toy_corpus import RATE

FEATURES = FeatureConfig(sample_rate=RATE, normalize="speaker")
HYBRID = HybridSettings(parameters={"n_centers": 60, "n_candidates": 120, "max_iter": 4, "loss": "ovr"}, vtlp_warps=())
SEARCHES = (SearchSettings(lm_scale=3.0), SearchSettings(lm_scale=5.0, insertion_penalty=-2.0))


def make_ablation(grammars: list[tuple[tuple[str, ...], tuple[str, ...]]] | None = None) -> Ablation:
    def grammar(inner: Dataset, held_out: Dataset) -> Grammar:
        if grammars is not None:
            grammars.append((inner.speakers, held_out.speakers))
        return word_loop(sorted({word for words in inner.references.values() for word in words}))

    frames = FEATURES.model_copy(update={"context": 3, "lda_dimension": 12})
    return Ablation(HYBRID, frames, FEATURES, SEARCHES, grammar, n_folds=2)


class Constant:
    log_priors = np.log(np.array([0.25, 0.75], np.float32))

    def __init__(self, posterior: float) -> None:
        self._row = np.log(np.array([posterior, 1.0 - posterior], np.float32))

    def log_posterior(self, frames: np.ndarray) -> np.ndarray:
        return np.tile(self._row, (len(frames), 1))


@pytest.mark.parametrize(
    ("hybrid", "frames", "rows"),
    [
        (an4.HYBRID, an4.FRAMES, an4.ROWS),
        (speechocean.HYBRID, speechocean.WIDE, speechocean.make_rows(Path(), NoiseClips((), ()))),
    ],
    ids=["an4", "speechocean"],
)
def test_rows_have_names_of_their_own_and_differ_from_each_other(hybrid, frames, rows):
    assert len({row.name for row in rows}) == len(rows)
    ablation = replace(make_ablation(), hybrid=hybrid, frames=frames)
    models = [
        (ablation.stage_name(row), row.average, ablation.prior_exponent(row), row.tied_states, row.speakers)
        for row in rows
        if row.heard_in is None
    ]
    assert len(set(models)) == len(models)


def test_a_row_changes_one_parameter_and_keeps_the_others():
    ablation = make_ablation()
    row = Row("8 passes", {"mixtures": 4}, {"max_iter": 8})
    assert ablation.settings(row).parameters == {**HYBRID.parameters, "max_iter": 8}
    assert ablation.settings(row).mixtures == 4
    assert ablation.settings(row, 1).parameters["random_state"] == 1
    other = Row("squared", {"classifier": "orols"}, {"n_centers": 5}, prior_exponent=0.5)
    assert ablation.settings(other).parameters == {"n_centers": 5}
    assert (ablation.prior_exponent(row), ablation.prior_exponent(other)) == (HYBRID.prior_exponent, 0.5)


def test_averaged_models_have_the_mean_of_the_posteriors():
    average = Average([Constant(0.2), Constant(0.6)], 0.5)
    frames = np.zeros((3, 4), np.float32)
    np.testing.assert_allclose(np.exp(average.log_posterior(frames)), [[0.4, 0.6]] * 3, rtol=1e-6)
    expected = np.log([0.4, 0.6]) - 0.5 * Constant.log_priors
    np.testing.assert_allclose(average.log_likelihood(frames), [expected] * 3, rtol=1e-5)


def test_mixtures_alone_have_the_posteriors_of_bayes_rule():
    log_priors = np.log(np.array([0.25, 0.75], np.float32))

    class Densities:
        def log_likelihood(self, frames):
            return np.log(np.tile(np.array([0.6, 0.1], np.float32), (len(frames), 1)))

    scored, frames = ScoredMixtures(Densities(), log_priors), np.zeros((2, 3), np.float32)
    np.testing.assert_allclose(np.exp(scored.log_posterior(frames)), [[2 / 3, 1 / 3]] * 2, rtol=1e-6)
    np.testing.assert_allclose(np.exp(scored.log_likelihood(frames)), [[0.6, 0.1]] * 2, rtol=1e-6)


def test_the_table_has_a_line_for_every_row():
    record = {
        "name": "base", "errors": 5, "words": 53, "wer": 9.5, "interval": [-0.2, 0.4], "frame_accuracy": 71.0,
        "cross_entropy": 0.9, "train_seconds": 12.0,
    }  # fmt: skip
    lines = table([record]).splitlines()
    assert lines[0].startswith("| row | errors of 53 | ")
    assert lines[-1] == "| base | 5 | 9.50 | -0.20 to +0.40 | 71.0 | 0.900 | 12 |"


@pytest.fixture
def recipe(toy_recipe) -> Recipe:
    config = TrainingConfig(features=FEATURES, gmm=GmmSettings(mixtures=(1,), iterations=(8,)))
    return toy_recipe(config, n_utterances=60)


@pytest.mark.slow
def test_every_speaker_is_recognized_by_models_of_others(recipe, tmp_path, caplog):
    noise = np.random.default_rng(0).normal(0, 0.3, 2 * RATE)
    soundfile.write(tmp_path / "hiss.wav", noise, RATE)
    hiss = NoiseClips(("hiss",), (tmp_path / "hiss.wav",))
    rows = (
        Row("base"),
        Row("not asked for", {"mixtures": 2}),
        Row("prior exponent 1", prior_exponent=1.0),
        Row("two averaged", average=2),
        Row("mixtures alone", mixtures_alone=2, searches=SEARCHES[:1]),
        Row("tied states", tied_states=19),
        Row("tied states, maps", tied_states=19, speakers=SpeakerSettings(maps="fmllr")),
        Row("base in noise", heard_in=Augmentation(noise=hiss, snr_db=-5.0)),
        Row("two averaged in noise", average=2, heard_in=Augmentation(noise=hiss, snr_db=-5.0)),
    )
    folds: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    asked = [row.name for row in rows if row.name not in ("base", "base in noise", "not asked for")]
    with caplog.at_level(logging.INFO):
        lines = run_ablation(recipe, make_ablation(folds), rows, asked).splitlines()
    # Bases are included without a request; each model is trained once for all requests.
    names = [row.name for row in rows if row.name != "not asked for"]
    records = json.loads((recipe.work_dir / "ablation.json").read_text())
    assert [record["name"] for record in records] == names
    assert len(lines) == 2 + len(names)
    trained = [r.message for r in caplog.records if r.message.startswith("trained kernel-logistic")]
    assert len(trained) == 8
    everyone = recipe.dataset("train").speakers
    assert sorted(name for _, held_out in folds for name in held_out) == list(everyone)
    assert all(not set(inner) & set(held_out) for inner, held_out in folds)
    by_name = {record["name"]: record for record in records}
    for name in ("base", "mixtures alone", "tied states", "tied states, maps"):
        assert by_name[name]["wer"] < 20
        assert by_name[name]["frame_accuracy"] > 60
    assert by_name["base in noise"]["frame_accuracy"] < by_name["base"]["frame_accuracy"]
    assert by_name["base"]["interval"] == by_name["base in noise"]["interval"] == [0.0, 0.0]
    assert {record["words"] for record in records} == {by_name["base"]["words"]}


def test_one_fold_counts_the_words_of_its_speakers_alone(recipe):
    folds: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    run_ablation(recipe, make_ablation(folds), (Row("base"),), ["base"], [1])
    (record,) = json.loads((recipe.work_dir / "ablation.json").read_text())
    [(_, held_out)] = folds
    of_fold = recipe.dataset("train").of_speakers(held_out)
    assert record["words"] == sum(map(len, of_fold.references.values()))


def test_the_language_model_of_a_fold_has_no_sentence_of_those_held_out(recipe):
    dataset = recipe.dataset("train")
    held_out = dataset.of_speakers(dataset.speakers[:1])
    said = next(iter(held_out.references.values()))
    assert speechocean.sentences_apart([("NEVER", "SAID"), said], held_out) == [("NEVER", "SAID")]


def test_half_of_the_clips_are_trained_with_and_the_others_heard(recipe, tmp_path):
    paths = tuple(tmp_path / f"{name}.wav" for name in "abcd")
    for path in paths:
        soundfile.write(path, np.zeros(10), RATE)
    clips = NoiseClips(tuple("abcd"), paths)
    listed = read_noise(speechocean.list_of_half(recipe.context.run, clips))
    assert (listed.ids, speechocean.half(clips, 1).ids) == (("a", "c"), ("b", "d"))
    assert listed.paths == (paths[0], paths[2])
