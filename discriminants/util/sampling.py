"""Samples of the training rows, spread evenly over classes and order.

They depend on the data alone: which rows are drawn at random moves a small model more than anything else that a seed
decides.
"""

import numpy as np


def spread_sample(codes: np.ndarray, size: int) -> np.ndarray:
    """Rows, ascending, at most `size`: of each class in proportion, and at equal distances in the order of its rows."""
    n_samples = codes.shape[0]
    if size >= n_samples:
        return np.arange(n_samples)
    by_class = np.argsort(codes, kind="stable")
    return np.sort(by_class[(2 * np.arange(size) + 1) * n_samples // (2 * size)])


def balanced_sample(codes: np.ndarray, size: int) -> np.ndarray:
    """Rows, ascending, at most `size`, as equally many from each class as the classes hold.

    Classes smaller than their share give all they have, and what they leave is shared by the others; of a larger one
    they are at equal distances in the order of its rows.
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
