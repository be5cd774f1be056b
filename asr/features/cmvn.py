"""Normalization of frames by mean and deviation.

Those of each speaker have a prior from training; silent recordings are ignored.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.mfcc import LOUDER_FRAMES, NATURAL
from asr.features.plp import COMPRESSION
from asr.features.speaker_background import MAX_OF_SPEAKER, BackgroundModel, fit_background

_CONSTANT = 1e-6  # a deviation below this fraction of the mean is rounding: the column is constant
Normalizers = Mapping[str, tuple[np.ndarray, np.ndarray]]
"""Mean and deviation of every speaker, float32 (n,)."""
USUAL_SHIFT = 0.003
"""Typical shift of a speaker's mean, in squared deviations, due to the composition of the frames. Above it the moments
have less weight than the matched estimate, below it more. Speakers similar to training have a third of it; those with
twice the pauses have two to ten times."""
QUIETER_BY = 30.0
"""dB by which the louder frames of a recording without speech lie below those of the speaker's others."""


class Moments:
    """Mean and variance of frames, merged block by block in float64 (Chan, Golub and LeVeque, 1979)."""

    def __init__(self, dimension: int):
        self.count = 0
        self.mean = np.zeros(dimension)
        self.scatter = np.zeros(dimension)

    def add(self, frames: np.ndarray) -> None:
        """Add frames (T, dimension)."""
        if not len(frames):
            return
        mean = frames.mean(axis=0, dtype=np.float64)
        scatter = np.square(frames - mean).sum(axis=0)
        total = self.count + len(frames)
        shift = mean - self.mean
        self.scatter += scatter + np.square(shift) * (self.count * len(frames) / total)
        self.mean += shift * (len(frames) / total)
        self.count = total

    def normalizer(self) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and deviation, float32 (dimension,); a constant column has deviation 1 and becomes 0."""
        deviation = np.sqrt(self.scatter / max(self.count, 1))
        constant = deviation <= _CONSTANT * np.maximum(np.abs(self.mean), _CONSTANT)
        return self.mean.astype(np.float32), np.where(constant, 1.0, deviation).astype(np.float32)


def normalize(frames: np.ndarray, mean: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Return (frames - mean) / deviation, float32 (T, D)."""
    return (frames - mean) / deviation


