"""Class posteriors from the posteriors of all pairs of classes."""

from collections.abc import Iterable

import numpy as np

_SMALLEST = np.finfo(np.float64).tiny


def pairwise_log_odds(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return log(first / second) of the two probabilities of a pair, finite even if one is zero."""
    first, second = (np.maximum(np.asarray(p, dtype=np.float64), _SMALLEST) for p in (first, second))
    return np.log(first) - np.log(second)


def couple(pairs: Iterable[tuple[int, int, np.ndarray]], n_samples: int, n_classes: int) -> np.ndarray:
    """Return natural log posteriors (n_samples, n_classes) by pairwise coupling (Price et al. 1995; Andelic 2007, 4.8).

    P(i | x) = 1 / (sum over j != i of 1/nu_ij - (T - 2)), nu_ij = P(i | x, i or j), T the number of classes, then
    normalized over the classes. Because 1/nu_ij = 1 + nu_ji/nu_ij, the denominator is 1 + the sum of the odds against
    i. This form loses no digits and is summed in logarithms here. `pairs` yields (i, j, log(nu_ij / nu_ji)) for each
    pair once.
    """
    log_denominators = np.zeros((n_classes, n_samples))
    for i, j, log_odds in pairs:
        np.logaddexp(log_denominators[i], -log_odds, out=log_denominators[i])
        np.logaddexp(log_denominators[j], log_odds, out=log_denominators[j])
    best = log_denominators.min(axis=0)
    scores = best - log_denominators
    return np.ascontiguousarray((scores - np.log(np.exp(scores).sum(axis=0))).T)
