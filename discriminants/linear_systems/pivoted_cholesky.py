"""Pivoted Cholesky factorisation of a kernel matrix, column by column."""

from typing import NamedTuple

import numpy as np

from discriminants.kernels import Kernel
from discriminants.linear_systems.kernel_values import kernel_matrix


class PartialCholesky(NamedTuple):
    """K ~ G G' with K - G G' positive semidefinite."""

    G: np.ndarray  # (n_samples, rank): lower triangular in the rows of the pivots
    pivots: np.ndarray  # int (rank,): samples, in order of selection
    residual: np.ndarray  # (n_samples,): diagonal of K - G G'


def pivoted_cholesky(kernel: Kernel, X: np.ndarray, max_rank: int, tol: float = 1e-10) -> PartialCholesky:
    """Select repeatedly the sample furthest from the span of the selected ones.

    Only the pivot columns are evaluated: O(N m^2) time and 8 N m bytes for rank m (S. Fine, K. Scheinberg, Efficient
    SVM training using low-rank kernel representations, JMLR 2, 2001). The kernel has one column per sample. Selection
    stops when every remaining diagonal entry is at most `tol` times the largest k(x, x). Raises ValueError if k(x, x)
    is negative or not finite for a sample.
    """
    residual = kernel.diagonal(X)
    if not (np.isfinite(residual).all() and residual.min() >= 0):
        raise ValueError("k(x, x) is negative for a sample. Expected a positive semidefinite kernel")
    limit = tol * residual.max()
    max_rank = min(max_rank, X.shape[0])
    rows = np.empty((max_rank, X.shape[0]))  # of G'
    pivots: list[int] = []
    while len(pivots) < max_rank:
        pivot = int(np.argmax(residual))
        if not residual[pivot] > limit:
            break
        m = len(pivots)
        point = np.array([pivot])
        column = kernel_matrix(kernel.at(point), X, X[point])[:, 0]
        column -= rows[:m, pivot] @ rows[:m]
        rows[m] = column / np.sqrt(residual[pivot])
        rows[m, pivots] = 0.0
        residual = np.maximum(residual - rows[m] ** 2, 0.0)
        residual[pivot] = 0.0
        pivots.append(pivot)
    return PartialCholesky(rows[: len(pivots)].T, np.array(pivots, dtype=np.intp), residual)
