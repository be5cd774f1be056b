"""Change of an expansion's outputs under small transformations of the samples (Mika 2002, 3.23)."""

from typing import Any

import numpy as np

from discriminants.kernels import Kernel

_BLOCK_ROWS = 2048


def checked_copies(copies: Any, X: np.ndarray) -> np.ndarray:
    """Return copies (n_transformations, n_samples, n_features) in the type of X; ValueError if they are not finite."""
    found = np.asarray(copies, dtype=X.dtype)
    if found.ndim != 3 or found.shape[1:] != X.shape or not found.shape[0]:
        raise ValueError(
            f"copies has shape {found.shape}. Expected (n_transformations, {X.shape[0]}, {X.shape[1]}): all samples in "
            "the order of X, for each transformation"
        )
    if not np.isfinite(found).all():
        raise ValueError("copies contains NaN or infinity")
    return found


def tangent_covariance(
    kernel: Kernel, centers: np.ndarray, X: np.ndarray, copies: np.ndarray, outputs: np.ndarray | None = None
) -> np.ndarray:
    """Return T (m, m) so that alpha'T alpha is the mean of (f(x_i) - f(L_t x_i))^2 over samples and transformations.

    f = sum_j alpha_j k(., c_j). T is a finite difference: divided by the squared size of the transformations it would
    be the covariance of tangents. The expansion is over the centers alone, which may include transformed samples (Mika
    2002, section 5.3.1). `copies` has shape (n_transformations, n_samples, n_features); `outputs` is K(X, centers), if
    already computed.
    """
    columns = kernel.columns(centers.astype(np.float64, copy=False), np.float64)
    total = np.zeros((columns.n_centers, columns.n_centers))
    for start in range(0, X.shape[0], _BLOCK_ROWS):
        rows = slice(start, min(start + _BLOCK_ROWS, X.shape[0]))
        own = columns.block(X[rows].astype(np.float64)) if outputs is None else outputs[rows]
        for copy in copies:
            moved = own - columns.block(copy[rows].astype(np.float64))
            total += moved.T @ moved
    total /= X.shape[0] * copies.shape[0]
    return total
