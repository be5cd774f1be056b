"""Selection over all columns at once by modified Gram-Schmidt, the classical baseline, memory O(N P)."""

import numpy as np
from scipy.linalg import blas

from discriminants.center_selection.forward.kernel_matrix import KernelMatrix
from discriminants.center_selection.forward.orthogonal_system import OrthogonalSystem

_ROUNDING = 1e-14  # relative error of float64 kernel values


class GramSchmidtState:
    """State that stores every candidate's column, orthogonal to the chosen ones (Chen, Billings and Luo 1989).

    The dense reference for the other states (Andelic 2007, 3.71-3.75): O(N P) memory, and O(N P) time per step. A
    column is dropped as dependent if its orthogonal part has less than the fraction `tolerance` of its (centered)
    energy, or is at most the rounding error of the column's mean.
    """

    def __init__(self, matrix: KernelMatrix, targets: np.ndarray, n_centers: int, tolerance: float = 1e-10) -> None:
        targets = np.asarray(targets, dtype=np.float64)
        means = targets.mean(axis=0)
        n_samples = targets.shape[0]
        self._points = matrix.points
        self._centred_targets = targets - means
        self._raw_targets = targets
        self._rest = np.asfortranarray(matrix.columns(np.arange(matrix.shape[1])))
        self._means = self._rest.mean(axis=0)
        self._rest -= self._means
        self._energies = np.einsum("ij,ij->j", self._rest, self._rest)
        rounding = n_samples * (_ROUNDING * self._means) ** 2
        self._smallest = np.maximum(tolerance * self._energies, rounding)
        self.centred = self._energies.copy()
        self._coefficients = np.empty((n_centers, matrix.shape[1]))
        self._basis = np.empty((n_centers, n_samples))
        self.system = OrthogonalSystem(n_centers, means, (self._centred_targets**2).sum(axis=0), n_samples)
        self.available = self._energies > rounding
        self.order: list[int] = []
        self.lam = 0.0

    def append(self, candidate: int) -> bool:
        """Add a candidate's column; if it depends on others, drop the candidate and return False."""
        self.available[candidate] = False
        energy = float(self._rest[:, candidate] @ self._rest[:, candidate])
        if energy <= self._smallest[candidate]:
            return False
        done = len(self.order)
        root = np.sqrt(energy)
        q = self._basis[done]
        q[:] = self._rest[:, candidate] / root
        projections = self._coefficients[done]
        np.dot(q, self._rest, out=projections)
        self._rest = blas.dger(-1.0, q, projections, a=self._rest, overwrite_a=1)
        self._energies = np.einsum("ij,ij->j", self._rest, self._rest)
        self.available &= self._energies > self._smallest
        mean = self._means[candidate] * np.sqrt(self.system.n_samples)
        self.system.push(
            np.concatenate([[mean], self._coefficients[:done, candidate], [root]]), q @ self._centred_targets
        )
        self.order.append(candidate)
        return True

    def residual(self) -> np.ndarray:
        """Return Y - K W at the candidates, shape (P, S), under the current lambda."""
        return self._residual()[self._points]

    def _residual(self) -> np.ndarray:
        shrinkage = self.system.shrinkage(self.lam)
        constant = shrinkage[0] * self.system.z[0] / np.sqrt(self.system.n_samples)
        return (
            self._raw_targets - constant - self._basis[: len(self.order)].T @ (shrinkage[1:, None] * self.system.z[1:])
        )

    def error_reduction(self, candidates: np.ndarray | None = None) -> np.ndarray:
        """Return sum_s (q_j'y_s)^2 / (lambda + q_j'q_j) of the available candidates (0 elsewhere), or of the given
        ones.
        """
        which = slice(None) if candidates is None else candidates
        correlations = self._rest[:, which].T @ self._centred_targets
        energies = self._energies[which]
        gains = np.zeros(energies.shape[0])
        usable = self.available if candidates is None else energies > 0
        return np.divide((correlations**2).sum(axis=1), self.lam + energies, out=gains, where=usable)

    def matching(self) -> np.ndarray:
        """Return sum_s (k_j'e_s)^2 / |k_j - mean|^2 of every available candidate, 0 elsewhere, shape (P,)."""
        residual = self._residual()
        done = len(self.order)
        correlations = self._rest.T @ residual
        correlations += self._coefficients[:done].T @ (self._basis[:done] @ residual)
        gains = np.zeros(self._energies.shape[0])
        return np.divide((correlations**2).sum(axis=1), self.centred, out=gains, where=self.available)
