"""Eigenpairs of a centered kernel matrix, the basis of all evidence computations."""

import numpy as np
from scipy.linalg import eigh

_NEGATIVE = 1e-6  # of the largest eigenvalue: rounding of a zero in float32
_ROUNDING = 1e-13  # of the sum of the diagonal


class KernelSpectrum:
    """C = S (I - 1 v'/W) K (I - v 1'/W) S = V diag(l) V' on the directions orthogonal to S1: S^2 = diag(v), W = 1'v.

    With the model y_i = w'phi(x_i) + b + e_i, w ~ N(0, s^2 I), e_i ~ N(0, r s^2 / v_i), and a flat prior of b, the
    rotated targets V'Sy are independent with variances s^2 (l + r), for any s and r (Suykens et al. 2002, sections
    4.1.4 and 4.2; there mu = 1 / s^2, zeta = 1 / (r s^2)). The constant vector gets the largest eigenvalue and is
    dropped. All other n - 1 directions stay, including those outside the range of the kernel.

    Time is O(n^3). Memory is 24 n^2 bytes, with 8 n^2 kept; K (n, n) is overwritten. `weight` is v > 0, ones by
    default. `eigenvalues` (n - 1,) are l >= 0, ascending, `vectors` (n, n - 1) V, `root` (n,) the diagonal of S,
    `share` v / W, `column_means` K v / W, `total` W, and `size` sum_i v_i K_ii, which no eigenvalue exceeds. Raises
    ValueError if C has negative eigenvalues that rounding does not explain.
    """

    def __init__(self, K: np.ndarray, weight: np.ndarray | None = None) -> None:
        v = np.ones(K.shape[0]) if weight is None else weight
        self.total = float(v.sum())
        self.root, self.share = np.sqrt(v), v / self.total
        self.size = float(v @ K.diagonal())
        self.column_means = self.share @ K
        K -= self.column_means
        K -= (K @ self.share)[:, None]
        K *= self.root
        K *= self.root[:, None]
        constant = np.sqrt(self.share)
        K += np.outer(constant, 2.0 * float(np.linalg.norm(K)) * constant)
        eigenvalues, vectors = eigh(K.T, overwrite_a=True, check_finite=False, driver="evd")
        if eigenvalues[0] < -_NEGATIVE * eigenvalues[-2] - _ROUNDING * self.size:
            raise ValueError(
                f"the kernel has negative eigenvalues, down to {eigenvalues[0]:.3g}. "
                "Expected a positive semidefinite kernel"
            )
        self.eigenvalues = np.maximum(eigenvalues[:-1], 0.0)
        self.vectors = vectors[:, :-1]

    def rotated(self, targets: np.ndarray) -> np.ndarray:
        """Compute V'S(y - mean), shape (n - 1, n_outputs), of targets (n, n_outputs)."""
        return self.vectors.T @ (self.root[:, None] * (targets - self.share @ targets))

    def weights(self, rotated: np.ndarray, regularizations: np.ndarray) -> np.ndarray:
        """Compute alpha (n, n_outputs) for penalties r (n_outputs,), one per column of rotated targets. The columns of
        alpha sum to zero. The residual of sample i is r alpha_i / v_i.
        """
        return self.root[:, None] * (self.vectors @ (rotated / (self.eigenvalues[:, None] + regularizations)))

    def inverse_diagonal(self, regularizations: np.ndarray) -> np.ndarray:
        """Compute the diagonal of the bordered system's inverse, (n, n_outputs). The leave-one-out residual is alpha_i
        divided by its entry.
        """
        inverses = 1.0 / (self.eigenvalues[:, None] + regularizations)
        return self.root[:, None] ** 2 * (self.vectors**2 @ inverses)
