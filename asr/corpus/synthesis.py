"""Synthetic corpora: artificial speakers read naval resource-management sentences (the quickstart), or digits.

Speech is from eSpeak NG (`asr.corpus.synth_espeak`), sentences are from `data/naval/sentences.txt`; microphone, noise
and levels are simulated. The result is a directory with Kaldi data directories `train` and `test`, audio as 16-bit
FLAC, lexicon, word-pair grammar, and a description in `corpus.json`.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from asr.corpus.data_directory import Utterance
from asr.corpus.synth_channel import NOISES, add_noise, draw_noise, tilt_spectrum, to_int16
from asr.corpus.synth_espeak import SAMPLE_RATE, Sentence, speak
from asr.corpus.synth_sentences import SentenceGrammar, read_sentence_grammar
from asr.corpus.synth_speakers import Speaker, draw_speakers
from asr.corpus.writing import write_data_directory
from asr.util.errors import ConfigError, CorpusError
from asr.util.files import atomic_directory
from asr.util.resources import resource
from discriminants.util.paths import exists

RESOURCES = ("lexicon.txt", "wordpair.txt", "phones.txt")

Interval = tuple[float, float]


@dataclass(frozen=True)
class CorpusSettings:
    """Size and difficulty of the corpus; every interval is (lowest, highest) of a uniform distribution.

    Attributes
    ----------
    seed : int
        The same settings (and versions of eSpeak NG, soxr and libsndfile) give identical bytes.
    n_train_speakers, n_train_utterances, n_test_speakers, n_test_utterances : int
        Speakers, and utterances over all speakers.
    snr_db : interval
        Signal-to-noise ratio in dB, drawn for each utterance; the main control of difficulty.
    noises : tuple of str
        Kinds of noise, one drawn for each utterance; see `asr.corpus.synth_speakers.draw_noise`.
    rate_wpm, pitch, pitch_range : interval
        Of the speakers: words per minute, and eSpeak NG's scales of 0 to 100.
    rate_spread, pitch_spread : float
        Relative standard deviation of a speaker's rate and pitch over utterances.
    spectral_slope : interval
        Coefficient of each speaker's microphone filter; see `asr.corpus.synth_speakers.tilt_spectrum`.
    level_db : interval
        Root mean square below full scale of each utterance.
    silence_s : interval
        Seconds of noise before and after the speech.
    sample_rate : int
        Rate of the audio files in Hz.
    """

    seed: int = 0
    n_train_speakers: int = 30
    n_train_utterances: int = 600
    n_test_speakers: int = 10
    n_test_utterances: int = 180
    snr_db: Interval = (11.0, 27.0)
    noises: tuple[str, ...] = NOISES
    rate_wpm: Interval = (150.0, 210.0)
    pitch: Interval = (35.0, 65.0)
    pitch_range: Interval = (30.0, 70.0)
    rate_spread: float = 0.06
    pitch_spread: float = 0.08
    spectral_slope: Interval = (-0.3, 0.3)
    level_db: Interval = (-36.0, -20.0)
    silence_s: Interval = (0.15, 0.4)
    sample_rate: int = 16000

    def digest(self) -> str:
        """Return eight hexadecimal digits that identify the settings."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == Interval and not value[0] <= value[1]:
                raise ConfigError(f"{field.name} = {value} is not an interval. Expected (lowest, highest)")
        for split in ("train", "test"):
            speakers, utterances = (
                getattr(self, f"n_{split}_speakers"),
                getattr(self, f"n_{split}_utterances"),
            )
            if not 1 <= speakers <= utterances:
                raise ConfigError(
                    f"n_{split}_speakers = {speakers} and n_{split}_utterances = {utterances}; "
                    "there must be at least one speaker, and an utterance for each"
                )
        unknown = set(self.noises) - set(NOISES)
        if unknown or not self.noises:
            raise ConfigError(f"noises = {self.noises}; choose one or more of {', '.join(NOISES)}")


@dataclass(frozen=True, slots=True)
class _Session:
    """Sentences of one speaker: an independent unit of parallel work."""

    speaker: Speaker
    split: str
    sentences: tuple[tuple[str, ...], ...]
    seed: np.random.SeedSequence

    def utterance_id(self, number: int) -> str:
        return f"{self.speaker.id}-{number + 1:03d}"

    def audio(self, number: int) -> str:
        return f"audio/{self.split}/{self.speaker.id}/{self.utterance_id(number)}.flac"


