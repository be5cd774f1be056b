"""Orthogonal decomposition K = Q U of the selected columns, in numbers of size m: weights, residual, GCV."""

import copy
from typing import Self

import numpy as np
from scipy.linalg import solve_triangular


class OrthogonalSystem:
    """Orthogonal decomposition of the selected columns, [1 k_1 ... k_m] = Q R, Q with columns of length one.

    With q_i = d_i^(1/2) Q_i this is the source's K = Q U (Andelic 2007, 3.76), R = D^(1/2) U. Every quantity below
    holds for any penalty lambda on the orthogonal weights (3.80): the current penalty applies to all columns, not only
    to the last.

    R (m + 1, m + 1) is upper triangular, with the constant's column first; z (m + 1, S) is Q'Y; `unexplained` (S,) is
    |Y - Q Q'Y|^2 of each target.
    """

    def __init__(self, capacity: int, target_means: np.ndarray, target_energy: np.ndarray, n_samples: float) -> None:
        self._R = np.zeros((capacity + 1, capacity + 1), order="F")
        self._z = np.zeros((capacity + 1, target_means.shape[0]))
        self._R[0, 0] = np.sqrt(n_samples)
        self._z[0] = np.sqrt(n_samples) * target_means
        # Kept for every column in addition to R and z, because lambda is computed from them after each one.
        self._energies, self._squares = np.empty(capacity + 1), np.empty(capacity + 1)
        self._energies[0], self._squares[0] = self._R[0, 0] ** 2, self._z[0] @ self._z[0]
        self.size = 1
        self.unexplained = np.array(target_energy, dtype=np.float64)
        self.n_samples = n_samples

    def push(self, column: np.ndarray, projection: np.ndarray) -> None:
        """Append a column of R (length size + 1, its last entry |q|) and its row of Q'Y."""
        self._R[: self.size + 1, self.size] = column
        self._z[self.size] = projection
        self._energies[self.size], self._squares[self.size] = column[-1] ** 2, projection @ projection
        self.size += 1
        self.unexplained = np.maximum(self.unexplained - projection**2, 0.0)

    def leading(self, n_columns: int) -> Self:
        """Return a read-only view of the system with its first `n_columns` columns."""
        part = copy.copy(self)
        part.size = n_columns + 1
        part.unexplained = self.unexplained + (self.z[part.size :] ** 2).sum(axis=0)
        return part

    @property
    def R(self) -> np.ndarray:
        """Upper triangular factor, shape (size, size)."""
        return self._R[: self.size, : self.size]

    @property
    def z(self) -> np.ndarray:
        """Q'Y, shape (size, S)."""
        return self._z[: self.size]

    @property
    def energies(self) -> np.ndarray:
        """q_i'q_i of every column, shape (m + 1,)."""
        return self._energies[: self.size]

    def shrinkage(self, lam: float) -> np.ndarray:
        """Return q_i'q_i / (lambda + q_i'q_i), shape (m + 1,): the fraction of each projection kept by (3.83)."""
        energies = self.energies
        return energies / (lam + energies)

    def weights(self, lam: float = 0.0) -> np.ndarray:
        """Return (K'K + lambda U'U)^-1 K'Y of shape (m + 1, S), the bias first (3.83, 3.84)."""
        return solve_triangular(self.R, self.shrinkage(lam)[:, None] * self.z)

    def residual_sum_of_squares(self, lam: float = 0.0) -> np.ndarray:
        """Return |Y - K W|^2 of each target, shape (S,)."""
        return self.unexplained + ((1.0 - self.shrinkage(lam)) ** 2) @ self.z**2

    def generalised_cross_validation(self, lam: float = 0.0) -> float:
        """Return GCV (3.85), summed over the targets."""
        shrinkage = self.shrinkage(lam)
        free = self.n_samples - shrinkage.sum()
        return self.n_samples * self._summed_residual(shrinkage) / free**2 if free > 0 else np.inf

    def _summed_residual(self, shrinkage: np.ndarray) -> float:
        """Return |Y - K W|^2, summed over the targets."""
        return float(self.unexplained.sum() + ((1.0 - shrinkage) ** 2) @ self._squares[: self.size])

    @property
    def target_energy(self) -> np.ndarray:
        """|Y - mean|^2 of each target, shape (S,)."""
        return self.unexplained + (self.z[1:] ** 2).sum(axis=0)

    def reestimate_lambda(self, lam: float) -> float:
        """Return lambda after one fixed-point step that minimizes GCV (3.88, 3.89); unchanged if it is undefined."""
        energies = self.energies
        shrinkage = self.shrinkage(lam)
        free = self.n_samples - shrinkage.sum()
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            slopes = shrinkage / (lam + energies)
            curvature = (slopes / (lam + energies)) @ self._squares[: self.size]
            new = slopes.sum() * self._summed_residual(shrinkage) / (free * curvature)
        return float(new) if free > 0 and curvature > 0 and np.isfinite(new) else lam

    def maximize_evidence(self, lam: float) -> float:
        """Return lambda after one fixed-point step that maximizes the Bayesian evidence (MacKay 1992).

        Lambda is noise variance over weight variance; it is unchanged if the step is undefined or overflows.
        """
        energies = self.energies
        shrinkage = self.shrinkage(lam)
        determined = shrinkage.sum()
        free = self.n_samples - determined
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            squared_weights = (shrinkage / (lam + energies)) @ self._squares[: self.size]
            new = determined * self._summed_residual(shrinkage) / (free * squared_weights)
        return float(new) if free > 0 and squared_weights > 0 and np.isfinite(new) else lam
