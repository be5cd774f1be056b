"""Training on frames that a program gives as arrays, and recognition of such frames."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import asr
from asr.corpus.data_directory import read_data_directory
from asr.features.config import FeatureConfig
from asr.features.extraction import extract_static
from asr.training.config import load_config
from asr.util.errors import CorpusError, FeatureError
from discriminants.serialization.model_file import load_arrays

SETTINGS = {
    "features": {"sample_rate": 8000},
    "gmm": {"mixtures": [1], "iterations": [2], "flat_start_restarts": 0},
    "speakers": {"maps": "none"},
    "hybrid": {"vtlp_warps": [], "mixtures": 0, "classifier": "sklearn.naive_bayes.GaussianNB"},
    "tuning": {"held_out": 0},
}


def own_frames(data: Path, config: FeatureConfig) -> dict[str, np.ndarray]:
    table, _ = extract_static(read_data_directory(data), config)
    return {name: table.utterance(name).copy() for name in table.ids}


@pytest.fixture
def toy_frames(toy_corpus: Path) -> dict[str, np.ndarray]:
    """Features of the toy model's test data, made outside of the recognizer."""
    return own_frames(toy_corpus / "test", load_config(toy_corpus / "settings.toml").features)


def test_frames_are_recognized_as_their_audio(
    toy_corpus: Path, toy_model: Path, toy_frames: dict[str, np.ndarray]
) -> None:
    recognizer = asr.Recognizer.load(toy_model)
    utterance = read_data_directory(toy_corpus / "test").utterances[0]
    of_audio = recognizer.recognize(utterance.source)
    of_frames = recognizer.recognize(frames=toy_frames[utterance.id])
    assert of_frames.text == of_audio.text != ""
    assert of_frames.source == "frames"
    names = list(toy_frames)[:3]
    together = recognizer.recognize_all(frames=(toy_frames[name] for name in names), speakers="anna")
    alone = recognizer.recognize_all(frames=[toy_frames[name] for name in names], jobs=2)
    assert [one.text for one in together] == [one.text for one in alone]


@pytest.mark.parametrize(
    "frames", [np.zeros(13), np.zeros((0, 13)), np.full((30, 13), np.nan), np.zeros((30, 12)), np.array([["a"]])]
)
def test_frames_of_other_shape_or_values_are_refused(toy_model: Path, frames: np.ndarray) -> None:
    recognizer = asr.Recognizer.load(toy_model)
    with pytest.raises(FeatureError):
        recognizer.recognize(frames=frames)
    assert next(iter(recognizer.recognize_all(frames=[frames]))).error is not None


def test_audio_and_frames_together_are_refused(toy_model: Path, toy_frames: dict[str, np.ndarray]) -> None:
    recognizer = asr.Recognizer.load(toy_model)
    given = next(iter(toy_frames.values()))
    with pytest.raises(asr.AsrError, match="frames="):
        recognizer.recognize("a.wav", frames=given)
    with pytest.raises(asr.AsrError, match="frames="):
        recognizer.recognize_all(["a.wav"], frames=[given])


def test_frames_of_no_utterance_are_refused(tiny_corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="nobody"):
        asr.train(
            tiny_corpus / "train", tiny_corpus / "lexicon.txt", tmp_path / "run", config=SETTINGS, jobs=1,
            frames={"nobody": np.zeros((20, 13))},
        )  # fmt: skip


@pytest.mark.slow
def test_given_mfccs_train_the_model_of_built_in_mfccs(tiny_corpus: Path, tmp_path: Path) -> None:
    without_audio = tmp_path / "data"
    without_audio.mkdir()
    for name in ("text", "utt2spk"):
        shutil.copy(tiny_corpus / "train" / name, without_audio)
    frames = own_frames(tiny_corpus / "train", load_config(SETTINGS).features)
    options = {"config": SETTINGS, "jobs": 1}
    of_audio = asr.train(tiny_corpus / "train", tiny_corpus / "lexicon.txt", tmp_path / "audio", **options)
    of_frames = asr.train(without_audio, tiny_corpus / "lexicon.txt", tmp_path / "frames", frames=frames, **options)
    for name in ("model", "gmm"):
        expected, _ = load_arrays(tmp_path / "audio" / f"{name}.safetensors")
        found, _ = load_arrays(tmp_path / "frames" / f"{name}.safetensors")
        assert expected.keys() == found.keys()
        for key, array in expected.items():
            np.testing.assert_array_equal(found[key], array, err_msg=key)
    name = next(iter(frames))
    assert of_frames.load().recognize(frames=frames[name]).text == of_audio.load().recognize(frames=frames[name]).text
    again = asr.train(without_audio, tiny_corpus / "lexicon.txt", tmp_path / "frames", frames=frames, **options)
    assert again.outcome == of_frames.outcome
    changed = {**frames, name: frames[name] + 1}
    with pytest.raises(asr.AsrError, match="data"):
        asr.train(without_audio, tiny_corpus / "lexicon.txt", tmp_path / "frames", frames=changed, **options)
