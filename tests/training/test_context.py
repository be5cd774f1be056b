"""Mixtures and hybrids of states in context: trained, written, read again, and recognizing."""

from dataclasses import replace

import numpy as np
import pytest

from asr import Recognizer, train
from asr.acoustic import context_trees
from asr.acoustic.gmm_training import GmmSettings, TiedGmmSettings
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import load_model, save_model
from asr.acoustic.speaker_adaptive_training import SpeakerSettings
from asr.features.config import FeatureConfig
from asr.lexicon import read_lexicon
from asr.training import aligner_stages
from asr.training.aligner_stages import train_aligner, with_context, with_maps
from asr.training.config import TrainingConfig
from asr.training.hybrid_stages import train_hybrid_system
from asr.util.errors import ConfigError, ModelFormatError
from discriminants.serialization.model_file import load_arrays, save_arrays
from tests.toy_corpus import RATE, make_toy_corpus

FEATURES = FeatureConfig(sample_rate=RATE, normalize="speaker")
MIXTURES = GmmSettings(mixtures=(1,), iterations=(4,))
KERNEL = HybridSettings(parameters={"n_centers": 60, "n_candidates": 120, "max_iter": 2}, vtlp_warps=(), mixtures=1)


@pytest.fixture(autouse=True)
def small_leaves(monkeypatch):
    """A minute of speech has few frames."""
    monkeypatch.setattr(context_trees, "MIN_FRAMES", 20)


def test_a_hybrid_of_states_in_context_recognizes_what_mixtures_aligned(tmp_path, toy_recipe):
    corpus = tmp_path / "corpus"
    small = TiedGmmSettings(mixtures=(1,), iterations=(4,))
    config = TrainingConfig(features=FEATURES, gmm=MIXTURES, tied_gmm=small, context=3, tied_states=30)
    recipe = toy_recipe(config, splits=("train", "test"))
    training_context, dataset = recipe.context, recipe.dataset("train")
    mixtures = train_aligner(training_context, "gmm", dataset)
    assert mixtures.topology.n_states == 3 + 30
    assert training_context.topology.n_states == 3 + 18
    assert set(np.unique(mixtures.states)) <= set(range(33))
    hybrid = train_hybrid_system(training_context, "hybrid", dataset, mixtures, KERNEL, FEATURES)
    model = hybrid.load()
    assert model.hmm.topology == mixtures.topology
    scores = model.hmm.log_likelihood(model.front_end.transform(dataset.static).frames)
    assert (scores.argmax(axis=1) == mixtures.states).mean() > 0.6
    recognizer = Recognizer.load(hybrid.path)
    test = recipe.dataset("test")
    found = [recognizer.recognize(corpus / "audio" / "test" / f"{name}.wav").text.split() for name in test.static.ids]
    errors = sum(words != list(test.transcripts[name]) for name, words in zip(test.static.ids, found, strict=True))
    assert errors <= 2
    text, graph = list(recognizer.tree()), list(recognizer.tree("dot"))
    states = {model.hmm.topology.state_name(state) for state in range(3, 33)}
    assert text[0].endswith("of 18 trees have questions; 33 states, including silence")
    assert {line.split(": ")[-1].strip() for line in text} >= states
    assert sum("->" in line for line in graph) == 18 + 2 * (30 - 18)
    assert (graph[0], graph[-1]) == ("digraph states {", "}")
    aligned = recognizer.align(
        corpus / "audio" / "test" / f"{test.static.ids[0]}.wav", test.transcripts[test.static.ids[0]]
    )
    assert [word.word for word in aligned.words] == list(test.transcripts[test.static.ids[0]])
    save_model(tmp_path / "again.safetensors", load_model(hybrid.path))
    assert (tmp_path / "again.safetensors").read_bytes() == hybrid.path.read_bytes()
    arrays, metadata = load_arrays(hybrid.path)
    arrays["tying.node_yes"] = arrays["tying.node_yes"][::-1].copy()
    save_arrays(tmp_path / "spoilt.safetensors", arrays, metadata)
    with pytest.raises(ModelFormatError, match="not a tree"):
        load_model(tmp_path / "spoilt.safetensors")


