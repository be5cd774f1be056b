"""Mean and deviation of every speaker's frames, held by a prior from training and undisturbed by silent recordings."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.normalization import Moments

QUIETER_BY = 30.0
"""dB by which the louder frames of a recording lie below those of the speaker's others when nobody speaks in it."""
_LOUDER_FRAMES = 0.95  # their quantile, so that a knock does not count as speech
_NATURAL = np.log(10.0) / 10.0  # natural logarithm of power, in a dB


@dataclass(frozen=True)
class SpeakerPrior:
    """What training says of a speaker before anything was heard of them.

    Attributes
    ----------
    mean, deviation : float32 (n,)
        Of all frames, and of frames about the mean of their speaker.
    weight : float
        The number of frames it counts as.
    """

    mean: np.ndarray
    deviation: np.ndarray
    weight: float

    def normalizer(self, moments: Moments) -> tuple[np.ndarray, np.ndarray]:
        """Mean and deviation, float32 (n,), of a speaker with these moments: the mode under a conjugate prior.

        Maximum a posteriori (Gauvain and Lee, 1994, equations 24 and 25), with independent means and variances: with
        t the weight and n frames, (t m0 + n m) / (t + n), and the variances likewise.
        """
        total = self.weight + moments.count
        mean = (self.weight * self.mean + moments.count * moments.mean) / total
        variance = (self.weight * np.square(self.deviation, dtype=np.float64) + moments.scatter) / total
        return mean.astype(np.float32), np.sqrt(variance).astype(np.float32)


def speaker_moments(
    static: FrameTable, config: FeatureConfig, dimension: int, with_deltas: Callable[[np.ndarray], np.ndarray]
) -> dict[str, Moments]:
    """Moments of the frames (n_frames, dimension) that `with_deltas` makes of static features, by speaker.

    A recording says nothing of a voice if all its frames are the same, as those of digital silence are, or if its
    louder ones lie 30 dB below those of the speaker's others (their upper median). It is left out, unless all of the
    speaker's recordings are of the first kind.
    """
    moments = {speaker: Moments(dimension) for speaker in static.speakers}
    by_speaker: dict[str, list[int]] = {speaker: [] for speaker in static.speakers}
    for number, speaker in enumerate(static.speakers):
        by_speaker[speaker].append(number)
    for speaker, numbers in by_speaker.items():
        for number in _with_voice(static, numbers, config):
            moments[speaker].add(with_deltas(static.utterance(number)))
    return moments


def pooled_prior(moments: dict[str, Moments]) -> tuple[np.ndarray, np.ndarray]:
    """Mean of all speakers' frames, and deviation of frames about their speaker's mean: float32 (n,)."""
    pooled = Moments(len(next(iter(moments.values())).mean))
    count = sum(own.count for own in moments.values())
    pooled.count = count
    pooled.mean = sum((own.count * own.mean for own in moments.values()), np.zeros_like(pooled.mean)) / max(count, 1)
    pooled.scatter = sum((own.scatter for own in moments.values()), np.zeros_like(pooled.mean))
    return pooled.normalizer()


def _with_voice(static: FrameTable, numbers: list[int], config: FeatureConfig) -> list[int]:
    varied = [number for number in numbers if _varies(static.utterance(number))] or numbers
    if len(varied) < 2 or static.n_features != config.static_dimension:  # of other archives nobody knows the energy
        return varied
    column = 0 if config.energy_first else -1
    levels = np.array([np.quantile(static.utterance(number)[:, column], _LOUDER_FRAMES) for number in varied])
    unit = _NATURAL * (np.sqrt(config.n_filters) if config.energy == "c0" else 1.0)
    usual = np.sort(levels)[len(levels) // 2]
    return [number for number, level in zip(varied, levels, strict=True) if level >= usual - QUIETER_BY * unit]


def _varies(static: np.ndarray) -> bool:
    return len(static) < 2 or bool((static != static[0]).any())
