"""Samples drawn at random."""

import numpy as np

from discriminants.kernels import Kernel


def random_rows(
    X: np.ndarray, kernel: Kernel, n_centers: int, random: np.random.RandomState, targets: np.ndarray | None = None
) -> np.ndarray:
    """min(n_centers, n_samples) rows of X, all equally likely; for `CHOOSERS`.

    Source: C. Williams, M. Seeger, Using the Nystroem method to speed up kernel machines, NIPS 2000.
    """
    return random.choice(X.shape[0], min(n_centers, X.shape[0]), replace=False)
