"""Centers by k-means: the samples nearest to the cluster means."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.cluster import MiniBatchKMeans

from discriminants.kernels import Kernel

_MIN_BATCH = 1024
_FAR = 1e3  # times the range of a feature


def cluster_means(
    X: np.ndarray, kernel: Kernel, n_centers: int, random: np.random.RandomState, targets: np.ndarray | None = None
) -> np.ndarray:
    """Return the sample nearest to the mean of each k-means cluster, largest cluster first; for `CHOOSERS`.

    Source: K. Zhang, I. Tsang, J. Kwok, Improved Nystroem low-rank approximation and error analysis, ICML 2008.
    Distances are those of the features for any kernel, or of matrix rows for a precomputed one. There are fewer rows
    than `n_centers` if clusters are empty. The cluster means are dense also for sparse samples.
    """
    X = X.astype(np.float64)
    X = _near_zero(X) if issparse(X) else _near_origin(X)
    n_clusters = min(n_centers, X.shape[0])
    batch = max(_MIN_BATCH, (1 if issparse(X) else 4) * n_clusters)  # products with dense means are slow if X is sparse
    seed = int(random.randint(np.iinfo(np.int32).max))
    clusters = MiniBatchKMeans(n_clusters, batch_size=batch, n_init=1, random_state=seed).fit(X)
    labels = clusters.labels_
    if issparse(X):
        distances = _sparse_distances(X, clusters.cluster_centers_, labels)
    else:
        distances = np.linalg.norm(X - clusters.cluster_centers_[labels], axis=1)
    nearest_first = np.lexsort((distances, labels))
    _, first, sizes = np.unique(labels[nearest_first], return_index=True, return_counts=True)
    return nearest_first[first][np.argsort(-sizes, kind="stable")]


def _sparse_distances(X: Any, means: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the squared distance of each row to the mean of its cluster, up to rounding, from its nonzero values."""
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    products = X.data.astype(np.float64) * (X.data - 2.0 * means[labels[rows], X.indices])
    return np.bincount(rows, products, X.shape[0]) + np.einsum("ij,ij->i", means, means)[labels]


def _near_zero(X: Any) -> Any:
    """Scale a sparse X by a power of two so that squares are finite; in float32, for half the memory of the means."""
    return (X * _unit(np.abs(X.data).max(initial=0.0))).astype(np.float32)


def _unit(largest: float) -> float:
    """Return a power of two that scales values so that their squares are finite."""
    return 2.0 ** -float(np.clip(np.frexp(largest)[1], -1022, 1022))


def _near_origin(X: np.ndarray) -> np.ndarray:
    """Scale by a power of two so that squares are finite, and shift if distances would be lost in rounding."""
    low, high = X.min(axis=0), X.max(axis=0)
    largest = np.maximum(high, -low)
    X = X * _unit(largest.max())
    far = 0.5 * largest > _FAR * (0.5 * high - 0.5 * low)
    if not far.any():
        return X
    return _near_origin(X - np.where(far, X[0], 0.0))
