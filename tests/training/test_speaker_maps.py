"""Models of frames that are mapped by speaker: trained, written, read again, and recognizing."""

from dataclasses import replace

import numpy as np
import pytest

from asr import Recognizer
from asr.acoustic import context_trees, fmllr_prior
from asr.acoustic.gmm_training import GmmSettings, TiedGmmSettings
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import load_model, save_model
from asr.acoustic.speaker_adaptive_training import SpeakerSettings
from asr.commands import decode as decoding
from asr.decode.graph_compiler import compile_graph
from asr.features.config import FeatureConfig
from asr.grammar import word_loop
from asr.recognition.decoder import recognize
from asr.recognition.input_network import AdaptationSettings, recognize_adapted
from asr.recognition.speaker_transforms import frames_of_states
from asr.scoring.wer import score_utterances
from asr.training.aligner_stages import train_aligner
from asr.training.config import TrainingConfig
from asr.training.gmm_stages import aligned_states
from asr.training.hybrid_stages import train_hybrid_system
from asr.training.tuning.search import FoldScores
from asr.util.errors import ConfigError, ModelFormatError
from discriminants.parallel.workers import LocalWorkers
from discriminants.serialization.model_file import load_arrays, save_arrays
from tests.toy_corpus import RATE

FEATURES = FeatureConfig(sample_rate=RATE)
GROWN = {"mixtures": (1, 2), "iterations": (3, 3)}
KERNEL = HybridSettings(
    parameters={"n_centers": 60, "n_candidates": 120, "max_iter": 2}, vtlp_warps=(0.92,), mixtures=1
)


def config_of(context: int, maps: str = "fmllr") -> TrainingConfig:
    transform = "lda-mllt" if context == 3 else "none"
    return TrainingConfig(
        features=FEATURES,
        gmm=GmmSettings(**GROWN, transform=transform),
        tied_gmm=TiedGmmSettings(**GROWN, transform=transform),
        context=context,
        tied_states=30 if context == 3 else "auto",
        speakers=SpeakerSettings(maps=maps, rounds=2),
    )


@pytest.mark.slow
@pytest.mark.parametrize(("context", "fewest_speakers"), [(1, 4), (3, 10)])
def test_mapped_mixtures_and_hybrid_recognize_in_passes(tmp_path, toy_recipe, monkeypatch, context, fewest_speakers):
    monkeypatch.setattr(context_trees, "MIN_FRAMES", 20)
    monkeypatch.setattr(fmllr_prior, "MIN_SPEAKERS", fewest_speakers)
    recipe = toy_recipe(config_of(context), splits=("train", "test"))
    training_context, dataset, test = recipe.context, recipe.dataset("train"), recipe.dataset("test")
    mixtures = train_aligner(training_context, "gmm", dataset)
    features = FEATURES.model_copy(update={"context": 2, "lda_dimension": 10})
    hybrid = train_hybrid_system(training_context, "hybrid", dataset, mixtures, KERNEL, features)
    for trained in (mixtures.largest, hybrid):
        model = trained.load()
        assert model.speakers is not None
        assert (model.speakers.prior is not None) == (fewest_speakers == 4)  # who are in training
        assert model.speakers.first.topology == model.hmm.topology == mixtures.topology
        graph = compile_graph(model.lexicon, word_loop(model.lexicon.words), model.hmm.topology)
        found = recognize(model, test.static, graph)
        assert score_utterances(test.references, found.hypotheses).errors <= 3
        assert found.cpu_seconds > 0
        assert recognize(model, test.static, graph, workers=LocalWorkers(2)).words == found.words
        scored = FoldScores.of(model, test, graph, training_context.workers)
        assert scored.recognized([model.search])[0] == found.hypotheses
        states = aligned_states(training_context, trained, test)
        frames = frames_of_states(model, test.static, states)
        assert (model.hmm.log_likelihood(frames.frames).argmax(axis=1) == states).mean() > 0.6

        save_model(tmp_path / "again", load_model(trained.path))
        assert (tmp_path / "again").read_bytes() == trained.path.read_bytes()
    turned = mixtures.largest.load().speakers.front_end
    assert (turned.lda_ is not None) == (context == 3)
    again = train_aligner(training_context, "gmm", dataset)  # from complete stages
    assert again.largest.path == mixtures.largest.path
    adapted = recognize_adapted(model, test.static, graph, settings=AdaptationSettings(sharpness=(0.1,), iterations=2))
    assert score_utterances(test.references, adapted.hypotheses).errors <= 3
    corpus = tmp_path / "corpus"
    recognizer = Recognizer.load(hybrid.path)
    wavs = {name: corpus / "audio" / "test" / f"{name}.wav" for name in test.static.ids[:3]}
    for name, wav in wavs.items():
        assert recognizer.recognize(wav).text
        aligned = recognizer.align(wav, test.transcripts[name])
        assert [word.word for word in aligned.words] == list(test.transcripts[name])
    found = list(recognizer.recognize_all(wavs.values(), speakers="one", adapt="fmllr"))
    assert [result.text.split() for result in found] == [list(test.transcripts[name]) for name in wavs]
    outcome = recognizer.align_directory(corpus / "test", tmp_path / "aligned")
    assert outcome.n_done == len(test.static)
    with np.load(tmp_path / "aligned" / "states.npz") as written:
        mine = states[test.static.rows(test.static.ids[0])]
        np.testing.assert_array_equal(written[test.static.ids[0]], mine)
    texts = recognizer.info()["speakers"]
    assert (texts["maps"], texts["directions of the learned prior"]) == ("fmllr", 11 if fewest_speakers == 4 else 0)

    def stop(audio, rule):
        raise ConfigError(f"speakers by {rule}")

    monkeypatch.setattr(decoding, "files_as_corpus", stop)
    with pytest.raises(ConfigError, match="by file" if fewest_speakers == 4 else "by directory"):
        recognizer.decode(tmp_path / "out", audio=list(wavs.values()))


