"""Real corpora have no errors, and only warnings that are true of them."""

from pathlib import Path

import pytest

from asr.training.config import TrainingConfig
from asr.validation import Report, validate

pytestmark = pytest.mark.corpus


def validated(folder: Path, split: str, rate: int = 16000, test: str | None = None) -> Report:
    config = TrainingConfig()
    config = config.model_copy(update={"features": config.features.model_copy(update={"sample_rate": rate})})
    tests = [] if test is None else [folder / test]
    return validate(folder / split, folder / "lexicon.txt", config, tests=tests)


def test_fsdd_has_its_six_speakers_in_both_sets(speech_data: Path) -> None:
    report = validated(speech_data / "fsdd", "train", 8000, "test")
    assert report.counts == {"shared-speaker": 6} and not report.errors
    assert (report.summary.usable, report.summary.speakers, report.summary.words) == (2700, 6, 2700)


def test_an4_has_nothing_to_find(speech_data: Path) -> None:
    report = validated(speech_data / "an4", "train", test="test")
    assert report.findings == ()
    assert report.summary.seconds == pytest.approx(0.705 * 3600, rel=0.01)
    assert report.summary.words == 5442


def test_the_audio_of_an4_has_many_speakers_of_one_utterance(speech_data: Path) -> None:
    report = validated(speech_data / "an4", "audio_train", test="audio_test")
    assert report.counts == {"single-utterance": 1, "unheard-phone": 1} and not report.errors
    assert any("21 of 29 speakers (" in finding.message for finding in report.findings)


@pytest.mark.slow
def test_speechocean_has_nothing_to_find(speech_data: Path) -> None:
    report = validated(speech_data / "speechocean762", "train", test="test")
    assert report.findings == ()
    assert report.summary.coverage == 1.0
