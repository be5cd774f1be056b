"""The sampling rate that suits a corpus."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr.corpus.data_directory import Utterance
from asr.corpus.rates import chosen_rate, rate_of_corpus


@pytest.mark.parametrize(
    ("seconds", "rate"),
    [
        ({8000: 10.0}, 8000),
        ({16000: 10.0}, 16000),
        ({44100: 10.0}, 16000),
        ({11025: 10.0}, 11025),
        ({8000: 5.0, 16000: 5.0}, 8000),
        ({8000: 0.5, 16000: 9.5}, 16000),
        ({8000: 0.5, 16000: 4.5, 48000: 5.0}, 16000),
    ],
)
def test_rate_is_reached_by_nine_tenths_of_the_audio(seconds, rate):
    assert chosen_rate(seconds).rate == rate


def test_mixed_rates_are_said_in_one_line():
    line = str(chosen_rate({8000: 30.0, 16000: 10.0}))
    assert "\n" not in line
    assert "sample_rate = 8000" in line
    assert "75 % at 8000 Hz, 25 % at 16000 Hz" in line


def test_files_that_cannot_be_read_have_no_say_in_the_rate(tmp_path: Path):
    soundfile.write(tmp_path / "good.wav", np.zeros(100), 11025)
    (tmp_path / "bad.wav").write_bytes(b"no audio")
    utterances = [Utterance(name, "s", None, audio=tmp_path / f"{name}.wav") for name in ("good", "bad", "missing")]
    found = rate_of_corpus(utterances)
    assert found is not None
    assert found.rate == 11025
    assert rate_of_corpus(utterances[1:]) is None
