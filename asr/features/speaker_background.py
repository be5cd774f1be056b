"""Background model of training speech as a small mixture, to estimate a speaker's offset independently of the words.

The mean of a few words depends more on their phones than on their speaker. Under a mixture of all speakers' normalized
frames, each frame is compared with the components that it probably comes from. The remaining offset is due to the
speaker and the microphone (Sankar and Lee, 1996, "A maximum-likelihood approach to stochastic matching for robust
speech recognition", with a Gaussian prior on the offset).

The small mixtures have diagonal covariances and are fitted quickly; `asr.alignment.pause_model` uses them, too.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from asr.features.mfcc import LOUDER_FRAMES

MIN_FRAMES = 50  # per component
MAX_FRAMES = 20_000  # for training, evenly chosen
_BLOCK = 8192  # frames per block of densities (80 s)
STEPS = 4  # of EM
_SPLIT = 0.2  # deviations by which the halves of a component are moved apart
N_COMPONENTS = 32
MAX_OF_SPEAKER = 4_000  # for estimating an offset; with more, the speaker's own mean dominates
CORRELATION = 5.0
"""Number of neighboring frames that count as one, because they are correlated."""
MIN_SPREAD = 1e-3
"""Minimum variance of speakers' means, relative to that of frames; for differences and for a single speaker."""
_FLOOR = 0.01  # smallest variance, relative to 1
_HIGHEST, _HALVINGS = 100.0, 40  # bounds of a quantile, in deviations, and bisection steps


@dataclass(frozen=True)
class SmallMixture:
    """A mixture of Gaussians with diagonal covariances."""

    weights: np.ndarray  # float (n_components,)
    means: np.ndarray  # float (n_components, n_features)
    variances: np.ndarray  # float (n_components, n_features)

    def joint(self, frames: np.ndarray) -> np.ndarray:
        """Return the log density of every component plus its log weight, float64 (n_frames, n_components).

        All densities here lack the constant -n_features / 2 log(2 pi).
        """
        precisions = 1.0 / self.variances.astype(np.float64)
        constant = np.log(self.weights) - 0.5 * (
            np.log(self.variances).sum(axis=1) + (np.square(self.means) * precisions).sum(axis=1)
        )
        joint: np.ndarray = np.square(frames) @ (-0.5 * precisions.T) + frames @ (self.means * precisions).T + constant
        return joint

    def posteriors(self, frames: np.ndarray) -> np.ndarray:
        """Return the posterior of every component for every frame, float64 (n_frames, n_components)."""
        scores = self.joint(frames)
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        return scores

    def log_density(self, frames: np.ndarray) -> np.ndarray:
        """Return the natural log density of every frame, float64 (n_frames,)."""
        found = np.empty(len(frames))
        for first in range(0, len(frames), _BLOCK):
            joint = self.joint(frames[first : first + _BLOCK].astype(np.float64))
            largest = joint.max(axis=1)
            joint -= largest[:, None]
            found[first : first + _BLOCK] = largest + np.log(np.exp(joint, out=joint).sum(axis=1))
        return found


def fit_mixture(frames: np.ndarray, n_components: int, floor: float | np.ndarray) -> SmallMixture:
    """Split components until there are `n_components`, a power of two, or fewer if there are few frames.

    `floor` is the smallest variance, of all features or (n_features,).
    """
    frames = thinned(frames).astype(np.float64)
    weights, means = np.ones(1), frames.mean(axis=0, keepdims=True)
    variances = np.maximum(frames.var(axis=0, keepdims=True), floor)
    while 2 * len(weights) <= min(n_components, len(frames) / MIN_FRAMES):
        shift = _SPLIT * np.sqrt(variances)
        weights, variances = np.tile(weights / 2, 2), np.tile(variances, (2, 1))
        means = np.concatenate([means + shift, means - shift])
        for _ in range(STEPS):
            occupied = SmallMixture(weights, means, variances).posteriors(frames)
            counts = np.maximum(occupied.sum(axis=0), 1e-3)
            weights, means = counts / counts.sum(), occupied.T @ frames / counts[:, None]
            second = occupied.T @ np.square(frames) / counts[:, None] - np.square(means)
            variances = np.maximum(second, floor)
    return SmallMixture(weights, means, variances)


