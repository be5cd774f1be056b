"""The common plot of the recipes with states of phones and of phones in context side by side."""

import re

import pytest

from asr.acoustic import context_trees
from asr.acoustic.gmm_training import GmmSettings, TiedGmmSettings
from asr.acoustic.hybrid_training import HybridSettings
from asr.features.config import FeatureConfig
from asr.grammar import word_loop
from asr.training.config import TrainingConfig, TuningSettings
from recipes.comparison import combined, decode_test, pooled_row, train_and_tune
from recipes.specifications import HybridSpecification, MixtureSpecification
from tests.toy_corpus import RATE

FEATURES = FeatureConfig(sample_rate=RATE, normalize="speaker")
CONFIG = TrainingConfig(
    features=FEATURES,
    gmm=GmmSettings(mixtures=(1,), iterations=(4,)),
    tied_gmm=TiedGmmSettings(mixtures=(1,), iterations=(2,)),
    tuning=TuningSettings(scale_factors=(1.0,), penalty_factors=(0.0,)),
)
KERNEL = HybridSettings(parameters={"n_centers": 40, "n_candidates": 80, "max_iter": 1}, vtlp_warps=())
MIXTURES = (
    MixtureSpecification("gmm", FEATURES, (1,)),
    MixtureSpecification("tied", FEATURES, (1,), tied_states=24),
    MixtureSpecification("mapped", FEATURES, (1,), maps=True),
)
HYBRIDS = (
    HybridSpecification("klr", KERNEL, FEATURES),
    HybridSpecification("klr-tied", KERNEL, FEATURES, aligner="tied"),
    HybridSpecification("klr-mapped", KERNEL, FEATURES, aligner="mapped"),
)


@pytest.mark.slow
def test_systems_are_decoded_each_with_its_own_graph(toy_recipe, monkeypatch):
    monkeypatch.setattr(context_trees, "MIN_FRAMES", 20)
    recipe = toy_recipe(CONFIG, n_test_utterances=6, splits=("train", "test"), systems=(MIXTURES, HYBRIDS))
    grammar = {"loop": word_loop(recipe.context.lexicon.words)}
    systems = train_and_tune(recipe.context, "toy", recipe.dataset("train"), MIXTURES, HYBRIDS, lambda inner: grammar)
    assert {system.name: system.in_context for system in systems} == {
        "gmm-1": False, "tied-1": True, "mapped-1": True, "klr": False, "klr-tied": True, "klr-mapped": True,
    }  # fmt: skip
    states = {system.name: system.trained.load().hmm.topology.n_states for system in systems}
    assert states == {"gmm-1": 21, "tied-1": 27, "mapped-1": 27, "klr": 21, "klr-tied": 27, "klr-mapped": 27}
    maps = {system.name for system in systems if system.trained.load().speakers is not None}
    assert maps == {"mapped-1", "klr-mapped"}
    both = combined(recipe.context, "both", [systems[4], systems[0]], recipe.dataset("train"), grammar)
    assert both.held_out_errors["loop"] < 5 and both.name == "both"
    assert both.trained.seconds == systems[4].trained.seconds + systems[0].trained.seconds
    systems.append(both)
    rows = {
        part.system.name: pooled_row([part], split="test", primary="klr")[0]
        for part in decode_test(recipe.context, "test", systems, recipe.dataset("test"), grammar)
    }
    assert {name: row["unit"] for name, row in rows.items()} == {
        "gmm-1": "mono", "tied-1": "tri", "mapped-1": "tri", "klr": "mono", "klr-tied": "tri", "klr-mapped": "tri",
        "both": "tri",
    }  # fmt: skip
    for name, row in rows.items():
        assert row["wer"] < 30, name
    for system in systems[3:-1]:
        assert system.frame_accuracy == pytest.approx(75.0, abs=25.0)


@pytest.mark.slow
@pytest.mark.parametrize("with_dev", [False, True], ids=["held-out", "dev"])
def test_system_is_the_one_with_the_fewest_held_out_errors(tmp_path, toy_recipe, caplog, with_dev):
    # The first does not separate the classes.
    widths = {"narrow": {"sigma": 0.001}, "usual": {"sigma": 8.0}, "other": {"sigma": 8.5}}
    hybrids = (
        HybridSpecification("klr", KERNEL, FEATURES, tried=widths),
        HybridSpecification("plain", KERNEL, FEATURES),
    )
    recipe = toy_recipe(CONFIG, n_test_utterances=6, splits=("train", "test"), systems=(MIXTURES[:1], hybrids))
    grammar = {"loop": word_loop(recipe.context.lexicon.words)}
    dev = recipe.dataset("test") if with_dev else None
    with caplog.at_level("INFO", "recipes.comparison"):
        systems = train_and_tune(
            recipe.context, "toy", recipe.dataset("train"), MIXTURES[:1], hybrids, lambda inner: grammar, dev=dev
        )
    assert [(system.name, system.chosen) for system in systems] == [("gmm-1", ""), ("klr", "usual"), ("plain", "")]
    assert systems[1].trained.load().hmm.acoustic_model.classifier.sigma == 8.0
    texts = next(message for message in caplog.messages if message.startswith("klr is klr-usual"))
    errors = {name: int(number) for name, number in re.findall(r"(klr-\w+) (\d+)", texts)}
    assert errors["klr-usual"] == min(errors.values()) == systems[1].held_out_errors["loop"] < errors["klr-narrow"]
    fitted = {path.name for path in (tmp_path / "run" / "stages").glob("toy-klr-*") if path.is_dir()}
    assert fitted == ({f"toy-klr-{name}" for name in widths} if with_dev else {"toy-klr-usual"})
