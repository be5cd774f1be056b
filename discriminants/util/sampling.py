"""Deterministic samples of the training rows, spread evenly over classes and order.

They depend only on the data. With random rows, the seed would change a small model more by these rows than by anything
else.
"""

import numpy as np


def spread_sample(codes: np.ndarray, size: int) -> np.ndarray:
    """Return at most `size` rows, ascending, from each class in proportion and at equal distances in its rows."""
    n_samples = codes.shape[0]
    if size >= n_samples:
        return np.arange(n_samples)
    by_class = np.argsort(codes, kind="stable")
    return np.sort(by_class[(2 * np.arange(size) + 1) * n_samples // (2 * size)])


def balanced_sample(codes: np.ndarray, size: int) -> np.ndarray:
    """Return at most `size` rows, ascending, with equal numbers from each class as far as possible.

    Smaller classes contribute all their rows, and the rest is shared by the others. Rows of a larger class are at equal
    distances in its order.
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
    share = max(share, 1)
    by_class = np.argsort(codes, kind="stable")
    of_row = counts[codes[by_class]]
    place = np.arange(codes.shape[0]) - (np.cumsum(counts) - counts)[codes[by_class]]
    wanted = np.minimum(share, of_row)
    return np.sort(by_class[(place + 1) * wanted // of_row > place * wanted // of_row])
