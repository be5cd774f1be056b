"""Transformed copies as further samples of their class (Schoelkopf, Burges and Vapnik 1996), for least squares."""

from dataclasses import dataclass

import numpy as np

from discriminants.kernels import Kernel

_BLOCK_ROWS = 2048


@dataclass(frozen=True)
class VirtualSums:
    """Sums over all copies of the samples, for kernel columns less `middle`."""

    columns: np.ndarray  # (m,)
    squares: np.ndarray  # (m, m): products of columns
    targets: np.ndarray  # (m, n_outputs): products of columns with targets
    moved: np.ndarray  # (m, m): the tangent covariance (Mika 2002, 3.23) as a sum; zeros unless requested

    @classmethod
    def over(
        cls,
        kernel: Kernel,
        centers: np.ndarray,
        copies: np.ndarray,
        middle: np.ndarray,
        targets: np.ndarray,
        samples: np.ndarray | None = None,
    ) -> "VirtualSums":
        """Sum, in blocks of rows, over copies (n_transformations, n_samples, n_features).

        `middle` (m,) approximates the mean of the columns and reduces rounding in the sums. `targets` are those of the
        samples, and of each of their copies. `samples` (n_samples, m) are the columns of the samples less `middle`, if
        `moved` is requested.
        """
        of = kernel.columns(centers.astype(np.float64, copy=False), np.float64)
        m = of.n_centers
        columns, squares, sums, moved = np.zeros(m), np.zeros((m, m)), np.zeros((m, targets.shape[1])), np.zeros((m, m))
        for copy in copies:
            for start in range(0, copy.shape[0], _BLOCK_ROWS):
                rows = slice(start, min(start + _BLOCK_ROWS, copy.shape[0]))
                block = of.block(copy[rows].astype(np.float64)) - middle
                columns += block.sum(axis=0)
                squares += block.T @ block
                sums += block.T @ targets[rows]
                if samples is not None:
                    block -= samples[rows]
                    moved += block.T @ block
        return cls(columns, squares, sums, moved)
