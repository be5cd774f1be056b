"""Gaussian mixtures with diagonal covariances, one mixture per state; evaluation and EM as matrix products."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

LOG_TWO_PI = float(np.log(2.0 * np.pi))
MIN_FRAMES_OF_STATE = 8.0
"""Minimum number of frames for re-estimating a state, even with a single component."""
_FURTHER_ROW = 8  # fixed cost of an additional row, in components
_BLOCK = 16384  # frames per block of responsibilities


@dataclass(frozen=True)
class GaussianMixtures:
    """Mixtures of all states, padded to the largest number of components."""

    log_weights: np.ndarray  # float64 (n_states, n_components), -inf for padding
    means: np.ndarray  # float64 (n_states, n_components, n_features)
    variances: np.ndarray  # float64 (n_states, n_components, n_features)

    @property
    def n_components(self) -> int:
        """Largest number of components of a state."""
        return int(self.log_weights.shape[1])

    @cached_property
    def _rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Components in rows of equal length: the component of every place (-1 for none), and the state of every row.

        The first row of every state comes first, then additional rows for states with more components. The row length
        minimizes the cost; an additional row costs as much as eight places.
        """
        live = np.isfinite(self.log_weights)
        counts = live.sum(axis=1)
        lengths = np.arange(1, max(counts.max(), 1) + 1)
        cost = [(n + _FURTHER_ROW) * np.maximum(-(-counts // n), 1).sum() for n in lengths]
        length = int(lengths[np.argmin(cost)])
        numbers = np.maximum(-(-counts // length), 1)
        further = np.repeat(np.arange(len(counts)), numbers - 1)
        states = np.concatenate([np.arange(len(counts)), further])
        components = np.full((len(states), length), -1)
        taken = np.zeros(len(counts), np.int64)
        for row, state in enumerate(states):
            own = np.flatnonzero(live[state])[taken[state] : taken[state] + length]
            components[row, : len(own)] = own
            taken[state] += len(own)
        return components, states

    @cached_property
    def _projection(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights and offsets that map [x^2, x] to the log density of every component of every row.

        Columns are sorted by component, then row, so that reductions over components run along contiguous rows.
        """
        n_features = self.means.shape[2]
        components, states = self._rows
        places = (states[:, None], components)
        means, precision = self.means[places], 1.0 / self.variances[places]
        offset = np.where(components >= 0, self.log_weights[places], -np.inf) - 0.5 * (
            n_features * LOG_TWO_PI - np.log(precision).sum(-1) + (means**2 * precision).sum(-1)
        )
        weights = np.concatenate([-0.5 * precision, means * precision], axis=-1)
        return (
            np.ascontiguousarray(weights.transpose(2, 1, 0).reshape(2 * n_features, -1), np.float32),
            offset.T.astype(np.float32).ravel(),
        )

    @cached_property
    def _state_projections(self) -> tuple[np.ndarray, np.ndarray]:
        """Like `_projection`, for one state at a time and without the terms common to a state's components."""
        live = np.isfinite(self.log_weights)
        precision = 1.0 / np.where(live[:, :, None], self.variances, 1.0)
        scaled = self.means * precision
        offset = self.log_weights + 0.5 * (np.log(precision).sum(-1) - (self.means * scaled).sum(-1))
        weights = np.concatenate([-0.5 * precision, scaled], axis=-1)
        return np.ascontiguousarray(weights.transpose(0, 2, 1)), offset

    def log_likelihood(self, frames: np.ndarray, block: int = 512) -> np.ndarray:
        """Return the natural log density of every frame under every state, float32 (n_frames, n_states).

        `frames`: float32 (n_frames, n_features). `block`: frames evaluated at a time.
        """
        weights, offset = self._projection
        components, states = self._rows
        n_states = len(self.log_weights)
        scores = np.empty((len(frames), n_states), np.float32)
        for start in range(0, len(frames), block):
            part = frames[start : start + block]
            densities = np.concatenate([part * part, part], axis=1) @ weights
            densities += offset
            densities = densities.reshape(len(part), components.shape[1], len(states))
            peak = densities.max(axis=1)
            densities -= peak[:, None]
            np.exp(densities, out=densities)
            of_rows = np.log(densities.sum(axis=1)) + peak
            for row in range(n_states, len(states)):
                of_state = of_rows[:, states[row]]
                np.logaddexp(of_state, of_rows[:, row], out=of_state)
            scores[start : start + block] = of_rows[:, :n_states]
        return scores

    def update(
        self,
        frames_of_state: Callable[[int], tuple[np.ndarray, np.ndarray | None]],
        *,
        variance_floor: np.ndarray,
        minimum_count: float = 8.0,
        variance_smoothing: float = 0.0,
        map_states: Callable[..., Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]]] = map,
    ) -> "GaussianMixtures":
        """Do one EM step (Dempster, Laird and Rubin 1977).

        Parameters
        ----------
        frames_of_state : callable
            Returns the frames of a state, float32 (n, n_features), and their weights, float64 (n,), or None for ones.
        variance_floor : float64 (n_features,)
        minimum_count : float
            Components with fewer frames are dropped, except the only one of a state. States with fewer frames than this
            and fewer than 8 stay unchanged.
        variance_smoothing : float
            Weight, in frames, of the state's overall variance in that of each component (maximum a posteriori, Gauvain
            and Lee 1994). If the components have more frames on average, the weight falls with the square of the ratio.
            0 disables it.
        map_states : callable
            `map`, or an executor's.
        """

        def one_state(state: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            return self._update_state(state, *frames_of_state(state), variance_floor, minimum_count, variance_smoothing)

        log_weights, means, variances = zip(*map_states(one_state, range(len(self.means))), strict=True)
        return GaussianMixtures(np.stack(log_weights), np.stack(means), np.stack(variances))

    def _update_state(
        self,
        state: int,
        frames: np.ndarray,
        weights: np.ndarray | None,
        variance_floor: np.ndarray,
        minimum_count: float,
        variance_smoothing: float,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if (len(frames) if weights is None else weights.sum()) < min(minimum_count, MIN_FRAMES_OF_STATE):
            return self.log_weights[state], self.means[state], self.variances[state]
        live = np.isfinite(self.log_weights[state])
        counts = np.zeros(live.sum())
        first, second = (np.zeros((len(counts), frames.shape[1])) for _ in range(2))
        for start in range(0, len(frames), _BLOCK):
            x = frames[start : start + _BLOCK].astype(np.float64)
            responsibility = self.responsibilities(state, x)[:, live]
            if weights is not None:
                responsibility *= weights[start : start + _BLOCK, None]
            counts += responsibility.sum(axis=0)
            first += responsibility.T @ x
            second += responsibility.T @ (x * x)
        of_state = second.sum(axis=0) / counts.sum() - (first.sum(axis=0) / counts.sum()) ** 2
        kept = counts >= minimum_count
        kept[np.argmax(counts)] = True
        counts = counts[kept]
        new_means = first[kept] / counts[:, None]
        second = second[kept] / counts[:, None] - new_means**2
        if variance_smoothing and len(counts) > 1:
            variance_smoothing *= min(1.0, variance_smoothing * len(counts) / counts.sum()) ** 2
            second = (counts[:, None] * second + variance_smoothing * of_state) / (counts[:, None] + variance_smoothing)
        log_weights = np.full(self.n_components, -np.inf)
        means, variances = self.means[state].copy(), self.variances[state].copy()
        places = np.flatnonzero(live)[kept]
        log_weights[places] = np.log(counts / counts.sum())
        means[places] = new_means
        variances[places] = np.maximum(second, variance_floor)
        return log_weights, means, variances

    def responsibilities(self, state: int, frames: np.ndarray) -> np.ndarray:
        """Return P(component | frame, state), float64 (n_frames, n_components), of float64 (n_frames, n_features)."""
        weights, offset = self._state_projections
        found = np.concatenate([frames * frames, frames], axis=1) @ weights[state] + offset[state]
        found -= found.max(axis=1, keepdims=True)
        np.exp(found, out=found)
        found /= found.sum(axis=1, keepdims=True)
        return found

    def mean_gaussians(self, state: int, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the posterior mean of precision, and of precision times mean, for every frame.

        `frames` and both results are float64 (n_frames, n_features).
        """
        weights, _ = self._state_projections
        found = self.responsibilities(state, frames) @ weights[state].T
        n_features = frames.shape[1]
        return -2.0 * found[:, :n_features], found[:, n_features:]

    def for_states(self, states: np.ndarray) -> "GaussianMixtures":
        """Return mixtures whose state i is state `states[i]` of these; int (n_states,)."""
        return GaussianMixtures(self.log_weights[states], self.means[states], self.variances[states])

    def collapsed(self) -> "GaussianMixtures":
        """Return one Gaussian per state with the mean and variance of its mixture."""
        weights = np.exp(self.log_weights - np.logaddexp.reduce(self.log_weights, axis=1, keepdims=True))[:, :, None]
        means = (weights * self.means).sum(axis=1, keepdims=True)
        variances = (weights * (self.variances + (self.means - means) ** 2)).sum(axis=1, keepdims=True)
        return GaussianMixtures(np.zeros(means.shape[:2]), means, variances)

    def split(self, offset: float = 0.2, states: Sequence[int] | None = None) -> "GaussianMixtures":
        """Split every component in two, `offset` standard deviations above and below its mean.

        With `states`, only components of these states are split.
        """
        chosen = np.full(len(self.means), states is None)
        chosen[list(states or ())] = True
        shift = np.where(chosen[:, None, None], offset * np.sqrt(self.variances), 0.0)
        halved = self.log_weights - np.where(chosen, np.log(2.0), 0.0)[:, None]
        return GaussianMixtures(
            np.concatenate([halved, np.where(chosen[:, None], halved, -np.inf)], axis=1),
            np.concatenate([self.means + shift, self.means - shift], axis=1),
            np.concatenate([self.variances, self.variances], axis=1),
        )


def single_gaussians(mean: np.ndarray, variance: np.ndarray, n_states: int) -> GaussianMixtures:
    """Return the same Gaussian for every state, for a flat start."""
    return GaussianMixtures(
        np.zeros((n_states, 1)), np.tile(mean, (n_states, 1, 1)), np.tile(variance, (n_states, 1, 1))
    )
