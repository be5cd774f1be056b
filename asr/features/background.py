"""What speech is like in training, as a small mixture: tells how far a speaker lies off, whatever was said.

The mean of a few words says more of their phones than of their speaker. Under a mixture of the frames of all speakers,
each normalized by its own, every frame counts as an offset from the components that it is likely to come from; what
remains is the speaker and the microphone (Sankar and Lee, 1996, "A maximum-likelihood approach to stochastic matching
for robust speech recognition", with a Gaussian prior on the offset).
"""

from dataclasses import dataclass

import numpy as np

from asr.features.small_mixture import STEPS, SmallMixture, fit_mixture

N_COMPONENTS = 32
MOST_OF_SPEAKER = 4_000  # to estimate an offset from; with as many the speaker's own mean counts more
CORRELATION = 5.0
"""Neighbouring frames are alike: so many count as one."""
LEAST_SPREAD = 1e-3
"""Variance of speakers' means beside that of frames: of differences, whose means are all alike, and of one speaker."""
_FLOOR = 0.01  # least variance, of one


@dataclass(frozen=True)
class Background(SmallMixture):
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
        frames = frames[:: -(-len(frames) // MOST_OF_SPEAKER) or 1].astype(np.float64)
        precisions = 1.0 / self.variances.astype(np.float64)
        found = np.zeros(frames.shape[1])
        for _ in range(STEPS):
            occupied = self.posteriors(frames - found)
            counts = occupied.sum(axis=0)
            pull = ((occupied.T @ frames - counts[:, None] * self.means) * precisions).sum(axis=0) / CORRELATION
            certainty = (counts[:, None] * precisions).sum(axis=0) / CORRELATION
            found = pull / (certainty + 1.0 / self.spread)
        return found


def fit_background(frames: np.ndarray, speaker_means: np.ndarray) -> Background:
    """Learn from frames (n_frames, n_features) whose speakers have mean 0 and deviation 1.

    `speaker_means` (n_speakers, n_features) are the means before that, about the mean of all and in deviations of a
    speaker. Components are split in two until there are 32, or fewer where there are few frames.
    """
    mixture = fit_mixture(frames, N_COMPONENTS, _FLOOR)
    known = np.square(speaker_means - speaker_means.mean(axis=0)).sum(axis=0)
    spread = np.maximum(known / max(1, len(speaker_means) - 1), LEAST_SPREAD)
    return Background(
        *(part.astype(np.float32) for part in (mixture.weights, mixture.means, mixture.variances, spread))
    )
