"""The pivots of an incomplete Cholesky factorisation."""

import numpy as np

from discriminants.kernels import Kernel
from discriminants.linear_systems.pivoted_cholesky import pivoted_cholesky


def pivots(
    X: np.ndarray, kernel: Kernel, n_centers: int, random: np.random.RandomState, targets: np.ndarray | None = None
) -> np.ndarray:
    """Always the sample furthest, in the space of the kernel, from the span of those chosen; for `CHOOSERS`.

    O(N m^2) time, 8 N m bytes for m centres (Suykens et al. 2002, section 6.1.2). Nothing is drawn at random. There are
    fewer rows than `n_centers` where the samples span no more.
    """
    return pivoted_cholesky(kernel, X, n_centers).pivots