def test_half_an_hour_of_speech_has_context_by_default(toy_recipe, monkeypatch, caplog):
    recipe = toy_recipe(TrainingConfig(features=FEATURES, gmm=MIXTURES), n_utterances=8)
    training_context, dataset = recipe.context, recipe.dataset("train")

    def chosen(**settings):
        config = TrainingConfig(features=FEATURES, **settings)
        return with_context(replace(training_context, config=config), dataset).config

    assert chosen().context == 1
    assert chosen(tied_states=30).context == 3  # is not set for states without context
    monkeypatch.setattr(aligner_stages, "SECONDS_FOR_CONTEXT", dataset.seconds)
    assert chosen().context == 1  # because there are too few frames
    monkeypatch.setattr(context_trees, "FRAMES_A_STATE", 1)
    caplog.set_level("DEBUG", logger="asr.training")
    assert chosen().context == 3
    assert "context = 3" in caplog.text
    assert chosen(context=1).context == 1
    assert context_trees.states_for(10**9) == context_trees.MAX_STATES  # hours of speech train in hours


def test_many_speakers_have_maps_unless_told_otherwise(toy_recipe, monkeypatch, caplog):
    recipe = toy_recipe(TrainingConfig(features=FEATURES, gmm=MIXTURES), n_utterances=8)
    training_context, dataset = recipe.context, recipe.dataset("train")

    def chosen(**settings):
        config = TrainingConfig(features=FEATURES, speakers=SpeakerSettings(**settings))
        return with_maps(replace(training_context, config=config), dataset).config.speakers.maps

    n_speakers = len(dataset.speakers)
    enough = {"SPEAKERS_FOR_MAPS": n_speakers, "SECONDS_OF_A_SPEAKER": 1.0, "SECONDS_OF_AN_UTTERANCE": 0.1}
    caplog.set_level("DEBUG", logger="asr.training")
    assert chosen() == "none"
    assert 'speakers.maps = "none"' in caplog.text
    for name, value in enough.items():
        monkeypatch.setattr(aligner_stages, name, value)
    assert chosen() == "fmllr"
    assert 'speakers.maps = "fmllr"' in caplog.text
    assert (chosen(maps="none"), chosen(maps="vtln")) == ("none", "vtln")
    for name, value in enough.items():
        monkeypatch.setattr(aligner_stages, name, 100 * value)
        assert chosen() == "none"
        monkeypatch.setattr(aligner_stages, name, value)


def test_too_little_speech_for_any_context_is_told(toy_recipe, caplog):
    recipe = toy_recipe(TrainingConfig(features=FEATURES, gmm=MIXTURES, context=3), n_utterances=4)
    mixtures = train_aligner(recipe.context, "gmm", recipe.dataset("train"))
    assert mixtures.topology.n_states == recipe.context.topology.n_states
    assert "context = 1" in caplog.text


@pytest.mark.slow
def test_training_with_context_leaves_a_recognizer_of_tied_states(tmp_path):
    corpus = make_toy_corpus(tmp_path / "corpus", n_utterances=16)
    settings = {
        "context": 3,
        "tied_states": 25,
        "questions": str(tmp_path / "questions.txt"),
        "features": {"sample_rate": RATE},
        "gmm": {"mixtures": [1], "iterations": [4]},
        "tied_gmm": {"mixtures": [1, 2], "iterations": [2, 2]},
        "hybrid": KERNEL.model_dump(mode="json") | {"mixture_weight": 0.5},
        "tuning": {"scale_factors": [1.0], "penalty_factors": [0.0], "words": 10},
    }
    (tmp_path / "questions.txt").write_text("x y\n")
    with pytest.raises(ConfigError, match=r"questions?.*line 1"):
        train(corpus / "train", corpus / "lexicon.txt", tmp_path / "run", config=settings)
    phones = read_lexicon(corpus / "lexicon.txt").phones
    (tmp_path / "questions.txt").write_text(" ".join(phones[:2]) + "\n")
    train(corpus / "train", corpus / "lexicon.txt", tmp_path / "run", config=settings)
    model, mixtures = (load_model(tmp_path / "run" / f"{name}.safetensors") for name in ("model", "gmm"))
    assert model.hmm.topology == mixtures.hmm.topology
    assert model.hmm.topology.tying is not None
    assert model.hmm.topology.n_states == 3 + 25
    assert replace(model.hmm.topology, tying=None).n_states == 3 + 18
