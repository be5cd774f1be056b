"""The centres of a kernel logistic model, chosen before its weights."""

import numpy as np

from discriminants.kernels import Kernel
from discriminants.multiclass.one_vs_rest import one_vs_rest_targets
from discriminants.sampling import balanced_sample
from discriminants.selection.forward_selection import forward_selection
from discriminants.selection.gram import accumulate_gram
from discriminants.selection.gram_state import GramState
from discriminants.selection.rules import error_reduction


def random_dictionary(
    kernel: Kernel, X: np.ndarray, n_centers: int, random: np.random.RandomState
) -> tuple[Kernel, np.ndarray]:
    """Centres drawn at random, no point twice: the kernel for them and their rows in X, (m,)."""
    rows = random.permutation(_distinct(kernel, X, np.arange(X.shape[0])))[:n_centers]
    candidate_kernel, which = kernel.at(rows).over(X[rows])
    if which.shape[0] <= n_centers:
        return candidate_kernel, rows[which]
    drawn = random.permutation(which.shape[0])[:n_centers]
    return candidate_kernel.at(drawn), rows[which[drawn]]


def selected_dictionary(
    kernel: Kernel,
    X: np.ndarray,
    codes: np.ndarray,
    weight: np.ndarray,
    *,
    n_classes: int,
    n_centers: int,
    n_candidates: int,
    n_samples: int,
    random: np.random.RandomState,
) -> tuple[Kernel, np.ndarray]:
    """Centres by orthogonal least squares on one-vs-rest targets, no point twice.

    Parameters
    ----------
    kernel : Kernel
        Resolved on X.
    X : ndarray of shape (N, n_features)
    codes : ndarray of int of shape (N,)
        Class numbers.
    weight : ndarray of shape (N,)
    n_candidates : int
        Samples among which centres are chosen.
    n_samples : int
        Samples, balanced over the classes, on which the squared loss is measured.

    Returns
    -------
    kernel : Kernel
        For the centres.
    rows : ndarray of int of shape (m,)
        Their rows in X.

    Raises
    ------
    ValueError
        If there are to be fewer candidates than centres.
    """
    if n_candidates < n_centers:
        raise ValueError(
            f"n_candidates = {n_candidates} is fewer than n_centers = {n_centers}; "
            "two or three candidates for each centre are usual"
        )
    rows = balanced_sample(codes, max(n_samples, n_candidates), random)
    points = _distinct(kernel, X, rows)
    if points.shape[0] > n_candidates:
        points = random.permutation(points)[:n_candidates]
    candidate_kernel, which = kernel.at(points).over(X[points])
    candidates = points[which]
    gram = accumulate_gram(
        candidate_kernel,
        X[rows],
        one_vs_rest_targets(codes[rows], n_classes),
        X[candidates],
        sample_weight=weight[rows],
        exact=False,
    )
    order = forward_selection(GramState(gram, n_centers), error_reduction, n_centers)
    # Where no column varies over the samples there is nothing to choose by, and one centre says as much as
    # many.
    chosen = np.array(order or [0], dtype=np.intp)
    return candidate_kernel.at(chosen), candidates[chosen]


def _distinct(kernel: Kernel, X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """One of `rows` for each distinct point, in the order of the points' coordinates."""
    if not kernel.centers_are_points:
        return rows
    _, first = np.unique(X[rows], axis=0, return_index=True)
    return rows[first]
