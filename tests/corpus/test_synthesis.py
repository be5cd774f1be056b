"""The quickstart's corpus: reproducible, well-formed, and of voices that the test speakers do not share."""

import re
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr.corpus import synth_espeak
from asr.corpus.data_directory import read_data_directory
from asr.corpus.synth_channel import NOISES, add_noise, draw_noise, tilt_spectrum, to_int16
from asr.corpus.synth_espeak import Sentence, speak
from asr.corpus.synth_speakers import ACCENTS, VARIANTS, draw_speakers
from asr.corpus.synthesis import CorpusSettings, make_naval_corpus, record_speaker
from asr.lexicon.reading import read_lexicon
from asr.util.errors import ConfigError, CorpusError
from asr.util.resources import resource

needs_espeak = pytest.mark.skipif(
    find_spec("espeakng_loader") is None, reason="espeakng-loader (extra synth) is not installed"
)
TINY = CorpusSettings(n_train_speakers=3, n_train_utterances=5, n_test_speakers=2, n_test_utterances=3)
BOUNDS = {"rate": (150.0, 200.0), "pitch": (30.0, 70.0), "pitch_range": (30.0, 70.0)}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return make_naval_corpus(tmp_path_factory.mktemp("naval") / "corpus", TINY)


def contents(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@needs_espeak
def test_the_corpus_is_the_same_byte_for_byte_for_any_number_of_jobs(corpus, tmp_path):
    assert contents(make_naval_corpus(tmp_path / "again", TINY, jobs=3)) == contents(corpus)


@needs_espeak
def test_the_corpus_reads_back_as_kaldi_data_directories(corpus):
    lexicon = read_lexicon(corpus / "lexicon.txt")
    for split, n_speakers, n_utterances in (("train", 3, 5), ("test", 2, 3)):
        data = read_data_directory(corpus / split)
        assert (len(data.speakers), len(data.utterances), data.problems) == (n_speakers, n_utterances, ())
        assert not lexicon.out_of_vocabulary(utterance.words for utterance in data.utterances)
        assert set(data.gender) == set(data.speakers)
        for utterance in data.utterances:
            info = soundfile.info(utterance.audio)
            assert (info.samplerate, info.channels, info.format, info.subtype) == (16000, 1, "FLAC", "PCM_16")
            assert 0.5 < info.duration < 15


@needs_espeak
def test_every_utterance_is_counted_once_as_progress(tmp_path):
    counts = []
    make_naval_corpus(tmp_path / "corpus", TINY, progress=counts.append)
    assert counts == sorted(counts)
    assert counts[-1] == TINY.n_train_utterances + TINY.n_test_utterances


@needs_espeak
def test_an_existing_directory_is_left_alone(tmp_path):
    with pytest.raises(CorpusError, match="exists already"):
        make_naval_corpus(tmp_path, TINY)


@pytest.mark.slow
@needs_espeak
def test_no_voice_is_unknown_silent_or_clipped():
    sentence = Sentence("show the rudder of the oldest cruiser in the northern strait.")
    plain = speak("en-us", [sentence])
    for variants in VARIANTS.values():
        for variant in (*variants["m"], *variants["f"]):
            samples = speak(f"en-us+{variant}", [sentence])
            assert samples != plain, f"{variant} is no variant"
            peak = np.abs(np.frombuffer(samples[0], "<i2").astype(int)).max()
            assert 3000 < peak < 32700, variant
    for accents in ACCENTS.values():
        for accent in accents:
            assert speak(accent, [sentence])


@needs_espeak
def test_an_unknown_voice_is_refused():
    with pytest.raises(CorpusError, match=r"'nonesuch'.*voice"):
        speak("nonesuch", [Sentence("go.")])


@needs_espeak
def test_the_lexicon_agrees_roughly_with_what_is_spoken():
    program = (
        "import ctypes, sys, espeakng_loader as e\n"
        "library = ctypes.CDLL(e.get_library_path())\n"
        "library.espeak_Initialize(2, 0, str(e.get_data_path()).encode(), 0x8000)\n"
        "library.espeak_SetVoiceByName(b'en-us')\n"
        "library.espeak_TextToPhonemes.restype = ctypes.c_char_p\n"
        "for word in sys.stdin.read().split():\n"
        "    text = ctypes.c_char_p(word.lower().encode())\n"
        "    sys.stdout.buffer.write(library.espeak_TextToPhonemes(ctypes.byref(text), 1, 2) + b'\\n')\n"
    )
    lexicon = read_lexicon(resource("naval", "lexicon.txt"))
    words = "\n".join(lexicon.words).encode()
    run = subprocess.run([sys.executable, "-c", program], input=words, capture_output=True, check=True)
    spoken = run.stdout.decode().splitlines()
    agreeing = sum(
        consonants(ipa) in {skeleton(phones) for phones in lexicon.pronunciations[word]}
        for word, ipa in zip(lexicon.words, spoken, strict=True)
    )
    assert agreeing > 0.95 * len(lexicon.words)


IPA = dict(zip("tʃ dʒ ð ɡ h ŋ ʃ θ ʒ ɾ".split(), "CH JH DH G HH NG SH TH ZH T".split(), strict=True))
IPA |= {letter: letter.upper() for letter in "bdfklmnpstvwz"}


def consonants(ipa: str) -> tuple[str, ...]:
    """The consonants of an IPA string as ARPAbet; r and y, which blend with vowels, are left out."""
    return tuple(IPA[sound] for sound in re.findall("|".join(IPA), ipa))


def skeleton(phones: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(phone for phone in phones if phone in IPA.values())


def test_a_missing_synthesiser_is_an_error_that_says_what_to_install(monkeypatch):
    monkeypatch.setattr(synth_espeak, "find_spec", lambda name: None)
    with pytest.raises(CorpusError, match=r'pip install "hybrid-asr\[synth\]"'):
        speak("en-us", [Sentence("go.")])


def test_training_and_test_share_neither_accent_nor_variant():
    assert not set(ACCENTS["train"]) & set(ACCENTS["test"])
    variants = [{name for names in VARIANTS[split].values() for name in names} for split in ("train", "test")]
    assert not variants[0] & variants[1]


@pytest.mark.parametrize("split", ["train", "test"])
def test_voices_repeat_only_when_they_must(split):
    n_accents = len(ACCENTS[split])
    n_speakers = 2 * min(map(len, VARIANTS[split].values())) * n_accents
    speakers = draw_speakers(split, n_speakers, np.random.default_rng(1), **BOUNDS)
    assert len({speaker.voice for speaker in speakers}) == n_speakers


def test_every_speaker_has_a_voice_and_a_vocal_tract():
    speakers = draw_speakers("all", 92, np.random.default_rng(1), **BOUNDS, formants=(0.9, 1.1))
    assert {speaker.voice.partition("+")[0] for speaker in speakers} == {*ACCENTS["train"], *ACCENTS["test"]}
    assert len({speaker.voice for speaker in speakers}) == len({speaker.formants for speaker in speakers}) == 92
    formants = [speaker.formants for speaker in speakers]
    assert 0.9 <= min(formants) < 0.92 < 1.08 < max(formants) <= 1.1


@needs_espeak
def test_a_shorter_vocal_tract_moves_the_spectrum_and_not_the_rate():
    quiet = CorpusSettings(snr_db=(90.0, 90.0), rate_spread=0.0, pitch_spread=0.0, silence_s=(0.0, 0.0))
    speaker = draw_speakers("train", 1, np.random.default_rng(0), **BOUNDS)[0]
    sentences = [("show", "every", "ship", "in", "the", "harbor")]

    def recorded(formants: float) -> np.ndarray:
        longer = replace(speaker, formants=formants)
        return record_speaker(longer, sentences, quiet, np.random.SeedSequence(0))[0].astype(float)

    def centroid(samples: np.ndarray) -> float:
        power = np.abs(np.fft.rfft(samples)) ** 2
        return float(power @ np.arange(len(power)) / power.sum() * quiet.sample_rate / len(samples))

    plain, short = recorded(1.0), recorded(1.2)
    assert len(short) == pytest.approx(len(plain), rel=0.06)
    assert centroid(short) > 1.08 * centroid(plain)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"snr_db": (20.0, 10.0)}, "snr_db"),
        ({"n_test_speakers": 5, "n_test_utterances": 4}, "n_test_speakers = 5"),
        ({"noises": ("purple",)}, "purple"),
        ({"noises": ()}, "noises"),
    ],
)
def test_impossible_settings_are_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        CorpusSettings(**wrong)


