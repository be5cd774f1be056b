"""Polynomial terms of an output that have no penalty (Suykens et al. 2002, 3.66-3.68)."""

from typing import Any

import numpy as np


def term_degrees(unpenalized: Any, n_features: int) -> np.ndarray:
    """Return the highest power of each feature, int (n_features,), from one number or one for each feature."""
    degrees = np.asarray(unpenalized)
    if degrees.dtype.kind not in "iu" or degrees.shape not in ((), (n_features,)) or (degrees < 0).any():
        raise ValueError(
            f"unpenalized = {unpenalized!r}. Expected a degree of 0 or more, or one for each of {n_features} features"
        )
    return np.broadcast_to(degrees, (n_features,))


def polynomial_terms(X: np.ndarray, degrees: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return the powers of the standardized features, from 1 to the degree of each, float64 (n_samples, n_terms).

    `scale` (2, n_features) has the mean and the deviation of each feature.
    """
    Z = (X - scale[0]) / scale[1]
    powers = [Z[:, j] ** power for j, degree in enumerate(degrees) for power in range(1, degree + 1)]
    return np.stack(powers, axis=1).astype(np.float64) if powers else np.empty((X.shape[0], 0))