def test_mixtures_of_warped_frames_warp_them_to_recognize(toy_recipe):
    recipe = toy_recipe(config_of(1, "vtln"), splits=("train", "test"))
    model = train_aligner(recipe.context, "gmm", recipe.dataset("train")).largest.load()
    assert model.speakers is not None and model.speakers.maps == "vtln"
    test = recipe.dataset("test")
    graph = compile_graph(model.lexicon, word_loop(model.lexicon.words), model.hmm.topology)
    assert score_utterances(test.references, recognize(model, test.static, graph).hypotheses).errors <= 3


def test_a_spoilt_file_of_a_model_with_maps_is_refused(tmp_path, toy_recipe):
    recipe = toy_recipe(config_of(1))
    path = train_aligner(recipe.context, "gmm", recipe.dataset("train")).largest.path
    arrays, metadata = load_arrays(path)

    def refused(changed: dict[str, np.ndarray], words: str) -> None:
        kept = {name: array for name, array in (arrays | changed).items() if array.size}
        save_arrays(tmp_path / "spoilt", kept, metadata)
        with pytest.raises(ModelFormatError, match=words):
            load_model(tmp_path / "spoilt")

    refused({"speakers.first.gmm.means": arrays["speakers.first.gmm.means"][:, :, :5].copy()}, "gmm.means")
    refused({"speakers.self_loops": np.ones(3)}, "self_loops")
    directions = arrays["speakers.prior.directions"]
    refused({"speakers.prior.mean": np.zeros((3, 4), np.float32)}, "prior.mean")
    refused({"speakers.prior.mean": np.zeros_like(directions[0])}, "cannot be inverted")
    refused({"speakers.prior.directions": directions[:, :, 1:].copy()}, "prior.directions")
    refused({"speakers.prior.directions": np.full_like(directions, np.nan)}, "prior.directions")
    refused({"speakers.prior.directions": np.tile(directions[:1], (101, 1, 1))}, "101 directions")
    refused({"speakers.prior.directions": np.zeros(0)}, "is missing|directions")
    refused({"speakers.first.gmm.means": np.zeros(0)}, "is missing")
    model = load_model(path)
    other = replace(model.speakers, mapped=model.speakers.first.acoustic_model)
    save_model(tmp_path / "other", replace(model, speakers=other))
    again = load_model(tmp_path / "other")
    np.testing.assert_array_equal(again.speakers.mapped.means, other.mapped.means)
