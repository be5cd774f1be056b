"""Centers drawn by ridge leverage scores."""

import numpy as np
from scipy.linalg import cholesky, eigvalsh, solve_triangular

from discriminants.kernels import Kernel
from discriminants.linear_systems.kernel_values import kernel_matrix

_BLOCK = 1024  # samples whose kernel values with the sketch are evaluated together
_SKETCH = 2  # samples of the sketch per center
_ROUNDING = 1e-10  # of the mean of k(x, x): the minimum penalty
_LEAST = 1e-12  # score of a sample in the span of the others


def leverage(
    X: np.ndarray, kernel: Kernel, n_centers: int, random: np.random.RandomState, targets: np.ndarray | None = None
) -> np.ndarray:
    """Draw rows of X with probabilities proportional to their ridge leverage scores; for `CHOOSERS`.

    For m centers, the penalty of the scores is the trace less the m largest eigenvalues, divided by m, so that the
    effective number of samples is about m. Scores and penalty are estimated from 2 m samples drawn at random. Takes O(N
    m^2) time and O(m^2) bytes. Sources: A. Alaoui, M. Mahoney, Fast randomized kernel ridge regression with statistical
    guarantees, NIPS 2015; C. Musco, C. Musco, Recursive sampling for the Nystroem method, NIPS 2017 (one level).
    """
    n_samples = X.shape[0]
    n_centers = min(n_centers, n_samples)
    sketch = random.choice(n_samples, min(_SKETCH * n_centers, n_samples), replace=False)
    scores = np.maximum(leverage_scores(X, kernel, sketch, n_centers), _LEAST)
    return random.choice(n_samples, n_centers, replace=False, p=scores / scores.sum())


def leverage_scores(X: np.ndarray, kernel: Kernel, sketch: np.ndarray, size: int) -> np.ndarray:
    """Estimate the diagonal of K (K + p I)^-1, values from 0 to 1, from the kernel values of a sketch.

    The sketch S has distinct rows of X. With c the fraction of the samples in S, the scores are (k_ii - k_iS (K_SS + c
    p I)^-1 k_Si) / p, exact if all samples are in S. p = (tr K - the `size` largest eigenvalues) / size, with the
    eigenvalues of K_SS / c. Raises ValueError if the kernel has large negative eigenvalues.
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
        raise ValueError(f"chooser = 'leverage' needs a positive semidefinite kernel, got {kernel}") from error
    scores = diagonal.astype(np.float64)
    for start in range(0, X.shape[0], _BLOCK):
        rows = slice(start, start + _BLOCK)
        part = solve_triangular(factor, kernel_matrix(columns, X[rows], points).T, lower=True, check_finite=False)
        scores[rows] -= np.einsum("ij,ij->j", part, part)
    return np.clip(scores / penalty, 0.0, 1.0)
