"""What `asr decode` says of a file's sound is said from Python as well."""

import warnings

import numpy as np
import pytest
import soundfile

from asr import AudioWarning, Recognizer
from tests.toy_corpus import RATE

SILENCE = np.zeros(RATE, np.float32)


@pytest.fixture(scope="module")
def recognizer(toy_model) -> Recognizer:
    return Recognizer.load(toy_model)


@pytest.fixture(scope="module")
def samples(toy_corpus) -> np.ndarray:
    return soundfile.read(min((toy_corpus / "audio" / "test").glob("*.wav")), dtype="float32")[0]


def codes(result) -> list[str]:
    return [one.code for one in result.warnings]


def test_digital_silence_has_no_words_under_any_grammar_and_a_warning(recognizer, tmp_path):
    soundfile.write(tmp_path / "silent.wav", SILENCE, RATE)
    for grammar in (None, "one", ["NO NO"]):
        for audio in ((SILENCE, RATE), tmp_path / "silent.wav"):
            with pytest.warns(AudioWarning, match="digital silence"):
                result = recognizer.with_grammar(grammar).recognize(audio)
            assert (result.text, codes(result), result.error) == ("", ["silent"], None)
            assert result.to_dict()["warnings"][0]["code"] == "silent"


def test_the_command_finds_no_words_in_digital_silence_either(toy_model, tmp_path, asr):
    soundfile.write(tmp_path / "silent.wav", SILENCE, RATE)
    status, out, err = asr(
        "decode", "--model", toy_model, "--out", tmp_path, "--grammar", "one", tmp_path / "silent.wav", "-j", 1
    )
    assert (status, out.split()) == (0, ["silent"]), err


def test_channels_of_opposite_phase_have_a_warning_on_the_line_that_asked(recognizer, samples):
    with pytest.warns(AudioWarning, match=r"^array: channels of opposite phase") as told:
        result = recognizer.recognize(np.stack([samples, -samples], axis=1), rate=RATE)
    assert codes(result) == ["opposite-phase"]
    assert told[0].filename == __file__


def test_telephone_speech_at_the_rate_of_a_wide_model_has_a_warning(recognizer, samples, monkeypatch):
    config = recognizer.model.front_end.config.model_copy(update={"sample_rate": 16000})
    monkeypatch.setattr(recognizer.model.front_end, "config", config)
    import soxr

    with pytest.warns(AudioWarning, match="as if converted from 8000 Hz"):
        assert codes(recognizer.recognize(soxr.resample(samples, RATE, 16000), rate=16000)) == ["band-limited"]


@pytest.mark.parametrize("options", [{}, {"jobs": 2}, {"speakers": "one"}, {"speakers": "one", "adapt": True}])
def test_of_many_each_has_its_own_warnings(recognizer, samples, options):
    audios = [(samples, RATE), (SILENCE, RATE), (samples, RATE)]
    with pytest.warns(AudioWarning, match="digital silence") as told:
        results = list(recognizer.recognize_all(audios, **options))
    assert [codes(result) for result in results] == [[], ["silent"], []]
    assert results[0].text and not results[1].text
    assert [warning.filename for warning in told if warning.category is AudioWarning] == [__file__]


def test_alignment_warns_too_and_ordinary_audio_does_not(recognizer, samples):
    with pytest.warns(AudioWarning, match="digital silence"):
        recognizer.align((SILENCE, RATE), "NO")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert recognizer.recognize(samples, rate=RATE).warnings == ()
