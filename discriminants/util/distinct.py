"""Distinct rows of an array or a sparse array."""

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
