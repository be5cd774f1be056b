"""Choice of centers according to the parameters of a learner."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from discriminants.center_selection.cluster_means import cluster_means
from discriminants.center_selection.entropy import entropy
from discriminants.center_selection.feature_vectors import feature_vectors
from discriminants.center_selection.leverage import leverage
from discriminants.kernels import Kernel
from discriminants.linear_systems.pivoted_cholesky import pivoted_cholesky
from discriminants.sparse.orols import OROLSRegressor
from discriminants.util.sampling import distinct_rows

_CANDIDATES = 3000
_FOR_EACH_CENTER = 2  # minimum number of candidates


def forward(
    X: np.ndarray, kernel: Kernel, n_centers: int, random: np.random.RandomState, targets: np.ndarray | None = None
) -> np.ndarray:
    """Add repeatedly the random candidate whose column lowers the regularized squared error most; for `CHOOSERS`.

    As in `OROLSRegressor`, the ridge is re-estimated after each center. There are P = 3000 candidates, or twice the
    number of centers if that is more. Takes O(N P^2 + P m^2) time and 24 P^2 bytes. There are fewer rows than
    `n_centers` if columns become dependent. Raises ValueError without targets.
    """
    if targets is None:
        raise ValueError("chooser = 'greedy' needs targets, got y = None")
    selection = OROLSRegressor(
        n_centers, n_candidates=max(_CANDIDATES, _FOR_EACH_CENTER * n_centers), tol=0.0, max_condition=np.inf
    )
    points, _, paths = selection.selection_paths(X, targets, kernel=kernel, random=random)
    return points[paths[0].order]


Chooser = Callable[[np.ndarray, Kernel, int, np.random.RandomState, np.ndarray | None], np.ndarray]


def random_rows(
    X: np.ndarray, kernel: Kernel, n_centers: int, random: np.random.RandomState, targets: np.ndarray | None = None
) -> np.ndarray:
    """Return min(n_centers, n_samples) rows of X, drawn uniformly; for `CHOOSERS`.

    Source: C. Williams, M. Seeger, Using the Nystroem method to speed up kernel machines, NIPS 2000.
    """
    return random.choice(X.shape[0], min(n_centers, X.shape[0]), replace=False)


def pivots(
    X: np.ndarray, kernel: Kernel, n_centers: int, random: np.random.RandomState, targets: np.ndarray | None = None
) -> np.ndarray:
    """Choose repeatedly the sample furthest from the span of the chosen ones, in the space of the kernel; for
    `CHOOSERS`.

    Takes O(N m^2) time and 8 N m bytes for m centers (Suykens et al. 2002, section 6.1.2). The choice is deterministic.
    There are fewer rows than `n_centers` if the samples span fewer dimensions.
    """
    return pivoted_cholesky(kernel, X, n_centers).pivots


CHOOSERS: Mapping[str, Chooser] = {
    "cholesky": pivots,
    "entropy": entropy,
    "feature-vectors": feature_vectors,
    "greedy": forward,
    "k-means": cluster_means,
    "leverage": leverage,
    "random": random_rows,
}
"""Choosers by name.

Each takes samples X, a symmetric kernel resolved on X, n_centers, random numbers, and targets or None. It returns
distinct rows of X, at most n_centers.
"""


def chosen_rows(
    chooser: Any,
    X: np.ndarray,
    kernel: Kernel,
    n_centers: int,
    random: np.random.RandomState,
    targets: np.ndarray | None = None,
    n_candidates: int | None = None,
) -> np.ndarray:
    """Return the rows of X that become centers, int (n,) with 1 <= n <= n_centers, in the order of choice.

    Each distinct sample is chosen at most once; all are returned if there are at most `n_centers`. `chooser` is a
    name in `CHOOSERS` or a function like them, `kernel` is symmetric and resolved on X, and `targets` has shape
    (n_samples, n_targets). With `n_candidates` only that number of random samples, and at least `n_centers`, is used
    for the choice. Raises ValueError if no column differs from a constant, or if a function does not return such rows.
    """
    candidates = np.arange(X.shape[0])
    size = X.shape[0] if n_candidates is None else max(n_candidates, n_centers)
    if size < X.shape[0]:
        candidates = np.sort(random.choice(candidates, size, replace=False))
    if kernel.centers_are_points:
        candidates = candidates[distinct_rows(X[candidates])[0]]
    if candidates.shape[0] <= n_centers:
        return candidates
    if isinstance(chooser, str):
        chooser = CHOOSERS[chooser]
    own = None if targets is None else targets[candidates]
    rows = np.asarray(chooser(X[candidates], kernel.at(candidates), n_centers, random, own))
    if rows.shape == (0,):
        raise ValueError(
            f"no center could be chosen: every column of {kernel} is zero or constant over the samples. "
            "Use a smaller width"
        )
    n = candidates.shape[0]
    sound = rows.ndim == 1 and rows.dtype.kind in "iu" and np.unique(rows).shape == rows.shape
    if not (sound and 1 <= rows.shape[0] <= n_centers and rows.min() >= 0 and rows.max() < n):
        raise ValueError(
            f"chooser {getattr(chooser, '__name__', chooser)!r} returned {rows!r}. "
            f"Expected 1 to {n_centers} different row numbers below {n}"
        )
    return candidates[rows]
