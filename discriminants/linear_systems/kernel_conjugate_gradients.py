"""Regularized least squares in a kernel space by conjugate gradients, without a stored matrix."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from discriminants.kernels import Kernel
from discriminants.linear_systems.conjugate_gradients import conjugate_gradients
from discriminants.linear_systems.pivoted_cholesky import pivoted_cholesky
from discriminants.linear_systems.weighted_ridge import too_small


class IterativeSolution(NamedTuple):
    """Result of conjugate gradients."""

    alpha: np.ndarray  # (n_samples, n_outputs): sums to zero over the samples
    bias: np.ndarray  # (n_outputs,)
    residual: float  # norm of y - (K + mu V^-1) alpha - b relative to that of y - mean(y), worst output
    n_products: int  # number of evaluations of all kernel values
    converged: bool  # whether it stopped before `max_products`


def kernel_conjugate_gradients(
    kernel: Kernel,
    X: np.ndarray,
    targets: np.ndarray,
    regularization: float,
    weight: np.ndarray | None = None,
    *,
    tol: float = 1e-6,
    rank: int = 200,
    max_products: int = 2000,
) -> IterativeSolution:
    """Solve (K + mu V^-1) alpha + 1 b = y, 1'alpha = 0, for all outputs together (Suykens et al. 2002, section 3.4.1).

    The source eliminates the bias by a second system with the right-hand side 1. Here the iteration stays among vectors
    that sum to zero, where the matrix is definite. This needs one system per output, and the large eigenvalue along 1
    has no effect. Each iteration evaluates the kernel once for all outputs, in blocks of rows that are not stored. The
    preconditioner is the inverse of G G' + mu V^-1 with the same border, G the pivoted Cholesky factor of K. Small
    penalties therefore take few more iterations if the spectrum of K decays within `rank`.

    Time is O(N^2) kernel values an iteration and O(N rank^2) before the first; memory is 8 N (rank + 256) bytes, and a
    few times 8 N for every output. `weight` is v > 0, default ones. Iterations stop when the residual in the norm of
    the preconditioner is `tol` times that of the targets; `rank` 0 gives conjugate gradients without a preconditioner.
    Raises ValueError if k(x, x) is negative or not finite for a sample, or the penalty is below the rounding of k(x,
    x).
    """
    X = X.astype(np.float64, copy=False)
    weight = np.ones(X.shape[0]) if weight is None else weight
    share = weight / weight.sum()
    ridge = (regularization / weight)[:, None]
    if ridge.min() < np.finfo(np.float64).eps * kernel.diagonal(X).max():
        raise ValueError(too_small(regularization))
    columns = kernel.columns(X, np.float64)
    means = share @ targets
    sizes = np.abs(targets - means).max(axis=0)
    sizes[sizes == 0] = 1.0
    centred = (targets - means) / sizes
    n_products = 0

    def product(alpha: np.ndarray) -> np.ndarray:
        nonlocal n_products
        n_products += 1
        image = columns.product(X, alpha) + ridge * alpha
        return image - image.mean(axis=0)

    alpha = conjugate_gradients(
        product,
        centred - centred.mean(axis=0),
        _Preconditioner(pivoted_cholesky(kernel, X, rank).G, ridge),
        tolerance=tol,
        max_products=max_products,
        separate=True,
    )
    alpha -= alpha.mean(axis=0)
    left = centred - columns.product(X, np.ascontiguousarray(alpha))
    bias = share @ left
    missed = np.linalg.norm(left - ridge * alpha - bias, axis=0)
    lengths = np.linalg.norm(centred, axis=0)
    residual = float((missed / np.where(lengths > 0, lengths, 1.0)).max())
    return IterativeSolution(sizes * alpha, means + sizes * bias, residual, n_products + 1, n_products < max_products)


class _Preconditioner:
    """Compute alpha of [G G' + R, 1; 1', 0] [alpha; b] = [r; 0], R diagonal, by Woodbury's formula."""

    def __init__(self, G: np.ndarray, ridge: np.ndarray) -> None:
        self._inverse_ridge = 1.0 / ridge
        self._G = G
        self._factor = cho_factor(np.eye(G.shape[1]) + G.T @ (self._inverse_ridge * G)) if G.shape[1] else None
        self._of_ones = self._unbordered(np.ones_like(ridge))

    def __call__(self, right: np.ndarray) -> np.ndarray:
        solution = self._unbordered(right)
        return solution - self._of_ones * (solution.sum(axis=0) / self._of_ones.sum())

    def _unbordered(self, right: np.ndarray) -> np.ndarray:
        scaled = self._inverse_ridge * right
        if self._factor is None:
            return scaled
        return scaled - self._inverse_ridge * (self._G @ cho_solve(self._factor, self._G.T @ scaled))