def thinned(rows: np.ndarray) -> np.ndarray:
    """Return evenly spaced rows, at most `MAX_FRAMES`."""
    return rows[:: -(-len(rows) // MAX_FRAMES) or 1]


@dataclass(frozen=True)
class BackgroundModel(SmallMixture):
    """A mixture with diagonal covariances for frames of speakers with mean 0 and deviation 1; arrays are float32."""

    spread: np.ndarray  # variance of speakers' means relative to that of a speaker's frames, (n_features,)

    def offset(self, frames: np.ndarray) -> np.ndarray:
        """Return the most probable offset of a speaker's frames from those of all others, float64 (n_features,).

        `frames`, (n_frames, n_features), are normalized by the mean of all speakers and the usual deviation of one.
        Without frames it is 0.
        """
        frames = _some(frames)
        found = np.zeros(frames.shape[1])
        for _ in range(STEPS):
            found = self._pulled(self.posteriors(frames - found), frames)
        return found

    def offset_and_scale(self, frames: np.ndarray, n_frames: int, weight: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the offset b and scale a, float64 (n_features,) each, that maximize the likelihood of a (frames - b).

        This is the diagonal transform of Gales (1998, "Maximum likelihood linear transformations for HMM-based speech
        recognition"). b has the prior of `offset`. For a, `weight` frames distributed as the mixture are added to the
        speaker's own. Neither depends on the sounds or the proportion of pauses, except by chance.

        `frames`: frames of the speaker, as for `offset`, evenly chosen. `n_frames`: total number of the speaker's
        frames. `weight`: above 0.
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
            # maximize (n + t) ln a - a^2 squares / 2 + a products
            squares = share * ((occupied.T @ np.square(centred)) * precisions).sum(axis=0) + weight * (1.0 + between)
            products = share * ((occupied.T @ centred) * means * precisions).sum(axis=0) + weight * between
            roots = np.sqrt(np.square(products) + 4.0 * squares * (n_frames + weight))
            scale = (products + roots) / (2.0 * squares)
        return offset, scale

    def level(self, frames: np.ndarray, column: int) -> float:
        """Return the level of the frames above the mixture, by the 95 % quantiles of a column; 0 without frames."""
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
        """Return the mean square shift of a speaker's mean due to the composition of the frames, such as more pauses.

        `frames`, (n, n_features), come after `offset_and_scale`. The shift is that of the mean of the components if the
        frames' component weights replace those of training.
        """
        frames = _some(frames)
        if not len(frames):
            return 0.0
        more = self.posteriors(frames).mean(axis=0) - self.weights
        return float(np.mean(np.square(more @ self.means)))

    def _pulled(self, occupied: np.ndarray, frames: np.ndarray) -> np.ndarray:
        """Return the most probable offset, given the component posteriors."""
        precisions = 1.0 / self.variances.astype(np.float64)
        counts = occupied.sum(axis=0)
        pull = ((occupied.T @ frames - counts[:, None] * self.means) * precisions).sum(axis=0) / CORRELATION
        certainty = (counts[:, None] * precisions).sum(axis=0) / CORRELATION
        found: np.ndarray = pull / (certainty + 1.0 / self.spread)
        return found


def _some(frames: np.ndarray) -> np.ndarray:
    """Return evenly spaced frames, at most `MAX_OF_SPEAKER`, float64."""
    return frames[:: -(-len(frames) // MAX_OF_SPEAKER) or 1].astype(np.float64)


def fit_background(frames: np.ndarray, speaker_means: np.ndarray) -> BackgroundModel:
    """Learn from frames (n_frames, n_features) of speakers with mean 0 and deviation 1.

    `speaker_means` (n_speakers, n_features) are the means before normalization, relative to the overall mean, in
    deviations of a speaker. There are 32 components, or fewer for few frames.
    """
    mixture = fit_mixture(frames, N_COMPONENTS, _FLOOR)
    known = np.square(speaker_means - speaker_means.mean(axis=0)).sum(axis=0)
    spread = np.maximum(known / max(1, len(speaker_means) - 1), MIN_SPREAD)
    return BackgroundModel(
        *(part.astype(np.float32) for part in (mixture.weights, mixture.means, mixture.variances, spread))
    )
