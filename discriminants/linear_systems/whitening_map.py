"""Whitening of the kernel columns of given centers."""

import numpy as np
from scipy.linalg import solve_triangular

from discriminants.kernels import PrecomputedKernel
from discriminants.linear_systems.kernel_values import check_symmetric
from discriminants.linear_systems.pivoted_cholesky import pivoted_cholesky

_INDEFINITE = 1e-6  # largest error of a factor, relative to the largest k(x, x)


def whitening_map(K: np.ndarray, tol: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute independent centers S, ascending, and A with A A' = K_SS^-1.

    k(x, S) A are features whose products are the kernel in the span of the centers. K (m, m) is the kernel matrix of
    the centers. A center is dropped if at most `tol` times the largest k(x, x) lies outside the span of the others.
    Raises ValueError if the kernel is not symmetric and positive semidefinite on the centers.
    """
    check_symmetric(K, "the Nystroem approximation")
    G, pivots, _ = pivoted_cholesky(PrecomputedKernel().resolved(K), K, K.shape[0], tol)
    largest = max(float(K.diagonal().max()), 0.0)
    if not pivots.size or np.abs(K - G @ G.T).max() > 2.0 * max(_INDEFINITE, tol) * largest:
        raise ValueError(
            "the kernel matrix of the centers is zero or has negative eigenvalues. "
            "Expected a positive semidefinite kernel"
        )
    inverse = solve_triangular(G[pivots], np.eye(pivots.shape[0]), lower=True, check_finite=False)
    order = np.argsort(pivots)
    return pivots[order], np.ascontiguousarray(inverse.T[order])
