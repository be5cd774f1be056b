"""Centers by k-means: the samples nearest to the cluster means."""

import numpy as np
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
    than `n_centers` if clusters are empty.
    """
    X = _near_origin(X.astype(np.float64))
    n_clusters = min(n_centers, X.shape[0])
    batch = max(_MIN_BATCH, 4 * n_clusters)
    seed = int(random.randint(np.iinfo(np.int32).max))
    clusters = MiniBatchKMeans(n_clusters, batch_size=batch, n_init=1, random_state=seed).fit(X)
    labels = clusters.labels_
    distances = np.linalg.norm(X - clusters.cluster_centers_[labels], axis=1)
    nearest_first = np.lexsort((distances, labels))
    _, first, sizes = np.unique(labels[nearest_first], return_index=True, return_counts=True)
    return nearest_first[first][np.argsort(-sizes, kind="stable")]


def _near_origin(X: np.ndarray) -> np.ndarray:
    """Scale by a power of two so that squares are finite, and shift if distances would be lost in rounding."""
    low, high = X.min(axis=0), X.max(axis=0)
    largest = np.maximum(high, -low)
    X = X * 2.0 ** -float(np.clip(np.frexp(largest.max())[1], -1022, 1022))
    far = 0.5 * largest > _FAR * (0.5 * high - 0.5 * low)
    if not far.any():
        return X
    return _near_origin(X - np.where(far, X[0], 0.0))
