"""Modified copies of audio: changed speed, added noise, and added silence.

Speed perturbation (Ko et al. 2015, "Audio augmentation for speech recognition") resamples, so tempo, pitch and formants
change together. The noise of an utterance depends only on its id and a seed, not on the number of jobs or the order of
the utterances.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import soxr

from asr.corpus.audio import read_audio
from asr.corpus.list_file import read_list_file, refuse_pipe
from asr.util.errors import ConfigError, CorpusError, FeatureError, Issue, report
from asr.util.unicode_text import existing_form
from discriminants.util.paths import is_file


def change_speed(signal: np.ndarray, factor: float, rate: int) -> np.ndarray:
    """Resample a signal, float32 (n,) at `rate` Hz, to `factor` times its speed: about n / factor samples, float32."""
    if not 0.5 <= factor <= 2.0:
        raise ConfigError(f"the speed {factor:g} is out of range. Expected 0.5 to 2, such as 0.9 and 1.1")
    return np.asarray(soxr.resample(signal, rate * factor, rate, quality="HQ"), np.float32)


def mix_noise(signal: np.ndarray, noise: np.ndarray, snr_db: float) -> np.ndarray:
    """Add noise at a signal-to-noise ratio of `snr_db` decibels, from the energies of all n samples.

    `signal`, `noise` and the result are float32 (n,). Raises FeatureError if the noise is silent.
    """
    noise_energy = float(np.square(noise, dtype=np.float64).sum())
    if noise_energy == 0.0:
        raise FeatureError(f"all {len(noise)} samples of the noise are 0. Expected noise with sound")
    signal_energy = float(np.square(signal, dtype=np.float64).sum())
    gain = np.sqrt(signal_energy / noise_energy) * 10.0 ** (-snr_db / 20.0)
    return (signal + gain * noise).astype(np.float32)


@dataclass(frozen=True)
class NoiseClips:
    """Recordings of noise: sorted ids and audio files."""

    ids: tuple[str, ...]
    paths: tuple[Path, ...]

    def piece(self, utterance_id: str, n_samples: int, *, rate: int, seed: int = 0) -> np.ndarray:
        """Return noise for an utterance, float32 (n_samples,); recording and start depend on id and seed.

        Short recordings are repeated. Raises CorpusError if the recording cannot be read.
        """
        digest = hashlib.sha256(f"{seed} {utterance_id}".encode()).digest()
        random = np.random.default_rng(int.from_bytes(digest[:8], "little"))
        clip = _samples(self.paths[int(random.integers(len(self.paths)))], rate)
        first = int(random.integers(len(clip)))
        return clip[(first + np.arange(n_samples)) % len(clip)]

    def digest(self) -> str:
        """Return the SHA-256 (hexadecimal) of the ids and file sizes."""
        rows = (f"{name} {path.name} {path.stat().st_size}\n" for name, path in zip(self.ids, self.paths, strict=True))
        return hashlib.sha256("".join(rows).encode()).hexdigest()


def read_noise(directory: Path) -> NoiseClips:
    """Read `directory/noise.scp`: an id and a path per line, relative to the directory.

    Raises CorpusError if the list cannot be read, is empty or has a pipe, or a file is missing.
    """
    clips = read_clips(directory)
    ids = tuple(sorted(clips))
    # Absolute, for workers that started in another directory.
    return NoiseClips(ids, tuple(clips[name][1].absolute() for name in ids))


def read_clips(directory: Path, issues: list[Issue] | None = None) -> dict[str, tuple[int, Path]]:
    """Return the line and the file of each clip in `directory/noise.scp`.

    Faulty lines and missing files are collected in `issues`, or raise CorpusError without `issues`.
    """
    listed = directory / "noise.scp"
    given = read_list_file(listed, issues=issues)
    if not given.n_lines and not issues:
        report(Issue("empty-list", "no clips. Expected 'ID PATH' for each clip", path=listed), CorpusError, issues)
    clips = {}
    for name, (line, value) in given.entries.items():
        path = existing_form(directory / value)
        if refuse_pipe(listed, line, name, value, issues):
            continue
        if _is_file(path):
            clips[name] = line, path
        else:
            message = f"the clip '{name}' is missing: {path} is not a file"
            report(Issue("noise", message, path=listed, line=line), CorpusError, issues)
    return clips


def _is_file(path: Path) -> bool:
    try:
        return is_file(path)
    except OSError:  # such as an invalid file name
        return False


@dataclass(frozen=True)
class Augmentation:
    """One modification of every utterance of a corpus."""

    speed: float = 1.0  # factor; 1 for no change
    noise: NoiseClips | None = None  # added after the change of speed
    snr_db: float = 20.0  # signal-to-noise ratio in decibels
    seed: int = 0  # for drawing noise
    silence_ms: float = 0.0  # digital silence before and after, each at most 1/20 of the signal

    @property
    def name(self) -> str:
        """Suffix of the copies' names: `x0.9`, `10dB`, `100ms` or, for example, `x0.9-10dB`."""
        parts = [f"x{self.speed:g}"] if self.speed != 1.0 else []
        parts += [f"{self.snr_db:g}dB"] if self.noise is not None else []
        parts += [f"{self.silence_ms:g}ms"] if self.silence_ms else []
        return "-".join(parts)

    def apply(self, signal: np.ndarray, utterance_id: str, rate: int) -> np.ndarray:
        """Return the modified signal, float32, of a signal, float32 (n,), at `rate` Hz."""
        if self.speed != 1.0:
            signal = change_speed(signal, self.speed, rate)
        if self.noise is not None:
            noise = self.noise.piece(utterance_id, len(signal), rate=rate, seed=self.seed)
            signal = mix_noise(signal, noise, self.snr_db)
        if self.silence_ms:
            signal = np.pad(signal, round(min(rate * self.silence_ms / 1000, len(signal) / 20)))
        return signal


def carried_over(states: np.ndarray, n_frames: int, speed: float) -> np.ndarray:
    """Map states of the original (T,) to the `n_frames` frames of a copy: frame t takes the state of t * speed."""
    return states[np.minimum(np.rint(np.arange(n_frames) * speed).astype(np.int64), len(states) - 1)]


def between_silences(states: np.ndarray, n_frames: int, silence: Sequence[int]) -> np.ndarray:
    """Return states of a copy's `n_frames` frames: those of the original (T,), with equal silence before and after.

    Added frames pass through the states of silence. Without states in the original (-1), the copy has none.
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
    samples.flags.writeable = False  # shared by all callers
    return samples