class SpeakerFrames:
    """The frames of a table by speaker: static features with deltas from `with_deltas`.

    A recording is left out if all its frames are equal (digital silence), unless all of the speaker's are. It is also
    left out if its louder frames lie 30 dB below those of the speaker's others (their upper median).
    """

    def __init__(self, static: FrameTable, config: FeatureConfig, with_deltas: Callable[[np.ndarray], np.ndarray]):
        self.static = static
        self.with_deltas = with_deltas
        by_speaker: dict[str, list[int]] = {speaker: [] for speaker in static.speakers}
        for number, speaker in enumerate(static.speakers):
            by_speaker[speaker].append(number)
        self.numbers = {speaker: _with_voice(static, own, config) for speaker, own in by_speaker.items()}

    @cached_property
    def moments(self) -> dict[str, Moments]:
        """Moments of every speaker's frames."""
        n_features = self.with_deltas(np.zeros((1, self.static.n_features), np.float32)).shape[1]
        found = {speaker: Moments(n_features) for speaker in self.numbers}
        for speaker, numbers in self.numbers.items():
            for number in numbers:
                found[speaker].add(self.with_deltas(self.static.utterance(number)))
        return found

    def some(self, speaker: str, most: int) -> np.ndarray:
        """Return about `most` evenly spaced frames of a speaker, or all if there are fewer."""
        n_frames = sum(len(self.static.utterance(number)) for number in self.numbers[speaker])
        step = -(-n_frames // most) or 1
        parts = [self.with_deltas(self.static.utterance(number))[::step] for number in self.numbers[speaker]]
        return np.concatenate(parts)


@dataclass(frozen=True)
class SpeakerPrior:
    """Distribution of speakers in training, for speakers with little speech."""

    mean: np.ndarray  # float32 (n,); of all frames
    deviation: np.ndarray  # float32 (n,); of frames about the mean of their speaker
    background: BackgroundModel

    POSITIVE: ClassVar[tuple[str, ...]] = ("prior_deviation", "prior_weights", "prior_variances", "prior_spread")
    """Names of the arrays with positive values only."""

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return all arrays by name."""
        own = self.background
        return {
            "prior_mean": self.mean,
            "prior_deviation": self.deviation,
            "prior_weights": own.weights,
            "prior_means": own.means,
            "prior_variances": own.variances,
            "prior_spread": own.spread,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "SpeakerPrior":
        """Rebuild from the arrays of `to_arrays`, after a check of shapes and values."""
        mean, deviation, *background = (arrays[name] for name in cls.shapes(0, 0))
        return cls(mean, deviation, BackgroundModel(*background))

    @staticmethod
    def shapes(n_features: int, n_components: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of every array."""
        one, each = (n_features,), (n_components, n_features)
        return {
            "prior_mean": one,
            "prior_deviation": one,
            "prior_weights": (n_components,),
            "prior_means": each,
            "prior_variances": each,
            "prior_spread": one,
        }

    def normalizer(
        self, moments: Moments, frames: np.ndarray, weight: float, energy: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and deviation, float32 (n,), of a speaker with these moments and frames (T, n).

        Maximum a posteriori (Gauvain and Lee, 1994, equations 24 and 25), with independent means and variances: with
        `weight` t and n frames, (t m0 + n m) / (t + n), and the variances likewise. The prior's mean m0 is the mean of
        all speakers plus the offset of the frames from the background. `energy` is the column that changes with the
        recording's gain; its level has no prior.
        """
        level, standard = self._level(frames, energy)
        offset = level + self.background.offset(standard - level)
        total = weight + moments.count
        mean = (weight * (self.mean + self.deviation * offset) + moments.count * moments.mean) / total
        variance = (weight * np.square(self.deviation, dtype=np.float64) + moments.scatter) / total
        return mean.astype(np.float32), np.sqrt(variance).astype(np.float32)

    def _level(self, frames: np.ndarray, energy: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the frames' level above the background in `energy` (0 elsewhere), and the standardized frames."""
        standard = (frames - self.mean) / self.deviation
        level = np.zeros(len(self.mean))
        if energy is not None:
            level[energy] = self.background.level(standard, energy)
        return level, standard

    def matched(
        self, moments: Moments, frames: np.ndarray, weight: float, energy: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and deviation, float32 (n,), of a speaker whose frames may differ in composition from training.

        Moments depend on the proportion of pauses. The matched estimate therefore compares each frame with the mixture
        components that it probably comes from, and finds the mean and deviation under which the frames fit the
        background best. It is interpolated with the moments: its weight grows with the shift of the mean that the
        composition causes.

        `moments`: of all the speaker's frames. `frames`: some of them. `weight`: as in `normalizer`; also the weight,
        in frames, of the background's deviation. `energy`: as in `normalizer`.
        """
        level, standard = self._level(frames, energy)
        offset, scale = self.background.offset_and_scale(standard - level, moments.count, weight)
        offset = level + offset
        shift = self.background.composition_shift(scale * (standard - offset))
        trust = 1.0 / (1.0 + (shift / USUAL_SHIFT) ** 2)
        mean, deviation = self.normalizer(moments, frames, weight, energy)
        mean = trust * mean + (1.0 - trust) * (self.mean + self.deviation * offset)
        deviation = deviation**trust * (self.deviation / scale) ** (1.0 - trust)
        return mean.astype(np.float32), deviation.astype(np.float32)

    def normalizers(self, speakers: SpeakerFrames, config: FeatureConfig) -> Normalizers:
        """Return the normalizers of all speakers of a table."""
        one = self.matched if config.speaker_statistics == "matched" else self.normalizer
        energy = energy_column(speakers.static, config)
        return {
            speaker: one(moments, speakers.some(speaker, MAX_OF_SPEAKER), config.speaker_prior, energy)
            for speaker, moments in speakers.moments.items()
        }


def fit_prior(speakers: SpeakerFrames) -> SpeakerPrior:
    """Estimate the prior from the speakers of a training table."""
    moments = speakers.moments
    pooled = Moments(len(next(iter(moments.values())).mean))
    pooled.count = sum(own.count for own in moments.values())
    for own in moments.values():
        pooled.mean += own.mean * (own.count / max(pooled.count, 1))
        pooled.scatter += own.scatter
    mean, deviation = pooled.normalizer()
    share = max(1, MAX_OF_SPEAKER // max(1, len(moments) // 5))
    frames = []
    for speaker, own in moments.items():
        own_mean, own_deviation = own.normalizer()
        frames.append((speakers.some(speaker, share) - own_mean) / own_deviation)
    offsets = np.stack([(own.mean - mean) / deviation for own in moments.values()])
    return SpeakerPrior(mean, deviation, fit_background(np.concatenate(frames), offsets))


def energy_column(static: FrameTable, config: FeatureConfig) -> int | None:
    """Return the static feature that changes with the gain; None without one, or for other archived features."""
    if static.n_features != config.static_dimension:
        return None
    return config.energy_column


def _with_voice(static: FrameTable, numbers: list[int], config: FeatureConfig) -> list[int]:
    if len(numbers) < 2:
        return numbers
    varied = [number for number in numbers if _varies(static.utterance(number))] or numbers
    column = energy_column(static, config)
    if len(varied) < 2 or column is None:
        return varied
    levels = np.array([np.quantile(static.utterance(number)[:, column], LOUDER_FRAMES) for number in varied])
    of_c0 = COMPRESSION if config.kind == "plp" else np.sqrt(config.n_filters)
    unit = NATURAL * (of_c0 if config.energy == "c0" else 1.0)
    usual = np.sort(levels)[len(levels) // 2]
    return [number for number, level in zip(varied, levels, strict=True) if level >= usual - QUIETER_BY * unit]


def _varies(static: np.ndarray) -> bool:
    return len(static) < 2 or bool((static != static[0]).any())
