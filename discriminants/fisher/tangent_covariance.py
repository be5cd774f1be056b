"""How much the outputs of an expansion move when samples are transformed by a little (Mika 2002, 3.23)."""

from typing import Any

import numpy as np

from discriminants.kernels import Kernel

_BLOCK_ROWS = 2048


def checked_copies(copies: Any, X: np.ndarray) -> np.ndarray:
    """Copies as finite values (n_transformations, n_samples, n_features) of the type of X; else ValueError."""
    found = np.asarray(copies, dtype=X.dtype)
    if found.ndim != 3 or found.shape[1:] != X.shape or not found.shape[0]:
        raise ValueError(
            f"copies has shape {found.shape}; (n_transformations, {X.shape[0]}, {X.shape[1]}) is wanted: all samples "
            "in their order, for each transformation"
        )
    if not np.isfinite(found).all():
        raise ValueError("copies contains NaN or infinity")
    return found


def tangent_covariance(
    kernel: Kernel, centers: np.ndarray, X: np.ndarray, copies: np.ndarray, outputs: np.ndarray | None = None
) -> np.ndarray:
    """T (m, m) with alpha'T alpha the mean over samples and transformations of (f(x_i) - f(L_t x_i))^2.

    f = sum_j alpha_j k(., c_j). A finite difference: divided by the squared size of the transformations it would be the
    covariance of tangents. The expansion is over the centres alone, of which transformed samples may be some (Mika
    2002, section 5.3.1). `copies` has shape (n_transformations, n_samples, n_features); `outputs` is K(X, centers),
    where it is at hand.
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