def make_naval_corpus(
    directory: Path | str,
    settings: CorpusSettings | None = None,
    *,
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Path:
    """Create the corpus in `directory`, which must not exist; it is created atomically.

    Parameters
    ----------
    directory : path
    settings : CorpusSettings, optional
    jobs : int
        Number of parallel speakers; the corpus does not depend on it.
    progress : callable, optional
        Called with the number of utterances written so far.

    Returns
    -------
    Path
        `directory`, with `train/`, `test/`, `audio/`, `lexicon.txt`, `wordpair.txt`, `phones.txt` and `corpus.json`.

    Raises
    ------
    CorpusError
        If `directory` exists, or eSpeak NG is missing or fails.
    """
    settings = settings or CorpusSettings()
    directory = Path(directory)
    if exists(directory):
        raise CorpusError(f"{directory}: exists already; remove it, or name another directory for the corpus")
    grammar = read_sentence_grammar(resource("naval", "sentences.txt"))
    sessions = _plan(settings, grammar)
    with atomic_directory(directory) as temporary:
        with ThreadPoolExecutor(max_workers=jobs) as pool:
            # The threads wait for the processes of `speak`; they share no random generator.
            running = [pool.submit(_record, session, temporary, settings) for session in sessions]
            n_written = 0
            try:
                for future in running:
                    n_written += future.result()
                    if progress is not None:
                        progress(n_written)
            finally:
                for future in running:
                    future.cancel()
        for split in ("train", "test"):
            own = [session for session in sessions if session.split == split]
            gender = {session.speaker.id: session.speaker.gender for session in own}
            write_data_directory(temporary / split, _utterances(own, temporary), gender)
        for name in RESOURCES:
            shutil.copyfile(resource("naval", name), temporary / name)
        _describe(temporary / "corpus.json", settings, sessions)
    return directory


def make_digit_corpus(
    directory: Path | str,
    *,
    n_train_speakers: int = 8,
    n_test_speakers: int = 4,
    n_utterances: int = 15,
    max_digits: int = 3,
    snr_db: Interval = (10.0, 25.0),
    seed: int = 0,
) -> Path:
    """Create a corpus of spoken digits at 8000 Hz in `directory`, which must not exist; it is created atomically.

    Parameters
    ----------
    directory : path
    n_train_speakers, n_test_speakers : int
        Artificial speakers with different voices.
    n_utterances : int
        Utterances of each speaker.
    max_digits : int
        Digits of the longest utterances; all lengths from 1 are equally likely.
    snr_db : (float, float)
        Lowest and highest signal-to-noise ratio in dB, drawn for each utterance.
    seed : int
        The same arguments (and versions of eSpeak NG, soxr and libsndfile) give identical bytes.

    Returns
    -------
    Path
        `directory`, with `train/`, `test/`, `audio/` and `lexicon.txt`.

    Raises
    ------
    CorpusError
        If `directory` exists, or eSpeak NG is missing or fails.
    """
    directory = Path(directory)
    if exists(directory):
        raise CorpusError(f"{directory}: exists already; remove it, or name another directory for the corpus")
    settings = CorpusSettings(sample_rate=8000, snr_db=snr_db)
    lexicon = resource("digits", "lexicon.txt")
    words = sorted({line.split()[0] for line in lexicon.read_text(encoding="utf-8").splitlines()})
    with atomic_directory(directory) as temporary:
        for number, (split, n_speakers) in enumerate((("train", n_train_speakers), ("test", n_test_speakers))):
            rng = np.random.default_rng([seed, number])
            ranges = {"rate": settings.rate_wpm, "pitch": settings.pitch, "pitch_range": settings.pitch_range}
            sessions = [
                _Session(
                    speaker,
                    split,
                    tuple(
                        tuple(rng.choice(words, rng.integers(1, max_digits + 1)).tolist()) for _ in range(n_utterances)
                    ),
                    np.random.SeedSequence([seed, number, place]),
                )
                for place, speaker in enumerate(draw_speakers(split, n_speakers, rng, **ranges))
            ]
            for session in sessions:
                _record(session, temporary, settings)
            write_data_directory(temporary / split, _utterances(sessions, temporary))
        shutil.copyfile(lexicon, temporary / "lexicon.txt")
    return directory


def _plan(settings: CorpusSettings, grammar: SentenceGrammar) -> list[_Session]:
    seeds = np.random.SeedSequence(settings.seed).spawn(2)
    said: set[tuple[str, ...]] = set()
    sessions = []
    for split, seed in zip(("train", "test"), seeds, strict=True):
        rng = np.random.default_rng(seed)
        n_speakers = getattr(settings, f"n_{split}_speakers")
        n_utterances = getattr(settings, f"n_{split}_utterances")
        speakers = draw_speakers(
            split,
            n_speakers,
            rng,
            rate=settings.rate_wpm,
            pitch=settings.pitch,
            pitch_range=settings.pitch_range,
        )
        bounds = np.arange(n_speakers + 1) * n_utterances // n_speakers
        for speaker, n_own, own_seed in zip(speakers, np.diff(bounds), seed.spawn(n_speakers), strict=True):
            sentences = tuple(_new_sentence(grammar, said, rng) for _ in range(n_own))
            sessions.append(_Session(speaker, split, sentences, own_seed))
    return sessions


def _new_sentence(grammar: SentenceGrammar, said: set[tuple[str, ...]], rng: np.random.Generator) -> tuple[str, ...]:
    while (sentence := grammar.draw(rng)) in said:
        continue
    said.add(sentence)
    return sentence


def _record(session: _Session, directory: Path, settings: CorpusSettings) -> int:
    import soundfile

    recordings = record_speaker(session.speaker, session.sentences, settings, session.seed)
    for number, samples in enumerate(recordings):
        path = directory / session.audio(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, samples, settings.sample_rate, subtype="PCM_16")
    return len(recordings)


def record_speaker(
    speaker: Speaker, sentences: Sequence[Sequence[str]], settings: CorpusSettings, seed: np.random.SeedSequence
) -> list[np.ndarray]:
    """Return a speaker's recordings: int16 (n_samples,) at `settings.sample_rate` for each sentence.

    Raises CorpusError if eSpeak NG is missing or fails.
    """
    import soxr

    rng = np.random.default_rng(seed)
    requests = [
        Sentence(
            " ".join(sentence).lower() + ".",
            rate=_vary(speaker.rate / speaker.formants, settings.rate_spread, (80, 450), rng),
            pitch=_vary(speaker.pitch, settings.pitch_spread, (0, 99), rng),
            range=round(speaker.pitch_range),
        )
        for sentence in sentences
    ]
    slope = rng.uniform(*settings.spectral_slope)
    speech = []
    for samples in speak(speaker.voice, requests):
        # Resampling shifts formants and pitch; the requested rate compensates for the change of duration.
        dry = soxr.resample(np.frombuffer(samples, "<i2") / 32768, SAMPLE_RATE * speaker.formants, settings.sample_rate)
        speech.append(tilt_spectrum(dry, slope))
    return [_soil(dry, speech, settings, rng) for dry in speech]


def _vary(value: float, spread: float, bounds: tuple[int, int], rng: np.random.Generator) -> int:
    return int(np.clip(round(value * (1 + spread * rng.standard_normal())), *bounds))


def _soil(
    dry: np.ndarray, speech: Sequence[np.ndarray], settings: CorpusSettings, rng: np.random.Generator
) -> np.ndarray:
    """Add silence and noise to a recording, and set its level; int16."""
    before, after = (int(rng.uniform(*settings.silence_s) * settings.sample_rate) for _ in range(2))
    signal = np.pad(dry, (before, after))
    kind = settings.noises[rng.integers(len(settings.noises))]
    noise = draw_noise(kind, len(signal), settings.sample_rate, rng, speech)
    noisy = add_noise(signal, noise, rng.uniform(*settings.snr_db), speech_power=float(np.mean(dry**2)))
    return to_int16(noisy, rng.uniform(*settings.level_db))


def _utterances(sessions: Iterable[_Session], directory: Path) -> Iterator[Utterance]:
    for session in sessions:
        for number, sentence in enumerate(session.sentences):
            audio = directory / session.audio(number)
            yield Utterance(session.utterance_id(number), session.speaker.id, sentence, audio=audio)


def _describe(path: Path, settings: CorpusSettings, sessions: Sequence[_Session]) -> None:
    description = {
        "settings": asdict(settings),
        "speakers": [asdict(session.speaker) for session in sessions],
    }
    path.write_text(json.dumps(description, indent=1, sort_keys=True) + "\n", encoding="utf-8")
