"""Gaussian mixtures with few components and diagonal covariances, fitted quickly."""

from dataclasses import dataclass

import numpy as np

MIN_FRAMES = 50  # per component
MAX_FRAMES = 20_000  # for training, evenly chosen
_BLOCK = 8192  # frames per block of densities (80 s)
STEPS = 4  # of EM
_SPLIT = 0.2  # deviations by which the halves of a component are moved apart


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
