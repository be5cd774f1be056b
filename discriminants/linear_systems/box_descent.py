"""Coordinate descent on a box-constrained dual: two multipliers at a time within blocks of samples."""

from typing import NamedTuple

import numpy as np

from discriminants.kernels import Kernel
from discriminants.linear_systems.coordinate_descent import working_set
from discriminants.linear_systems.kernel_values import kernel_matrix
from discriminants.util.numba_cache import njit

_WHOLE = 3000  # maximum number of samples for a stored kernel matrix, 72 MB
_INNER = 20  # maximum number of pair steps per sample of a block


class BoxDescent(NamedTuple):
    """Result of a descent."""

    beta: np.ndarray  # (n_samples,): multipliers in [-1, 1]; they sum to zero
    bias: float
    violation: float  # violation of the optimality conditions, in units of the targets
    n_blocks: int


class KernelRows:
    """Columns of the kernel matrix of the samples; `whole` is the matrix if it is small, else None."""

    def __init__(self, kernel: Kernel, X: np.ndarray) -> None:
        self._kernel, self._X = kernel, X
        self.n_samples = X.shape[0]
        self.whole = kernel_matrix(kernel, X, X) if X.shape[0] <= _WHOLE else None

    def at(self, rows: np.ndarray) -> np.ndarray:
        """Return K[:, rows]."""
        if self.whole is not None:
            return self.whole[:, rows]
        return kernel_matrix(self._kernel.at(rows), self._X, self._X[rows])


def box_descent(
    columns: KernelRows,
    target: np.ndarray,
    regularization: float,
    delta: float,
    *,
    start: np.ndarray | None = None,
    tol: float = 1e-3,
    block_size: int = 100,
    max_blocks: int = 100_000,
) -> BoxDescent:
    """Maximize y'beta - delta |beta|^2 / 2 - beta'K beta / (2 C) for 1'beta = 0, -1 <= beta_i <= 1 (Mika 2002, 3.51).

    This is the dual of sum_i loss(xi_i) + C w'w / 2 with f = K beta / C + b and xi = y - f. For delta = 0 the loss is
    the absolute slack. Otherwise it is Huber's: xi^2 / (2 delta) up to delta and |xi| - delta / 2 beyond (3.52; the
    source gives only the primal). Within a block of samples with extreme gradients, the descent moves pairs of one
    multiplier that may rise and one that may fall. The gradient of all samples is updated after each block
    (`working_set`).

    K is positive semidefinite and C = `regularization` > 0. The descent starts at `start`, or at zero, and stops when
    no pair violates the conditions by more than `tol`, in units of the targets, or after `max_blocks`.
    """
    random = np.random.default_rng(0)
    beta, gradient = np.zeros_like(target), -target
    if start is not None:
        beta, some = start.copy(), np.flatnonzero(start)
        gradient += columns.at(some) @ beta[some] / regularization + delta * beta
    n_blocks = 0
    while True:
        rising = np.where(beta < 1.0, gradient, np.inf)  # may rise: the lowest gains most
        falling = np.where(beta > -1.0, gradient, -np.inf)
        lowest, highest = float(rising.min()), float(falling.max())
        if highest - lowest <= tol or n_blocks >= max_blocks:
            break
        block = np.union1d(
            working_set(np.where(beta > -1.0, gradient, lowest)[:, None], block_size, random),
            [int(rising.argmin()), int(falling.argmax())],
        )
        K = columns.at(block)
        before = beta[block].copy()
        own, g = before.copy(), gradient[block].copy()
        _pairs(np.ascontiguousarray(K[block]) / regularization, own, g, delta, 0.1 * tol, _INNER * block.shape[0])
        step = own - before
        beta[block] = own
        gradient += K @ (step / regularization)
        gradient[block] += delta * step
        n_blocks += 1
    free = np.abs(beta) < 1.0 - 1e-9
    bias = -float(gradient[free].mean()) if free.any() else -0.5 * (lowest + highest)
    return BoxDescent(beta, bias, max(0.0, highest - lowest), n_blocks)


@njit(cache=True, nogil=True)
def _pairs(H: np.ndarray, beta: np.ndarray, gradient: np.ndarray, delta: float, tol: float, most: int) -> None:
    """Move the pair with the steepest gradients until they agree to `tol`; H = K / C of the block."""
    n = beta.shape[0]
    for _ in range(most):
        i, j = -1, -1
        for k in range(n):
            if beta[k] < 1.0 and (i < 0 or gradient[k] < gradient[i]):
                i = k
        best = 0.0
        for k in range(n):  # the partner with the largest gain: second-order selection
            if beta[k] > -1.0:
                difference = gradient[k] - gradient[i]
                if difference > tol:
                    curvature = max(H[i, i] + H[k, k] - 2.0 * H[i, k] + 2.0 * delta, 1e-12)
                    gain = difference * difference / curvature
                    if gain > best:
                        best, j = gain, k
        if j < 0:
            return
        curvature = max(H[i, i] + H[j, j] - 2.0 * H[i, j] + 2.0 * delta, 1e-12)
        step = min((gradient[j] - gradient[i]) / curvature, 1.0 - beta[i], beta[j] + 1.0)
        beta[i] += step
        beta[j] -= step
        if 1.0 - beta[i] < 1e-12:
            beta[i] = 1.0
        if beta[j] + 1.0 < 1e-12:
            beta[j] = -1.0
        for k in range(n):
            gradient[k] += step * (H[k, i] - H[k, j])
        gradient[i] += delta * step
        gradient[j] -= delta * step
