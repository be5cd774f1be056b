"""Feature vector selection: centers whose span best represents all samples (Baudat and Anouar 2003)."""

import numpy as np

from discriminants.kernels import Kernel
from discriminants.linear_systems.kernel_values import kernel_matrix

_TRIED = 59  # the best of them is, with probability 0.95, among the best 5 % of all
_DEPENDENT = 1e-10  # fraction of the largest k(x, x); a smaller remainder counts as dependent


def feature_vectors(
    X: np.ndarray, kernel: Kernel, n_centers: int, random: np.random.RandomState, targets: np.ndarray | None = None
) -> np.ndarray:
    """Add repeatedly the best of 59 random samples, the one that raises the fitness most; for `CHOOSERS`.

    The fitness is the mean over all samples of the fraction of |phi(x)|^2 in the span of the centers (Suykens et al.
    2002, 6.25 and 6.26). With G the partial Cholesky factor of the current centers and r_j = k_j - G G_j', sample j
    raises it by sum_k r_jk^2 / (k(x_k, x_k) r_jj) / N. Takes O(59 N m^2) time and 8 N m bytes for m centers. Source: G.
    Baudat, F. Anouar, Feature vector selection and projection using kernels, Neurocomputing 55, 2003.
    """
    diagonal = kernel.diagonal(X)
    share = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
    limit = _DEPENDENT * diagonal.max()
    residual = diagonal.copy()
    n_centers = min(n_centers, X.shape[0])
    factor = np.empty((n_centers, X.shape[0]))  # G'
    chosen: list[int] = []
    while len(chosen) < n_centers:
        tried = np.flatnonzero(residual > limit)
        if not tried.size:
            break
        if tried.size > _TRIED:
            tried = np.sort(random.choice(tried, _TRIED, replace=False))
        m = len(chosen)
        left = kernel_matrix(kernel.at(tried), X, X[tried]).T
        left = left - factor[:m, tried].T @ factor[:m]
        best = int(np.argmax(left**2 @ share / residual[tried]))
        factor[m] = left[best] / np.sqrt(residual[tried[best]])
        factor[m, chosen] = 0.0
        residual = np.maximum(residual - factor[m] ** 2, 0.0)
        residual[tried[best]] = 0.0
        chosen.append(int(tried[best]))
    return np.array(chosen, dtype=np.intp)
