"""What speech is like in training, as a small mixture: tells how far a speaker lies off, whatever was said.

The mean of a few words says more of their phones than of their speaker. Under a mixture of the frames of all speakers,
each normalized by its own, every frame counts as an offset from the components that it is likely to come from; what
remains is the speaker and the microphone (Sankar and Lee, 1996, "A maximum-likelihood approach to stochastic matching
for robust speech recognition", with a Gaussian prior on the offset).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from asr.features.mfcc import LOUDER_FRAMES
from asr.features.small_mixture import STEPS, SmallMixture, fit_mixture

N_COMPONENTS = 32
MAX_OF_SPEAKER = 4_000  # to estimate an offset from; with as many the speaker's own mean counts more
CORRELATION = 5.0
"""Neighbouring frames are alike: so many count as one."""
MIN_SPREAD = 1e-3
"""Variance of speakers' means beside that of frames: of differences, whose means are all alike, and of one speaker."""
_FLOOR = 0.01  # least variance, of one
_HIGHEST, _HALVINGS = 100.0, 40  # bounds of a quantile, in deviations, and steps towards it


@dataclass(frozen=True)
class BackgroundModel(SmallMixture):
    """A mixture with diagonal covariances of frames whose speakers have mean 0 and deviation 1.

    Attributes
    ----------
    weights, means, variances : float32
        As of `SmallMixture`.
    spread : float32 (n_features,)
        Variance of the means of speakers, beside that of a speaker's frames.
    """

    spread: np.ndarray

    def offset(self, frames: np.ndarray) -> np.ndarray:
        """How far the frames of a speaker lie off those of all others: the most probable offset, float64 (n_features,).

        `frames`, (n_frames, n_features), have been normalized by the mean of all speakers and the usual deviation of
        one. Without frames it is 0.
        """
        frames = _some(frames)
        found = np.zeros(frames.shape[1])
        for _ in range(STEPS):
            found = self._pulled(self.posteriors(frames - found), frames)
        return found

    def offset_and_scale(self, frames: np.ndarray, n_frames: int, weight: float) -> tuple[np.ndarray, np.ndarray]:
        """The offset b and the scale a, float64 (n_features,) each, under which a (frames - b) are likeliest.

        The diagonal map of Gales (1998, "Maximum likelihood linear transformations for HMM-based speech recognition"),
        with the prior of `offset` for b and `weight` frames that are just like the mixture beside the speaker's own
        for a. Which sounds were said, and how much of the recordings is a pause, changes neither but by chance.

        Parameters
        ----------
        frames : (n, n_features)
            Frames of the speaker, as for `offset`; evenly chosen from all.
        n_frames : int
            How many there are of the speaker.
        weight : float
            Above 0.
        """
        frames = _some(frames)
        share = n_frames / max(1, len(frames))
        offset, scale = np.zeros(frames.shape[1]), np.ones(frames.shape[1])
        means, precisions = self.means.astype(np.float64), 1.0 / self.variances.astype(np.float64)
        between = self.weights.astype(np.float64) @ (np.square(means) * precisions)
        for _ in range(2 * STEPS):
            occupied = self.posteriors(scale * (frames - offset))
            offset = self._pulled(occupied, scale * frames) / scale
            centred = frames - offset
            # (n + t) ln a - a^2 squares / 2 + a products is to be largest
            squares = share * ((occupied.T @ np.square(centred)) * precisions).sum(axis=0) + weight * (1.0 + between)
            products = share * ((occupied.T @ centred) * means * precisions).sum(axis=0) + weight * between
            roots = np.sqrt(np.square(products) + 4.0 * squares * (n_frames + weight))
            scale = (products + roots) / (2.0 * squares)
        return offset, scale

    def level(self, frames: np.ndarray, column: int) -> float:
        """How much louder the frames of a speaker are than the mixture's, by the 95 % quantiles of a column.

        0 without frames.
        """
        if not len(frames):
            return 0.0
        deviations = np.sqrt(self.variances[:, column].astype(np.float64))
        means, low, high = self.means[:, column].astype(np.float64), -_HIGHEST, _HIGHEST
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            above = float(self.weights @ ndtr((means - middle) / deviations))
            low, high = (middle, high) if above > 1.0 - LOUDER_FRAMES else (low, middle)
        return float(np.quantile(frames[:, column], LOUDER_FRAMES)) - low

    def composition_shift(self, frames: np.ndarray) -> float:
        """How far the mean of a speaker's frames lies off for what they are made of: more pauses, fewer of one sound.

        `frames`, (n, n_features), are those of the speaker after `offset_and_scale`. The mean of the components, each
        with the frames' share of it in place of training's; its mean square over the features.
        """
        frames = _some(frames)
        if not len(frames):
            return 0.0
        more = self.posteriors(frames).mean(axis=0) - self.weights
        return float(np.mean(np.square(more @ self.means)))

    def _pulled(self, occupied: np.ndarray, frames: np.ndarray) -> np.ndarray:
        """The most probable offset where every frame comes from the components in these shares."""
        precisions = 1.0 / self.variances.astype(np.float64)
        counts = occupied.sum(axis=0)
        pull = ((occupied.T @ frames - counts[:, None] * self.means) * precisions).sum(axis=0) / CORRELATION
        certainty = (counts[:, None] * precisions).sum(axis=0) / CORRELATION
        found: np.ndarray = pull / (certainty + 1.0 / self.spread)
        return found


def _some(frames: np.ndarray) -> np.ndarray:
    """As many frames as an offset is estimated from, evenly chosen, float64."""
    return frames[:: -(-len(frames) // MAX_OF_SPEAKER) or 1].astype(np.float64)


def fit_background(frames: np.ndarray, speaker_means: np.ndarray) -> BackgroundModel:
    """Learn from frames (n_frames, n_features) whose speakers have mean 0 and deviation 1.

    `speaker_means` (n_speakers, n_features) are the means before that, about the mean of all and in deviations of a
    speaker. Components are split in two until there are 32, or fewer where there are few frames.
    """
    mixture = fit_mixture(frames, N_COMPONENTS, _FLOOR)
    known = np.square(speaker_means - speaker_means.mean(axis=0)).sum(axis=0)
    spread = np.maximum(known / max(1, len(speaker_means) - 1), MIN_SPREAD)
    return BackgroundModel(
        *(part.astype(np.float32) for part in (mixture.weights, mixture.means, mixture.variances, spread))
    )
