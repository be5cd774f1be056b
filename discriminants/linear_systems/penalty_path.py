"""Solutions for all penalties from one eigendecomposition."""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh

from discriminants.linear_systems.centred_scatter import centred_scatter, without_own_columns

_ROUNDING = 1e-6  # of the largest eigenvalue, in float32


class PenaltyPath:
    """Regularized least squares in kernel columns for any number of penalties mu.

    With C = V diag(l) V' the solution for mu is alpha = K'V (V'Hy / (l + mu)), or without the K' for the penalty
    "kernel" (Suykens et al. 2002, section 4.1.4; the spectral path). The decomposition takes O(N^3) time, several times
    that of one Cholesky factorisation, and 32 N^2 bytes; each penalty O(N^2) time after it.

    The constant vector stays among the eigenvectors and is handled analytically. If C has other eigenvalues near zero,
    it mixes with their vectors, and dropping a column of V would drop a part of them. `eigenvalues` (n_samples - 1,) of
    C ascend, without that of the constant vector. K (n_samples, n_columns) is overwritten; it is square for the penalty
    "kernel", mu alpha'K alpha; "identity" is mu alpha'alpha. Raises ValueError as `centred_scatter`.
    """

    def __init__(self, K: np.ndarray, penalty: str = "identity") -> None:
        C, self._column_means = centred_scatter(K, penalty)
        self._HK = K if penalty == "identity" else None
        eigenvalues, vectors = eigh(C.T, overwrite_a=True, check_finite=False, driver="evd")
        # The last is the constant vector, with by far the largest eigenvalue.
        self.eigenvalues, self._vectors = eigenvalues[:-1], vectors[:, :-1]
        if penalty == "identity":
            self.eigenvalues = np.maximum(self.eigenvalues, 0.0)

    def solve(self, targets: np.ndarray, regularization: float) -> tuple[np.ndarray, np.ndarray]:
        """Compute weights (n_columns, n_outputs) and biases (n_outputs,) for targets (n_samples, n_outputs) and one mu
        > 0.
        """
        inverse = self._inverses([regularization])[0]
        beta = self._vectors @ (inverse[:, None] * (self._vectors.T @ targets))
        alpha = beta if self._HK is None else self._HK.T @ beta
        return alpha, targets.mean(axis=0) - self._column_means @ alpha

    def leave_one_out_outputs(
        self, targets: np.ndarray, regularizations: Sequence[float], *, own_column: bool = True
    ) -> np.ndarray:
        """Compute leave-one-out outputs of every training sample, (n_regularizations, n_samples, n_outputs).

        Outputs are linear in the targets and the penalty is quadratic, hence y_i - f^(-i)(x_i) = (y_i - f(x_i)) / (1 -
        h_ii), with I - (h_ij) = mu (C + mu I)^-1 - 11'/N. With the penalty "kernel" this is the model trained without
        the sample. With "identity" the sample's kernel column stays, as in a dictionary chosen beforehand; only its
        label is left out. `own_column` False also leaves out its column u of HK, if there is one per sample. C is then
        C - uu', and (C - uu' + mu I)^-1 follows from (C + mu I)^-1 by Sherman and Morrison (`without_own_columns`).
        Raises ValueError for a penalty that is not positive, or too small for the kernel.
        """
        inverses = self._inverses(regularizations)
        rotated = self._vectors.T @ targets
        diagonals = inverses @ (self._vectors**2).T
        betas = np.stack([self._vectors @ (inverse[:, None] * rotated) for inverse in inverses])
        if not own_column and self._HK is not None and self._HK.shape[0] == self._HK.shape[1]:
            columns = self._vectors.T @ self._HK
            alphas = np.stack([columns.T @ (inverse[:, None] * rotated) for inverse in inverses])
            squares, crossings = inverses @ columns**2, inverses @ (self._vectors.T * columns)
            betas, diagonals = without_own_columns(betas, diagonals, alphas, squares, crossings)
        return targets - betas / diagonals[:, :, None]

    def effective_parameters(self, regularizations: Sequence[float]) -> np.ndarray:
        """Compute 1 + sum_i l_i / (l_i + mu), shape (len(regularizations),): the trace of the smoother, 1 for the
        bias.
        """
        return 1.0 + (self._inverses(regularizations) * self.eigenvalues).sum(axis=1)

    def generalised_cross_validation(self, targets: np.ndarray, regularizations: Sequence[float]) -> np.ndarray:
        """Compute N |y - f|^2 / (N - effective parameters)^2 summed over the outputs, shape (len(regularizations),)."""
        n_samples = targets.shape[0]
        mu = np.asarray(regularizations, dtype=np.float64)
        squares = ((self._vectors.T @ targets) ** 2).sum(axis=1)
        residual = (mu[:, None] * self._inverses(regularizations)) ** 2 @ squares
        return n_samples * residual / (n_samples - self.effective_parameters(regularizations)) ** 2

    def _inverses(self, regularizations: Sequence[float]) -> np.ndarray:
        """Compute 1 / (l + mu), shape (n_penalties, n_samples - 1)."""
        mu = np.asarray(regularizations, dtype=np.float64)
        if mu.ndim != 1 or not (np.isfinite(mu).all() and (mu > 0).all()):
            raise ValueError(f"regularizations must be positive finite numbers, got {regularizations!r}")
        inverses = 1.0 / (self.eigenvalues + mu[:, None])
        if not (inverses > 0).all():
            smallest, largest = self.eigenvalues[[0, -1]]
            rounded = -smallest < _ROUNDING * largest
            raise ValueError(
                f"the kernel has negative eigenvalues, down to {smallest:.3g}, "
                f"{'from rounding' if rounded else 'so it is not positive semidefinite'}. "
                f"Expected {'centered X' if rounded else 'another kernel'}, or regularizations above {-smallest:.3g}"
            )
        return inverses
