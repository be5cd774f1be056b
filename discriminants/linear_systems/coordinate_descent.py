"""Block coordinate descent for the bordered system of a kernel machine, without a stored matrix."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from discriminants.kernels import Kernel
from discriminants.linear_systems.bordered_system import BorderedSystem
from discriminants.linear_systems.kernel_values import kernel_matrix
from discriminants.linear_systems.weighted_ridge import too_small

# Extremes of the gradient over all samples form clusters of redundant near neighbors. The extremes within
# a random part of the samples are spread out, so a descent needs only a fraction of the blocks.
_SHARE = 0.2


def working_set(gradient: np.ndarray, size: int, random: np.random.Generator) -> np.ndarray:
    """Select samples with the largest and smallest gradient of each output, equally many of both, ascending.

    Candidates are a random fifth of the samples. Moving one coefficient up and another down keeps their sum, so both
    ends of the gradient are needed (Mika 2002, section 3.5.3, takes the two extremes of all samples). `size` is at
    least two per output; fewer samples are returned if extremes coincide.
    """
    n_samples, n_outputs = gradient.shape
    each = max(1, size // (2 * n_outputs))
    pool = min(n_samples, max(2 * each, int(_SHARE * n_samples)))
    rows = np.arange(n_samples) if pool == n_samples else random.choice(n_samples, pool, replace=False)
    if 2 * each >= pool:
        return np.sort(rows)
    order = np.argpartition(gradient[rows], (each - 1, pool - each), axis=0)
    return np.unique(rows[np.concatenate([order[:each], order[pool - each :]])])


BLOCK_SIZE = 100
"""Default number of samples whose coefficients move together."""


class Descent(NamedTuple):
    """Result of a descent."""

    alpha: np.ndarray  # (n_samples, n_outputs): sums to zero over the samples
    bias: np.ndarray  # (n_outputs,)
    figures: float  # significant figures of agreement of primal and dual objective, worst output
    infeasibility: float  # norm of the residual relative to that of the targets, worst output
    n_blocks: int  # blocks of coordinates that were solved
    converged: bool  # whether both agree to the requested figures


def block_descent(
    kernel: Kernel,
    X: np.ndarray,
    targets: np.ndarray,
    regularization: float,
    *,
    block_size: int = BLOCK_SIZE,
    n_cached: int = BLOCK_SIZE,
    figures: float = 1.0,
    max_blocks: int = 10_000,
) -> Descent:
    """Solve (K + mu I) alpha + 1 b = y, 1'alpha = 0, by coordinate descent on the dual (Mika 2002, section 3.5.3).

    The source moves the two coefficients with the largest and smallest gradient (sequential minimal optimization). Here
    each step moves a block of samples with extreme gradients of every output (`working_set`). The kernel columns of the
    block are one matrix product, and its small system is solved exactly for all outputs. The system also has the
    `n_cached` samples of earlier blocks whose gradients differed most, with their columns (the chunks of the same
    section), which saves half of the blocks or more. At most N (`block_size` + `n_cached`) kernel values are stored.

    The descent stops when primal and dual objectives agree to `figures` significant figures (3.62) and the residual,
    including the bias, is at most 10^-figures of the norm of the targets. The kernel is positive semidefinite, with one
    column per sample. A smaller mu, relative to the kernel values, takes more blocks. A block has at least two samples
    per output. Raises ValueError if a block's system is not positive definite.
    """
    targets = np.asarray(targets, dtype=np.float64)
    alpha = np.zeros_like(targets)
    products = np.zeros_like(targets)  # K alpha
    random = np.random.default_rng(0)  # equal samples give identical results
    cached, kept = np.empty(0, dtype=np.intp), np.empty((X.shape[0], 0))
    n_blocks, reached = 0, _Progress(alpha, products, targets, regularization)
    while not reached.within(figures) and n_blocks < max_blocks:
        gradient = products + regularization * alpha - targets
        new = np.setdiff1d(working_set(gradient, block_size, random), cached)
        block = np.concatenate([cached, new])
        columns = np.hstack([kept, kernel_matrix(kernel.at(new), X, X[new])]) if new.size else kept
        H = columns[block]
        H.flat[:: block.shape[0] + 1] += regularization
        try:
            step, _ = BorderedSystem(H).solve(-gradient[block])
        except LinAlgError:
            raise ValueError(too_small(regularization)) from None
        alpha[block] += step
        products += columns @ step
        n_blocks += 1
        unequal = np.abs(gradient[block] - gradient[block].mean(axis=0)).max(axis=1)
        last = np.argsort(unequal)[max(0, block.shape[0] - n_cached) :]
        cached, kept = block[last], columns[:, last]
        reached = _Progress(alpha, products, targets, regularization)
    return Descent(alpha, reached.bias, reached.figures, reached.infeasibility, n_blocks, reached.within(figures))


class _Progress:
    """The best bias for alpha, the duality gap and the infeasibility, of the worst output."""

    def __init__(self, alpha: np.ndarray, products: np.ndarray, targets: np.ndarray, mu: float) -> None:
        self.bias = (targets - products - mu * alpha).mean(axis=0)
        slack = targets - products - self.bias
        norm = 0.5 * mu * np.einsum("ij,ij->j", alpha, products)
        primal = 0.5 * np.einsum("ij,ij->j", slack, slack) + norm
        scaled = mu * alpha  # the multipliers of the source, with C = mu
        dual = np.einsum("ij,ij->j", targets, scaled) - 0.5 * np.einsum("ij,ij->j", scaled, scaled) - norm
        gap = np.abs(primal - dual) / (np.abs(primal) + 1.0)
        with np.errstate(divide="ignore"):
            self.figures = float(np.maximum(0.0, -np.log10(gap)).min())
        left = np.linalg.norm(slack - scaled, axis=0)
        lengths = np.linalg.norm(targets, axis=0)
        self.infeasibility = float((left / np.where(lengths > 0, lengths, 1.0)).max())

    def within(self, figures: float) -> bool:
        return self.figures >= figures and self.infeasibility <= 10.0**-figures