def speechlike(rng: np.random.Generator, n_samples: int = 16000) -> np.ndarray:
    return tilt_spectrum(rng.standard_normal(n_samples), 0.9)


@pytest.mark.parametrize("kind", NOISES)
def test_noise_has_unit_power_so_that_the_ratio_is_as_asked(kind):
    rng = np.random.default_rng(2)
    speech = speechlike(rng)
    noise = draw_noise(kind, 16000, 16000, rng, [speech, speechlike(rng, 7000)])
    noisy = add_noise(speech, noise, 12.0, speech_power=float(np.mean(speech**2)))
    measured = 10 * np.log10(np.mean(speech**2) / np.mean((noisy - speech) ** 2))
    assert noise.shape == (16000,)
    assert measured == pytest.approx(12.0)


def test_noises_have_the_spectra_of_their_names():
    rng = np.random.default_rng(3)
    speech = [speechlike(rng, 64000)]
    low, high = slice(500, 1500), slice(20000, 24000)

    def slope(kind: str) -> float:
        power = np.abs(np.fft.rfft(draw_noise(kind, 64000, 16000, rng, speech))) ** 2
        return float(10 * np.log10(power[low].mean() / power[high].mean()))

    assert slope("white") == pytest.approx(0, abs=1)
    # 912 Hz: the harmonic mean of the low band's frequencies.
    assert slope("pink") == pytest.approx(10 * np.log10(22000 / 912), abs=1.5)
    power = np.abs(np.fft.rfft(speech[0])) ** 2
    assert slope("speech-shaped") == pytest.approx(10 * np.log10(power[low].mean() / power[high].mean()), abs=1)


def test_an_unknown_noise_is_refused():
    with pytest.raises(ValueError, match="purple"):
        draw_noise("purple", 10, 16000, np.random.default_rng(0), [np.ones(10)])


def test_levels_are_as_asked_unless_the_peak_would_clip():
    quiet = to_int16(np.random.default_rng(4).standard_normal(8000), -30.0)
    assert 20 * np.log10(np.sqrt(np.mean(quiet.astype(float) ** 2)) / 32767) == pytest.approx(-30.0, abs=0.05)
    spike = np.zeros(8000)
    spike[100] = 1.0
    assert np.abs(to_int16(spike, -20.0)).max() == round(0.99 * 32767)
