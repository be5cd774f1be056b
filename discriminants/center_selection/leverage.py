"""Samples drawn by their leverage: how much of the kernel's range each holds by itself."""

import numpy as np
from scipy.linalg import cholesky, eigvalsh, solve_triangular

from discriminants.kernels import Kernel
from discriminants.linear_systems.kernel_values import kernel_matrix

_BLOCK = 1024  # samples whose kernel values with the sketch are evaluated together
_SKETCH = 2  # samples of the sketch for every centre
_ROUNDING = 1e-10  # of the mean of k(x, x): the least penalty
_LEAST = 1e-12  # score of a sample that the others span


def leverage(
    X: np.ndarray, kernel: Kernel, n_centers: int, random: np.random.RandomState, targets: np.ndarray | None = None
) -> np.ndarray:
    """Rows of X, drawn with probabilities in proportion to their ridge leverage scores; for `CHOOSERS`.

    The penalty of the scores is what the m largest eigenvalues leave of the trace, over m, for m centres, so that about
    as many samples count; scores and penalty are estimated from 2 m samples drawn at random. O(N m^2) time, O(m^2)
    bytes. Sources: A. Alaoui, M. Mahoney, Fast randomized kernel ridge regression with statistical guarantees, NIPS
    2015; C. Musco, C. Musco, Recursive sampling for the Nystroem method, NIPS 2017 (one level).
    """
    n_samples = X.shape[0]
    n_centers = min(n_centers, n_samples)
    sketch = random.choice(n_samples, min(_SKETCH * n_centers, n_samples), replace=False)
    scores = np.maximum(leverage_scores(X, kernel, sketch, n_centers), _LEAST)
    return random.choice(n_samples, n_centers, replace=False, p=scores / scores.sum())


def leverage_scores(X: np.ndarray, kernel: Kernel, sketch: np.ndarray, size: int) -> np.ndarray:
    """Estimates, 0 to 1, of the diagonal of K (K + p I)^-1, from the kernel values of a sketch: distinct rows of X.

    With c the share of the samples in the sketch S they are (k_ii - k_iS (K_SS + c p I)^-1 k_Si) / p, exact where all
    samples are in it. p = (tr K - the `size` largest eigenvalues) / size, the eigenvalues those of K_SS / c. Raises
    ValueError if the kernel has large negative eigenvalues.
    """
    share = sketch.shape[0] / X.shape[0]
    columns, points = kernel.at(sketch), X[sketch]
    K = kernel_matrix(columns, points, points)
    diagonal = kernel.diagonal(X)
    largest = eigvalsh(K)[::-1][:size].sum() / share
    penalty = max((diagonal.sum() - largest) / size, _ROUNDING * diagonal.mean(), np.finfo(np.float64).tiny)
    K.flat[:: K.shape[0] + 1] += share * penalty
    try:
        factor = cholesky(K, lower=True, overwrite_a=True)
    except np.linalg.LinAlgError as error:
        raise ValueError(f"leverage scores need a positive semidefinite kernel, which {kernel} is not") from error
    scores = diagonal.astype(np.float64)
    for start in range(0, X.shape[0], _BLOCK):
        rows = slice(start, start + _BLOCK)
        part = solve_triangular(factor, kernel_matrix(columns, X[rows], points).T, lower=True, check_finite=False)
        scores[rows] -= np.einsum("ij,ij->j", part, part)
    return np.clip(scores / penalty, 0.0, 1.0)
