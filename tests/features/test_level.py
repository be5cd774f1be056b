"""The level of recordings and the settings that depend on it."""

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr import AudioWarning, Recognizer
from asr.acoustic.model_file import load_model, save_model
from asr.acoustic.model_metadata import Provenance
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.level import depends_on_level, utterance_levels
from asr.features.mfcc import mfcc
from asr.training.config import TrainingConfig


@pytest.mark.parametrize("energy_first", [False, True])
@pytest.mark.parametrize("gain_db", [0.0, -20.0, -60.0])
def test_utterance_levels_of_a_sine_are_its_power(gain_db: float, energy_first: bool) -> None:
    config = FeatureConfig(energy_first=energy_first)
    sine = 32768 * 10 ** (gain_db / 20) * np.sin(2 * np.pi * 440 * np.arange(16_000) / 16_000)
    table = FrameTable.from_utterances(["u"], ["s"], [mfcc(sine, config)])
    levels = utterance_levels(table, config)
    assert levels is not None
    np.testing.assert_allclose(levels, gain_db - 3.01, atol=0.1)


def test_utterance_levels_without_energy_are_unknown() -> None:
    config = FeatureConfig(energy="c0")
    table = FrameTable.from_utterances(["u"], ["s"], [np.zeros((5, 13), np.float32)])
    assert utterance_levels(table, config) is None


def test_depends_on_level_defaults_of_training_do_not() -> None:
    defaults = TrainingConfig().features
    assert not depends_on_level(defaults)
    for change in ({"dynamic_range_db": 0.0}, {"normalize": "corpus"}):
        assert depends_on_level(defaults.model_copy(update=change))


@pytest.mark.parametrize(("gain", "warned"), [(1.0, False), (0.03, True)])
def test_decode_level_far_from_training_warns(
    toy_model: Path, toy_corpus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, gain: float, warned: bool
) -> None:
    model = load_model(toy_model)
    assert model.trained_on is not None and model.trained_on.level_db is not None
    assert not depends_on_level(model.front_end.config)
    model.front_end.config = model.front_end.config.model_copy(update={"dynamic_range_db": 0.0})
    save_model(tmp_path / "model", model)
    samples, rate = soundfile.read(sorted((toy_corpus / "audio" / "test").glob("*.wav"))[0])
    soundfile.write(tmp_path / "quiet.wav", gain * samples, rate, subtype="FLOAT")
    with caplog.at_level(logging.WARNING, logger="asr"):
        Recognizer.load(tmp_path / "model").decode(tmp_path / "out", audio=[tmp_path / "quiet.wav"])
    assert any("level of" in message for message in caplog.messages) == warned
    recognizer = Recognizer.load(tmp_path / "model")
    if warned:
        with pytest.warns(AudioWarning, match="level"):
            result = recognizer.recognize(tmp_path / "quiet.wav")
        assert [fault.code for fault in result.warnings] == ["level"]
    unknown = Provenance(utterances=1, speakers=1, words=1, seconds=1.0, version="0")
    save_model(tmp_path / "unknown", replace(model, trained_on=unknown))
    assert not Recognizer.load(tmp_path / "unknown").recognize(tmp_path / "quiet.wav").warnings
