"""Changed copies of audio: played faster or slower, with noise mixed in, and with silence before and after it.

Speed perturbation (Ko et al. 2015, "Audio augmentation for speech recognition") resamples, so that tempo, pitch and
formants change together. Noise is drawn for every utterance from its id alone: neither the number of jobs nor the
order of the utterances changes what is heard behind it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import soxr

from asr.corpus.audio import read_audio
from asr.corpus.list_file import read_list, refuse_pipe
from asr.util.errors import ConfigError, CorpusError, FeatureError
from asr.util.unicode_text import existing_form
from discriminants.util.paths import is_file


def change_speed(signal: np.ndarray, factor: float, rate: int) -> np.ndarray:
    """The signal, float32 (n,) at `rate` Hz, played `factor` times as fast: float32 of about n / factor samples."""
    if not 0.5 <= factor <= 2.0:
        raise ConfigError(f"a speed of {factor:g} is not between 0.5 and 2; 0.9 and 1.1 are usual")
    return np.asarray(soxr.resample(signal, rate * factor, rate, quality="HQ"), np.float32)


def mix_noise(signal: np.ndarray, noise: np.ndarray, snr_db: float) -> np.ndarray:
    """Add noise so that the signal's energy is `snr_db` decibels above it.

    Parameters
    ----------
    signal, noise : float32 (n,)
        Both energies are taken over all n samples.

    Raises
    ------
    FeatureError
        If the noise is silent, so that no gain brings it to any level.
    """
    noise_energy = float(np.square(noise, dtype=np.float64).sum())
    if noise_energy == 0.0:
        raise FeatureError(f"the noise is silent over all {len(noise)} samples; a piece with sound in it is needed")
    signal_energy = float(np.square(signal, dtype=np.float64).sum())
    gain = np.sqrt(signal_energy / noise_energy) * 10.0 ** (-snr_db / 20.0)
    return (signal + gain * noise).astype(np.float32)


@dataclass(frozen=True)
class NoiseClips:
    """Recordings of noise: their ids, sorted, and audio files."""

    ids: tuple[str, ...]
    paths: tuple[Path, ...]

    def piece(self, utterance_id: str, n_samples: int, *, rate: int, seed: int = 0) -> np.ndarray:
        """Noise for an utterance, float32 (n_samples,): clip and first sample are drawn from id and seed.

        A clip that ends before the utterance does begins again. Raises CorpusError when it cannot be read.
        """
        digest = hashlib.sha256(f"{seed} {utterance_id}".encode()).digest()
        random = np.random.default_rng(int.from_bytes(digest[:8], "little"))
        clip = _samples(self.paths[int(random.integers(len(self.paths)))], rate)
        first = int(random.integers(len(clip)))
        return clip[(first + np.arange(n_samples)) % len(clip)]

    def digest(self) -> str:
        """SHA-256 (hexadecimal) of the ids and of the size of each file."""
        rows = (f"{name} {path.name} {path.stat().st_size}\n" for name, path in zip(self.ids, self.paths, strict=True))
        return hashlib.sha256("".join(rows).encode()).hexdigest()


def read_noise(directory: Path) -> NoiseClips:
    """Read `directory/noise.scp`: an id and a path a line, relative to the directory.

    Raises
    ------
    CorpusError
        When the list cannot be read, has no clips or a pipe, or a file is missing.
    """
    entries = read_list(directory / "noise.scp")
    if not entries:
        raise CorpusError(f"{directory / 'noise.scp'}: names no clips; give at least one line 'ID PATH'.")
    for name, entry in entries.items():
        refuse_pipe(directory / "noise.scp", entry.line, name, entry.value)
        if not _is_file(existing_form(directory / entry.value)):
            raise CorpusError(
                f"{directory / 'noise.scp'}:{entry.line}: the clip '{name}' should be {directory / entry.value}, "
                "which is no file."
            )
    ids = tuple(sorted(entries))
    # Absolute, for workers that began in another directory.
    return NoiseClips(ids, tuple(existing_form(directory / entries[name].value).absolute() for name in ids))


def _is_file(path: Path) -> bool:
    try:
        return is_file(path)
    except OSError:  # such as a name that no file can have
        return False


@dataclass(frozen=True)
class Augmentation:
    """One change of every utterance of a corpus.

    Attributes
    ----------
    speed : float
        How many times as fast; 1 for as it was.
    noise : NoiseClips, optional
        Mixed in after the speed is changed, at `snr_db` decibels.
    snr_db : float
    seed : int
        Of the draw of noise.
    silence_ms : float
        Digital silence before and after all that, each at most a twentieth of the signal, so that a short recording is
        not mostly silence.
    """

    speed: float = 1.0
    noise: NoiseClips | None = None
    snr_db: float = 20.0
    seed: int = 0
    silence_ms: float = 0.0

    @property
    def name(self) -> str:
        """`x0.9`, `10dB`, `100ms` or such as `x0.9-10dB`: what the names of copies end with."""
        parts = [f"x{self.speed:g}"] if self.speed != 1.0 else []
        parts += [f"{self.snr_db:g}dB"] if self.noise is not None else []
        parts += [f"{self.silence_ms:g}ms"] if self.silence_ms else []
        return "-".join(parts)

    def apply(self, signal: np.ndarray, utterance_id: str, rate: int) -> np.ndarray:
        """The changed signal, float32, of a signal, float32 (n,), at `rate` Hz."""
        if self.speed != 1.0:
            signal = change_speed(signal, self.speed, rate)
        if self.noise is not None:
            noise = self.noise.piece(utterance_id, len(signal), rate=rate, seed=self.seed)
            signal = mix_noise(signal, noise, self.snr_db)
        if self.silence_ms:
            signal = np.pad(signal, round(min(rate * self.silence_ms / 1000, len(signal) / 20)))
        return signal


def carried_over(states: np.ndarray, n_frames: int, speed: float) -> np.ndarray:
    """States of a copy's `n_frames` frames from those of its original (T,): frame t takes that of t * speed."""
    return states[np.minimum(np.rint(np.arange(n_frames) * speed).astype(np.int64), len(states) - 1)]


def between_silences(states: np.ndarray, n_frames: int, silence: Sequence[int]) -> np.ndarray:
    """States of a copy's `n_frames` frames, as many before as after those of its original (T,).

    Those before and after pass through the states of silence. Where the original has none (-1), neither has the copy.
    """
    if states[0] < 0:
        return np.full(n_frames, -1, states.dtype)
    more = n_frames - len(states)
    before, after = (
        np.array(silence, states.dtype)[np.arange(n) * len(silence) // max(1, n)] for n in (more // 2, more - more // 2)
    )
    return np.concatenate([before, states, after])


@lru_cache(maxsize=256)
def _samples(path: Path, rate: int) -> np.ndarray:
    samples = read_audio(path, rate=rate)
    samples.flags.writeable = False  # shared by all who ask
    return samples
