"""Seeded samples of the training rows."""

import numpy as np


def balanced_sample(codes: np.ndarray, size: int, random: np.random.RandomState) -> np.ndarray:
    """Rows, ascending, at most `size`, as equally many from each class as the classes hold.

    Classes smaller than their share give all they have, and what they leave is shared by the others.

    Parameters
    ----------
    codes : ndarray of int of shape (n_samples,)
        Class numbers from 0.
    size : int

    Returns
    -------
    ndarray of int of shape (min(size, n_samples),) or at most a class's share less
    """
    if size >= codes.shape[0]:
        return np.arange(codes.shape[0])
    counts = np.bincount(codes)
    ascending = np.sort(counts[counts > 0])
    left, share = size, 0
    for i, count in enumerate(ascending):
        share = left // (ascending.shape[0] - i)
        if count >= share:
            break
        left -= count
    order = random.permutation(codes.shape[0])
    by_class = order[np.argsort(codes[order], kind="stable")]
    starts = np.cumsum(counts) - counts
    place = np.arange(codes.shape[0]) - starts[codes[by_class]]
    return np.sort(by_class[place < max(share, 1)])
