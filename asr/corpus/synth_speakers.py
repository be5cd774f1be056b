"""Artificial speakers: English accent, voice variant, vocal tract, speaking rate and pitch.

The splits "train" and "test" have disjoint accents and variants; "all" is the union of both.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.fft import irfft, rfft, rfftfreq

NOISES = ("white", "pink", "speech-shaped", "babble")

_BABBLE_VOICES = 6
_LOWEST_HZ = 50.0


def draw_noise(
    kind: str, n_samples: int, rate: int, rng: np.random.Generator, speech: Sequence[np.ndarray]
) -> np.ndarray:
    """Draw noise of unit power, float64 (n_samples,).

    Parameters
    ----------
    kind : str
        `white`; `pink`, with power 1/f above 50 Hz; `speech-shaped`, with the long-term spectrum of `speech`; `babble`,
        the sum of six time-reversed excerpts of `speech`, which have no words.
    n_samples : int
    rate : int
        Sampling rate in Hz.
    rng : Generator
    speech : sequence of float arrays
        Recordings without noise.
    """
    if kind == "babble":
        noise = sum((_excerpt(speech, n_samples, rng) for _ in range(_BABBLE_VOICES)), np.zeros(n_samples))
    elif kind == "white":
        noise = rng.standard_normal(n_samples)
    elif kind in NOISES:
        size = 1 << n_samples.bit_length()
        frequency = rfftfreq(size, 1 / rate)
        if kind == "pink":
            magnitude = 1 / np.sqrt(np.maximum(frequency, _LOWEST_HZ))
        else:
            centres, spectrum = _long_term_spectrum(speech, rate)
            magnitude = np.interp(frequency, centres, spectrum)
        noise = irfft(rfft(rng.standard_normal(size)) * magnitude, size)[:n_samples]
    else:
        raise ValueError(f"unknown noise {kind!r}; known are {', '.join(NOISES)}")
    return noise / np.sqrt(np.mean(noise**2))


def add_noise(signal: np.ndarray, noise: np.ndarray, snr_db: float, *, speech_power: float) -> np.ndarray:
    """Add `noise` (unit power) at `snr_db` below `speech_power`, the mean square of the speech in `signal`."""
    return signal + noise * np.sqrt(speech_power * 10 ** (-snr_db / 10))


def tilt_spectrum(signal: np.ndarray, slope: float) -> np.ndarray:
    """Apply the filter 1 + slope z^-1: low-pass for positive slopes, high-pass for negative ones."""
    return signal + slope * np.concatenate([[0.0], signal[:-1]])


def to_int16(signal: np.ndarray, level_db: float) -> np.ndarray:
    """Scale to a root mean square of `level_db` below full scale, or less to avoid clipping; int16."""
    gain = 10 ** (level_db / 20) / np.sqrt(np.mean(signal**2))
    gain = min(gain, 0.99 / np.max(np.abs(signal)))
    return np.round(signal * gain * 32767).astype(np.int16)


def _excerpt(speech: Sequence[np.ndarray], n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Return a time-reversed recording of unit power, from a random point, repeated to the given length."""
    recording = speech[int(rng.integers(len(speech)))]
    turned = np.roll(recording[::-1], rng.integers(len(recording)))
    return np.resize(turned, n_samples) / np.sqrt(np.mean(recording**2))


def _long_term_spectrum(speech: Sequence[np.ndarray], rate: int, n_bins: int = 257) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean magnitude spectrum over 32 ms frames (at 16 kHz): frequencies and magnitudes, each (n_bins,)."""
    size = 2 * (n_bins - 1)
    whole = np.concatenate(speech)
    frames = whole[: len(whole) // size * size].reshape(-1, size) * np.hanning(size)
    return rfftfreq(size, 1 / rate), np.sqrt(np.mean(np.abs(rfft(frames)) ** 2, axis=0))


# eSpeak NG's names of languages, and of variants in `voices/!v` without whispered and clipping ones.
ACCENTS: Mapping[str, tuple[str, ...]] = {
    "train": ("en-us", "en-gb-scotland", "en-gb-x-rp", "en-029", "en"),
    "test": ("en-us-nyc", "en-gb-x-gbcwmd", "en-gb-x-gbclan"),
}
VARIANTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "train": {
        "m": ("m1", "m3", "m5", "m7", "max", "adam", "robert", "Alex", "Lee", "Denis", "rob", "michel"),
        "f": ("f1", "f3", "f5", "aunty", "Andrea", "belinda", "shelby"),
    },
    "test": {"m": ("m2", "m4", "m6", "m8", "david", "Andy"), "f": ("f2", "f4", "linda", "Annie")},
}


@dataclass(frozen=True, slots=True)
class Speaker:
    """An artificial speaker; rate in words per minute, pitch and range on eSpeak NG's scale of 0 to 100.

    `formants` is a factor on the voice's formants and pitch, for the length of the vocal tract.
    """

    id: str
    gender: str
    voice: str
    rate: float
    pitch: float
    pitch_range: float
    formants: float = 1.0


def draw_speakers(
    split: str,
    n_speakers: int,
    rng: np.random.Generator,
    *,
    rate: tuple[float, float],
    pitch: tuple[float, float],
    pitch_range: tuple[float, float],
    formants: tuple[float, float] | None = None,
) -> tuple[Speaker, ...]:
    """Draw speakers of `split` ("train", "test" or "all"), alternating men and women.

    Rate, pitch, range and formants are uniform between the bounds. Without bounds, formants are the voices' own,
    without a random draw. For each sex, no voice is repeated before all combinations of variants and accents are used.
    """
    splits = tuple(ACCENTS) if split == "all" else (split,)
    accents = [str(accent) for accent in rng.permutation([accent for one in splits for accent in ACCENTS[one]])]
    variants = {
        sex: [str(name) for name in rng.permutation([name for one in splits for name in VARIANTS[one][sex]])]
        for sex in ("m", "f")
    }
    speakers = []
    for number in range(n_speakers):
        sex = "mf"[number % 2]
        speakers.append(
            Speaker(
                id=f"{split}{number + 1:03d}",
                gender=sex,
                voice=_voice(accents, variants[sex], number // 2),
                rate=float(rng.uniform(*rate)),
                pitch=float(rng.uniform(*pitch)),
                pitch_range=float(rng.uniform(*pitch_range)),
                formants=1.0 if formants is None else float(rng.uniform(*formants)),
            )
        )
    return tuple(speakers)


def _voice(accents: Sequence[str], variants: Sequence[str], turn: int) -> str:
    """Return the voice of a turn: advance accents and variants together, and shift accents when pairs would repeat."""
    shift = turn // math.lcm(len(accents), len(variants))
    return f"{accents[(turn + shift) % len(accents)]}+{variants[turn % len(variants)]}"
