"""What is said of audio before it is recognized."""

from asr.corpus.audio_stats import Measured
from asr.features.config import FeatureConfig
from asr.recognition.audio_checks import sound_warnings


def test_telephone_speech_at_a_higher_rate_is_named_once_for_all_files():
    measured = {f"u{n}": Measured(16000, 16000, cut_off=4000.0 if n else None) for n in range(5)}
    (line,) = sound_warnings(measured, FeatureConfig())
    assert line.startswith("4 utterances (u1, u2, u3 and 1 more): no energy above 4000 Hz")
    assert "sample_rate = 8000" in line


def test_a_model_of_telephone_speech_has_nothing_to_complain_of_it():
    assert sound_warnings({"u": Measured(16000, 16000, cut_off=4000.0)}, FeatureConfig(sample_rate=8000)) == []
