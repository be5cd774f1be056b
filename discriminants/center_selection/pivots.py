"""The pivots of an incomplete Cholesky factorisation."""

import numpy as np

from discriminants.kernels import Kernel
from discriminants.linear_systems.pivoted_cholesky import pivoted_cholesky


def pivots(
    X: np.ndarray, kernel: Kernel, n_centers: int, random: np.random.RandomState, targets: np.ndarray | None = None
) -> np.ndarray:
    """Always the sample furthest, in the space of the kernel, from the span of those chosen (Suykens et al. 2002,
    section 6.1.2).

    O(N m^2) time, 8 N m bytes for m centres. Nothing is drawn at random.

    Parameters
    ----------
    X, kernel, n_centers, random, targets
        As of `random_rows`.

    Returns
    -------
    ndarray of int of shape (n,), n <= n_centers
        Fewer where the samples span no more.
    """
    return pivoted_cholesky(kernel, X, n_centers).pivots
