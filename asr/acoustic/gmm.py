"""Gaussian mixtures with diagonal covariances, one mixture a state; evaluation and EM as matrix products."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

LOG_TWO_PI = float(np.log(2.0 * np.pi))
FEWEST_FRAMES_OF_STATE = 8.0
"""From which a state is re-estimated, if only with one component."""


@dataclass(frozen=True)
class GaussianMixtures:
    """Mixtures of all states, padded to one number of components.

    Attributes
    ----------
    log_weights : float64 (n_states, n_components)
        -inf where a state has fewer components.
    means, variances : float64 (n_states, n_components, n_features)
    """

    log_weights: np.ndarray
    means: np.ndarray
    variances: np.ndarray

    @property
    def n_components(self) -> int:
        """Components of every state."""
        return int(self.log_weights.shape[1])

    @cached_property
    def _projection(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights and offsets under which [x^2, x] gives the log density of every component of every state.

        Columns are sorted by component, then state: reductions over components then run along contiguous states.
        """
        n_features = self.means.shape[2]
        precision = 1.0 / self.variances
        offset = self.log_weights - 0.5 * (
            n_features * LOG_TWO_PI + np.log(self.variances).sum(-1) + (self.means**2 * precision).sum(-1)
        )
        weights = np.concatenate([-0.5 * precision, self.means * precision], axis=-1)
        return (
            np.ascontiguousarray(weights.transpose(2, 1, 0).reshape(2 * n_features, -1), np.float32),
            offset.T.astype(np.float32).ravel(),
        )

    def log_likelihood(self, frames: np.ndarray, block: int = 512) -> np.ndarray:
        """Natural log density of every frame under every state.

        Parameters
        ----------
        frames : float32 (n_frames, n_features)

        Returns
        -------
        float32 (n_frames, n_states)
        """
        weights, offset = self._projection
        n_states, n_components = self.log_weights.shape
        scores = np.empty((len(frames), n_states), np.float32)
        for start in range(0, len(frames), block):
            part = frames[start : start + block]
            densities = np.concatenate([part * part, part], axis=1) @ weights
            densities += offset
            densities = densities.reshape(len(part), n_components, n_states)
            peak = densities.max(axis=1)
            densities -= peak[:, None]
            np.exp(densities, out=densities)
            scores[start : start + block] = np.log(densities.sum(axis=1)) + peak
        return scores

    def update(
        self,
        frames_of_state: Callable[[int], tuple[np.ndarray, np.ndarray | None]],
        *,
        variance_floor: np.ndarray,
        minimum_count: float = 8.0,
        variance_prior: float = 0.0,
        map_states: Callable[..., Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]]] = map,
    ) -> "GaussianMixtures":
        """One EM step (Dempster, Laird and Rubin 1977).

        Parameters
        ----------
        frames_of_state : callable
            Gives the frames of a state, float32 (n, n_features), and their weights, float64 (n,), or None for ones.
        variance_floor : float64 (n_features,)
        minimum_count : float
            Components that account for fewer frames are dropped, unless they are their state's only one. States of
            fewer frames stay as they are, where these are not eight at least.
        variance_prior : float
            As so many frames the variance of all frames of the state counts in that of each component (maximum a
            posteriori, Gauvain and Lee 1994): components of few frames are not sharper than these can tell.
        map_states : callable
            `map`, or an executor's.
        """

        def one_state(state: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            return self._update_state(state, *frames_of_state(state), variance_floor, minimum_count, variance_prior)

        log_weights, means, variances = zip(*map_states(one_state, range(len(self.means))), strict=True)
        return GaussianMixtures(np.stack(log_weights), np.stack(means), np.stack(variances))

    def _update_state(
        self,
        state: int,
        frames: np.ndarray,
        weights: np.ndarray | None,
        variance_floor: np.ndarray,
        minimum_count: float,
        variance_prior: float,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        log_weights, means, variances = self.log_weights[state], self.means[state], self.variances[state]
        if (len(frames) if weights is None else weights.sum()) < min(minimum_count, FEWEST_FRAMES_OF_STATE):
            return log_weights, means, variances
        x = frames.astype(np.float64)
        squares = x * x
        responsibility = self.responsibilities(state, x)
        if weights is not None:
            responsibility *= weights[:, None]
        counts = responsibility.sum(axis=0)
        kept = counts >= minimum_count
        kept[np.argmax(counts)] = True
        divisor = np.where(kept, counts, 1.0)[:, None]
        new_means = np.where(kept[:, None], responsibility.T @ x / divisor, means)
        second = responsibility.T @ squares / divisor - new_means**2
        if variance_prior and kept.sum() > 1:
            share = responsibility.sum(axis=1) / counts.sum()
            of_state = share @ squares - (share @ x) ** 2
            second = (divisor * second + variance_prior * of_state) / (divisor + variance_prior)
        new_variances = np.where(kept[:, None], np.maximum(second, variance_floor), variances)
        with np.errstate(divide="ignore"):
            new_weights = np.log(np.where(kept, counts, 0.0) / counts[kept].sum())
        return new_weights, new_means, new_variances

    def responsibilities(self, state: int, frames: np.ndarray) -> np.ndarray:
        """P(component | frame, state), float64 (n_frames, n_components), of frames, float64 (n_frames, n_features)."""
        means, variances = self.means[state], self.variances[state]
        precision = 1.0 / variances
        offset = self.log_weights[state] - 0.5 * (np.log(variances).sum(-1) + (means**2 * precision).sum(-1))
        responsibility = -0.5 * (frames * frames) @ precision.T + frames @ (means * precision).T + offset
        responsibility -= responsibility.max(axis=1, keepdims=True)
        np.exp(responsibility, out=responsibility)
        responsibility /= responsibility.sum(axis=1, keepdims=True)
        return responsibility

    def for_states(self, states: np.ndarray) -> "GaussianMixtures":
        """Mixtures of other states, each the same as that of one of these, int (n_states,)."""
        return GaussianMixtures(self.log_weights[states], self.means[states], self.variances[states])

    def split(self, offset: float = 0.2) -> "GaussianMixtures":
        """Twice as many components: every one becomes two, `offset` standard deviations up and down from its mean."""
        shift = offset * np.sqrt(self.variances)
        return GaussianMixtures(
            np.concatenate([self.log_weights, self.log_weights], axis=1) - np.log(2.0),
            np.concatenate([self.means + shift, self.means - shift], axis=1),
            np.concatenate([self.variances, self.variances], axis=1),
        )


def single_gaussians(mean: np.ndarray, variance: np.ndarray, n_states: int) -> GaussianMixtures:
    """The same Gaussian for every state: where a flat start begins."""
    return GaussianMixtures(
        np.zeros((n_states, 1)), np.tile(mean, (n_states, 1, 1)), np.tile(variance, (n_states, 1, 1))
    )
