"""Simulated recording channel: microphone filter, background noise and level."""

from collections.abc import Sequence

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
