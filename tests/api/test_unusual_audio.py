"""What `asr decode` says of a file's sound is said from Python as well."""

import warnings

import numpy as np
import pytest
import soundfile
import soxr

from asr import AudioWarning
from tests.toy_corpus import RATE

SILENCE = np.zeros(RATE, np.float32)


@pytest.fixture(scope="module")
def samples(wavs) -> np.ndarray:
    return soundfile.read(wavs[0], dtype="float32")[0]


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


def test_channels_of_opposite_phase_have_a_warning_on_the_line_that_asked(recognizer, samples):
    with pytest.warns(AudioWarning, match=r"^array: channels of opposite phase") as texts:
        result = recognizer.recognize(np.stack([samples, -samples], axis=1), rate=RATE)
    assert codes(result) == ["opposite-phase"]
    assert texts[0].filename == __file__


def test_channels_that_hold_different_sounds_have_a_warning(recognizer, samples):
    noise = np.random.default_rng(0).normal(0, samples.std(), len(samples)).astype(np.float32)
    with pytest.warns(AudioWarning, match="^array: two channels.*remix 1"):
        assert codes(recognizer.recognize(np.stack([samples, noise], axis=1), rate=RATE)) == ["channels-differ"]


def test_telephone_speech_at_the_rate_of_a_wide_model_has_a_warning(recognizer, samples, monkeypatch):
    config = recognizer.model.front_end.config.model_copy(update={"sample_rate": 16000})
    monkeypatch.setattr(recognizer.model.front_end, "config", config)
    with pytest.warns(AudioWarning, match="as if converted from 8000 Hz"):
        assert codes(recognizer.recognize(soxr.resample(samples, RATE, 16000), rate=16000)) == ["band-limited"]


@pytest.mark.parametrize("options", [{}, {"jobs": 2}, {"speakers": "one"}, {"speakers": "one", "adapt": True}])
def test_of_many_each_has_its_own_warnings(recognizer, samples, options):
    audios = [(samples, RATE), (SILENCE, RATE), (samples, RATE)]
    with pytest.warns(AudioWarning, match="digital silence") as texts:
        results = list(recognizer.recognize_all(audios, **options))
    assert [codes(result) for result in results] == [[], ["silent"], []]
    assert results[0].text and not results[1].text
    assert [warning.filename for warning in texts if warning.category is AudioWarning] == [__file__]


@pytest.fixture(scope="module")
def tape(samples, tmp_path_factory):
    """Twenty seconds of speech in one file."""
    path = tmp_path_factory.mktemp("tape") / "tape.wav"
    soundfile.write(path, np.resize(samples, 20 * RATE), RATE)
    return path


TAPE = "20 s of audio, but the longest sentence of the grammar has 2 words"


def test_recording_too_long_for_the_grammar_has_a_warning(recognizer, samples, tape):
    short = recognizer.with_grammar(["NO", "ONE TWO"])
    for options in ({}, {"speakers": "one"}):
        with pytest.warns(AudioWarning, match=rf"tape\.wav: {TAPE}"):
            results = list(short.recognize_all([tape, (samples, RATE)], **options))
        assert [codes(result) for result in results] == [["few-words"], []]
    for grammar in (None, "loop", 4):
        assert recognizer.with_grammar(grammar).recognize(tape).warnings == ()


def test_the_command_says_so_once_and_of_the_longest(toy_model, tape, samples, tmp_path, asr, caplog):
    (tmp_path / "sentences").write_text("NO\nONE TWO\n")
    for name, seconds in (("tape-2", 17), ("short", 2)):
        soundfile.write(tmp_path / f"{name}.wav", np.resize(samples, seconds * RATE), RATE)
    decode = ["decode", "--model", toy_model, "--out", tmp_path / "out", "-j", 1, tape, *tmp_path.glob("*.wav")]
    assert asr(*decode, "--grammar", tmp_path / "sentences")[0] == 0
    assert len([line for line in caplog.messages if line.startswith("tape: 20 s of audio")]) == 1
    assert "tape-2" not in caplog.text
    caplog.clear()
    assert asr(*decode)[0] == 0
    assert "s of audio" not in caplog.text


def test_alignment_warns_too_and_ordinary_audio_does_not(recognizer, samples):
    with pytest.warns(AudioWarning, match="digital silence"):
        recognizer.align((SILENCE, RATE), "NO")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert recognizer.recognize(samples, rate=RATE).warnings == ()
