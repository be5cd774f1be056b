"""Choice of scale and penalty from the word errors on held-out speech.

On about 100 held-out words, the errors of a dozen searches differ by less than chance, so their minimum is random.
Instead, the mean of a posterior over all tried searches is chosen: errors are the evidence, and the prior is centered
on the initial settings. With 1000 words the mean is near the minimum of errors; with 20 it stays near the initial
settings. It is a smooth function of the counts, so single errors have little effect.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.ndimage import binary_dilation

EVIDENCE = 0.3
"""Decrease of the log odds of a search per additional word error. Two searches that differ in ten words, seven against
three, are four errors apart: by chance this has probability 1/3; here the odds are 1 to 3.3.
"""
IMBALANCE = 0.1
"""Word errors equivalent to a difference of 1 between insertions and deletions."""
SCALE_SPREAD = 0.5
"""Standard deviation of the prior of ln(scale)."""
PENALTY_SPREAD = 1.5
"""Standard deviation of the prior of the penalty, in scales."""
NEGLIGIBLE = 5.0
"""Neighbors of a search are not tried if it is less probable than the best one by this natural log."""
FAR = 1.5
"""Distance from the initial settings, in standard deviations of the prior, at which a chosen value is reported."""
UNDECIDED = 0.8
"""Ratio of the posterior's to the prior's spread above which the words are reported as uninformative."""


@dataclass(frozen=True)
class ErrorGrid:
    """Word errors of held-out utterances under the tried searches."""

    units: np.ndarray  # str (n_utterances,): resampling unit of each utterance: its speaker, or itself
    scales: np.ndarray  # float64 (n_scales,): language-model scales as multiples of the initial scale, increasing
    penalties: np.ndarray  # float64 (n_penalties,): insertion penalties as multiples of the scale, increasing
    # `errors`, `imbalance`, int64 (n_utterances, n_scales, n_penalties): word errors, and insertions minus deletions
    errors: np.ndarray
    imbalance: np.ndarray
    tried: np.ndarray = field(default_factory=lambda: np.array(True))
    """bool (n_scales, n_penalties): valid entries, by default all; only these can be chosen."""

    def without(self, units: set[str]) -> "ErrorGrid":
        """Return the grid without some units."""
        kept = np.array([unit not in units for unit in self.units], bool)
        return replace(self, units=self.units[kept], errors=self.errors[kept], imbalance=self.imbalance[kept])


@dataclass(frozen=True)
class GridChoice:
    """Chosen scale and penalty."""

    # `scale`, `penalty`: multiples of the initial scale, and of the scale
    scale: float
    penalty: float
    undecided: float
    """Ratio of the posterior's to the prior's spread, the smaller of scale and penalty; 1 without information."""
    at_edge: tuple[int, int]
    """Edge of the tried scales and penalties with the most probable search: 1 the largest, -1 the smallest, else 0."""

    def remarks(self, n_words: int, own_penalty: float = 0.0) -> Iterator[str]:
        """Yield a sentence for each reason to doubt the choice; `own_penalty` as in `choose`."""
        if self.undecided > UNDECIDED:
            yield f"the {n_words} held-out words do not determine lm_scale and insertion_penalty"
        for edge, name in zip(self.at_edge, ("lm_scale", "insertion_penalty"), strict=True):
            if edge:
                yield f"the fewest errors are at the {'largest' if edge > 0 else 'smallest'} tried {name}"
        if abs(float(np.log(self.scale))) > FAR * SCALE_SPREAD:
            yield f"lm_scale is {self.scale:.2g} times the initial value; check it with another grammar"
        if abs(self.penalty - own_penalty) > FAR * PENALTY_SPREAD:
            yield (
                f"insertion_penalty is {self.penalty:+.2g} times lm_scale, initially {own_penalty:+.2g}; check it with "
                "other speech"
            )


def choose(grid: ErrorGrid, own_penalty: float = 0.0) -> GridChoice:
    """Return the posterior mean over the tried searches.

    Parameters
    ----------
    own_penalty : float
        Initial penalty, as a multiple of the initial scale; both are the center of the prior.
    """
    axes = np.log(grid.scales), grid.penalties
    weights = [np.exp(log - log.max()) for log in _logarithms(grid, own_penalty)]
    before, after = (each / each.sum() for each in weights)
    best = np.unravel_index(int(np.argmax(after)), after.shape)
    at_edge = [int(at == len(axis) - 1) - int(at == 0) for at, axis in zip(best, axes, strict=True)]
    spreads = [
        _deviation(axis, after.sum(axis=1 - n)) / max(1e-9, _deviation(axis, before.sum(axis=1 - n)))
        for n, axis in enumerate(axes)
    ]
    return GridChoice(
        scale=float(np.exp(after.sum(axis=1) @ axes[0])),
        penalty=float(after.sum(axis=0) @ axes[1]),
        undecided=min(spreads) if after.size > 1 else 1.0,
        at_edge=(at_edge[0], at_edge[1]),
    )


def worth_trying(grid: ErrorGrid, own_penalty: float = 0.0) -> np.ndarray:
    """Return the untried searches that may matter, bool (n_scales, n_penalties).

    This is first the search nearest to the initial settings, then all neighbors of non-negligible searches
    (`NEGLIGIBLE`). Errors change smoothly with scale and penalty, so searches beyond negligible ones are negligible
    too.
    """
    _, posterior = _logarithms(grid, own_penalty)
    tried = np.broadcast_to(grid.tried, posterior.shape)
    if not tried.any():
        nearest = np.zeros_like(tried)
        nearest[np.argmin(np.abs(np.log(grid.scales))), np.argmin(np.abs(grid.penalties - own_penalty))] = True
        return nearest
    return np.asarray(binary_dilation(posterior >= posterior.max() - NEGLIGIBLE, np.ones((3, 3))) & ~tried)


def _logarithms(grid: ErrorGrid, own_penalty: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the unnormalized log prior and log posterior, float64 (n_scales, n_penalties)."""
    x, y = np.log(grid.scales), grid.penalties
    prior = (
        -0.5 * np.square(x / SCALE_SPREAD)[:, None]
        - 0.5 * np.square((y - own_penalty) / PENALTY_SPREAD)[None]
        + np.log(_widths(x))[:, None]
        + np.log(_widths(y))[None]
    )
    cost = grid.errors.sum(axis=0) + IMBALANCE * np.abs(grid.imbalance.sum(axis=0))
    return prior, np.where(grid.tried, prior - EVIDENCE * cost, -np.inf)


def _widths(values: np.ndarray) -> np.ndarray:
    """Return the quadrature weight of each value."""
    if len(values) == 1:
        return np.ones(1)
    between = np.diff(values)
    return 0.5 * (np.append(between, between[-1]) + np.insert(between, 0, between[0]))


def _deviation(values: np.ndarray, weights: np.ndarray) -> float:
    mean = weights @ values
    return float(np.sqrt(max(0.0, weights @ np.square(values - mean))))
