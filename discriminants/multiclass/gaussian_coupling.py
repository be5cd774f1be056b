"""Class posteriors from the outputs of all pairs of classes: Gaussian densities, Bayes' rule, pairwise coupling.

This module combines `GaussianOutputModel` and `couple` for all pairs of a block at once. The log odds of a pair are a
quadratic in its output (two normal densities), and the coupling needs only their exponential.
"""

from typing import NamedTuple, Self

import numpy as np

from discriminants.kernels.exponential import exp_float32
from discriminants.util.numba_cache import njit

_HIGHEST = np.float32(80.0)  # log odds of a pair, so that sums of their exponentials stay in the range of float32
_ONE = np.float32(1.0)
_MIN_VARIANCE = 1e-12  # of outputs that are about one
_MIN_DEVIATION = 1e-3  # of an output within a class, relative to its root mean square over both


class GaussianPairs(NamedTuple):
    """Densities of the outputs of all pairs, prepared for many samples.

    The output of a pair is d. u = scale d + offset has the two class means on either side of zero and about unit size,
    so single precision does not cancel. Log odds of the first class are c0 + c1 u + c2 u^2.
    """

    scale: np.ndarray  # (n_classes, n_classes), symmetric
    offset: np.ndarray  # (n_classes, n_classes), symmetric
    odds: np.ndarray  # (n_classes, n_classes, 3): c0, c1, c2 at [i, j] for i < j

    @classmethod
    def of(cls, means: np.ndarray, variances: np.ndarray, log_priors: np.ndarray) -> Self:
        """Compute the pairs from means and variances (2, n_pairs) of the first and the second class of every pair.

        Pairs are in the order (0, 1), (0, 2), ...; `log_priors` (n_classes,) are those of the classes; all are float64.
        """
        n_classes = log_priors.shape[0]
        variances = floored(variances, means)  # a file may contain any value
        first, second = np.triu_indices(n_classes, 1)
        centre, half = means.mean(axis=0), 0.5 * (means[1] - means[0])
        scale = 1.0 / np.sqrt(half**2 + variances.mean(axis=0))
        a1, a2 = (means - centre) * scale
        v1, v2 = variances * scale**2
        c0 = log_priors[first] - log_priors[second] + 0.5 * (np.log(v2 / v1) - a1**2 / v1 + a2**2 / v2)
        odds = np.zeros((n_classes, n_classes, 3))
        odds[first, second] = np.stack([c0, a1 / v1 - a2 / v2, 0.5 / v2 - 0.5 / v1], axis=1)
        square = np.zeros((2, n_classes, n_classes))
        square[:, first, second] = square[:, second, first] = scale, -scale * centre
        return cls(square[0], square[1], odds)

    def astype(self, dtype: np.dtype | type) -> Self:
        """Convert to another float type."""
        return type(self)(*(part.astype(dtype) for part in self))


def floored(variances: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Bound variances (2, n_pairs) below by a small fraction of the output's mean square about its center."""
    spread = variances.mean(axis=0) + 0.25 * (means[1] - means[0]) ** 2
    return np.maximum(variances, np.maximum(_MIN_DEVIATION**2 * spread, _MIN_VARIANCE))


def coupled(parts: np.ndarray, pairs: GaussianPairs) -> np.ndarray:
    """Return natural log posteriors, (n_samples, n_classes), before normalization: the logarithm of (4.8).

    parts[i, j] + parts[j, i] + pairs.offset[i, j] is u of the pair (i, j), for each of n_samples; parts are
    overwritten.
    overwritten.
    """
    denominators = np.ones((parts.shape[0], parts.shape[2]), dtype=parts.dtype)
    if parts.dtype == np.float32:
        _add_odds(parts, pairs.offset, pairs.odds, denominators)
    else:
        for i in range(parts.shape[0] - 1):
            u = parts[i, i + 1 :] + parts[i + 1 :, i] + pairs.offset[i, i + 1 :, None]
            c0, c1, c2 = pairs.odds[i, i + 1 :].T[:, :, None]
            odds = np.exp(np.clip(c0 + u * (c1 + u * c2), -_HIGHEST, _HIGHEST))
            denominators[i] += (1.0 / odds).sum(axis=0)
            denominators[i + 1 :] += odds
    return -np.log(denominators.T)


def normalized(scores: np.ndarray) -> np.ndarray:
    """Subtract the log of the sum of exponentials from every row."""
    scores = scores - scores.max(axis=1, keepdims=True)
    scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return scores


@njit(cache=True, nogil=True, fastmath={"contract", "nsz"})
def _add_odds(parts: np.ndarray, offset: np.ndarray, odds: np.ndarray, denominators: np.ndarray) -> None:
    """Add P(j)/P(i) to denominators[i] and P(i)/P(j) to denominators[j] for every pair (i, j) of classes."""
    n_classes = denominators.shape[0]
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            u = parts[i, j]
            _add(u, parts[j, i])
            _to_odds(u, offset[i, j], odds[i, j, 0], odds[i, j, 1], odds[i, j, 2])
            _add(denominators[j], u)
            _add_inverse(denominators[i], u)


# Loops over one or two arrays: with more, the compiler guards against aliasing and does not vectorize.
@njit(cache=True, nogil=True, fastmath={"contract", "nsz"})
def _add(to: np.ndarray, values: np.ndarray) -> None:
    for t in range(to.shape[0]):
        to[t] += values[t]


@njit(cache=True, nogil=True, fastmath={"contract", "nsz"})
def _to_odds(u: np.ndarray, offset: float, c0: float, c1: float, c2: float) -> None:
    for t in range(u.shape[0]):
        v = u[t] + offset
        log_odds = c0 + v * (c1 + v * c2)
        log_odds = log_odds if log_odds < _HIGHEST else _HIGHEST
        log_odds = log_odds if log_odds > -_HIGHEST else -_HIGHEST
        u[t] = exp_float32(log_odds)  # type: ignore[arg-type]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"})  # or it looks for zeros
def _add_inverse(to: np.ndarray, values: np.ndarray) -> None:
    for t in range(to.shape[0]):
        to[t] += _ONE / values[t]
