"""Deterministic samples of the training rows, spread evenly over classes and order.

They depend only on the data. With random rows, the seed would change a small model more by these rows than by anything
else.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import issparse


def distinct_rows(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the first row at each distinct point, ascending, and for each row the position of its point among these.

    Coordinates are compared exactly. X has shape (n_samples, n_features); a sparse X is a csr_array with sorted indices
    and without stored zeros.
    """
    if issparse(X):
        numbers: dict[bytes, int] = {}
        which = np.array([numbers.setdefault(key, len(numbers)) for key in row_keys(X)], dtype=np.intp)
        return np.unique(which, return_index=True)[1], which
    _, first, which = np.unique(X, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[which.ravel()]


def row_keys(X: Any) -> list[bytes]:
    """Return the bytes of each row; for a sparse X, those of its indices and values."""
    if not issparse(X):
        return [x.tobytes() for x in X]
    return [X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in pairwise(X.indptr)]


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


MIN_SAMPLES_A_CENTER = 10
"""Samples per center below which parameters set to "auto" are chosen on held-out samples, at little cost."""


def are_few(n_samples: int, n_centers: int) -> bool:
    """Return whether there are few samples for the number of centers."""
    return n_samples < MIN_SAMPLES_A_CENTER * n_centers
