"""A corpus for tests that need speech-like audio fast and without a synthesiser: six artificial phones, five
words, 8 kHz.

Every voiced phone is a pulse train through two resonances, every unvoiced one noise through one resonance; a
speaker has a pitch and a vocal tract length. A GMM-HMM recognizes it with next to no errors.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import soundfile
from numpy.fft import irfft, rfft, rfftfreq

from asr.corpus.data_directory import Utterance
from asr.corpus.writing import write_data_directory

RATE = 8000
LEXICON = {
    "ONE": ("W", "AH", "N"),
    "TWO": ("S", "UW"),
    "SEVEN": ("S", "AH", "N"),
    "NO": ("N", "UW"),
    "WISE": ("W", "IY", "S"),
}
# Phone: voiced or not, resonance frequencies in Hz, level.
PHONES: dict[str, tuple[bool, tuple[float, ...], float]] = {
    "AH": (True, (720.0, 1250.0), 1.0),
    "IY": (True, (280.0, 2300.0), 0.8),
    "UW": (True, (320.0, 850.0), 0.8),
    "N": (True, (220.0, 1500.0), 0.4),
    "W": (True, (300.0, 650.0), 0.3),
    "S": (False, (3300.0,), 0.3),
}


def make_toy_corpus(
    directory: Path | str,
    n_speakers: int = 4,
    n_utterances: int = 24,
    seed: int = 0,
    *,
    n_test_speakers: int = 2,
    n_test_utterances: int = 10,
    words_per_utterance: tuple[int, int] = (2, 5),
) -> Path:
    """Write `train/`, `test/` (other speakers), `lexicon.txt` and 16-bit WAV files; the numbers are those of
    each split.

    With the default sizes there is about a minute of audio, made in less than a second. Every utterance has
    silence before and after, and between most words; returns `directory`.
    """
    directory = Path(directory)
    rng = np.random.default_rng(seed)
    for split, speakers, utterances in (
        ("train", n_speakers, n_utterances),
        ("test", n_test_speakers, n_test_utterances),
    ):
        write_data_directory(
            directory / split,
            list(_record_split(directory, split, speakers, utterances, words_per_utterance, rng)),
            {f"{split}{number}": "mf"[number % 2] for number in range(speakers)},
        )
    lines = [f"{word} {' '.join(phones)}\n" for word, phones in sorted(LEXICON.items())]
    (directory / "lexicon.txt").write_text("".join(lines), encoding="utf-8")
    return directory


def _record_split(
    directory: Path,
    split: str,
    n_speakers: int,
    n_utterances: int,
    n_words: tuple[int, int],
    rng: np.random.Generator,
) -> Iterator[Utterance]:
    audio = directory / "audio" / split
    audio.mkdir(parents=True, exist_ok=True)
    voices = [(rng.uniform(90, 240), rng.uniform(0.92, 1.1)) for _ in range(n_speakers)]
    for number in range(n_utterances):
        speaker = number % n_speakers
        words = tuple(str(word) for word in rng.choice(sorted(LEXICON), rng.integers(n_words[0], n_words[1] + 1)))
        path = audio / f"{split}{speaker}-{number:03d}.wav"
        soundfile.write(path, _say(words, *voices[speaker], rng), RATE, subtype="PCM_16")
        yield Utterance(path.stem, f"{split}{speaker}", words, audio=path)


def _say(words: tuple[str, ...], pitch: float, tract: float, rng: np.random.Generator) -> np.ndarray:
    """Samples of full scale 1, float64."""
    pieces = [_silence(0.15, 0.3, rng)]
    for word in words:
        pieces += [_phone(phone, pitch, tract, rng) for phone in LEXICON[word]]
        if rng.random() < 0.7:
            pieces.append(_silence(0.05, 0.2, rng))
    signal = np.concatenate([*pieces, _silence(0.15, 0.3, rng)])
    return np.clip(0.15 * rng.uniform(0.7, 1.4) * signal + 0.001 * rng.standard_normal(len(signal)), -1, 1)


def _silence(shortest: float, longest: float, rng: np.random.Generator) -> np.ndarray:
    return np.zeros(int(rng.uniform(shortest, longest) * RATE))


def _phone(name: str, pitch: float, tract: float, rng: np.random.Generator) -> np.ndarray:
    """60 to 150 ms of one phone, faded in and out over 8 ms."""
    voiced, resonances, level = PHONES[name]
    n_samples = int(rng.uniform(0.06, 0.15) * RATE)
    if voiced:
        source = np.zeros(n_samples)
        source[np.arange(rng.uniform(0, 1), n_samples, RATE / (pitch * rng.uniform(0.95, 1.05))).astype(int)] = 1.0
    else:
        source = rng.standard_normal(n_samples)
    frequency = rfftfreq(n_samples, 1 / RATE)
    response = sum(1 / (1 + ((frequency - centre * tract) / 90.0) ** 2) for centre in resonances)
    sound = irfft(rfft(source) * (response + 0.01), n_samples)
    fade = int(0.008 * RATE)
    sound[:fade] *= np.linspace(0, 1, fade)
    sound[-fade:] *= np.linspace(1, 0, fade)
    return level * sound / np.sqrt(np.mean(sound**2))
