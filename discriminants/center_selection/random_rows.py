"""Samples drawn at random."""

import numpy as np

from discriminants.kernels import Kernel


def random_rows(
    X: np.ndarray, kernel: Kernel, n_centers: int, random: np.random.RandomState, targets: np.ndarray | None = None
) -> np.ndarray:
    """Rows of X, all equally likely (Williams and Seeger 2001).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    kernel : Kernel
        Symmetric, resolved on X.
    n_centers : int
    random : RandomState
    targets : ndarray of shape (n_samples, n_targets), optional

    Returns
    -------
    ndarray of int of shape (min(n_centers, n_samples),)

    References
    ----------
    C. Williams, M. Seeger, Using the Nystroem method to speed up kernel machines, NIPS 2000.
    """
    return random.choice(X.shape[0], min(n_centers, X.shape[0]), replace=False)
