"""Selection over explicit kernel columns: the seed's thin order-recursive form, memory O(N m)."""

from collections.abc import Callable

import numpy as np

from discriminants.orthogonal_system import OrthogonalSystem
from discriminants.residual import OrthogonalResidual

_ROUNDING = 1e-14  # relative error of float64 kernel values


class ColumnState:
    """Every sample is a candidate; each chosen column is made orthogonal to those before it (Andelic 2007,
    3.54, 3.76-3.78).

    The orthogonalisation is done twice, which keeps Q orthogonal to rounding error ("twice is enough", Kahan
    and Parlett).

    Parameters
    ----------
    column : callable
        i -> column i of the kernel matrix, shape (N,), float64.
    targets : ndarray of shape (N, S)
    n_centers : int
        Most columns that will be appended.
    tolerance : float
        A column whose orthogonal part has less than this share of its (centred) energy is dropped as
        dependent.
    """

    def __init__(
        self,
        column: Callable[[int], np.ndarray],
        targets: np.ndarray,
        n_centers: int,
        tolerance: float = 1e-10,
    ) -> None:
        targets = np.asarray(targets, dtype=np.float64)
        means = targets.mean(axis=0)
        self._column = column
        self._targets = targets
        self._tolerance = tolerance
        self.system = OrthogonalSystem(n_centers, means, ((targets - means) ** 2).sum(axis=0), targets.shape[0])
        self._points = OrthogonalResidual(targets, n_centers, self.system)
        self.available = np.ones(targets.shape[0], dtype=bool)
        self.order: list[int] = []
        self.lam = 0.0
        self._all: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def append(self, candidate: int) -> bool:
        """Add a candidate's column; False, and the candidate is dropped, where it depends on others."""
        self.available[candidate] = False
        k = self._column(candidate)
        Q = self._points.basis
        projections = Q @ k
        centred_energy = k @ k - projections[0] ** 2
        q = k - projections @ Q
        again = Q @ q
        q -= again @ Q
        norm = np.sqrt(q @ q)
        if norm**2 <= max(self._tolerance * centred_energy, _ROUNDING**2 * (k @ k)):
            return False
        q /= norm
        self.system.push(np.append(projections + again, norm), q @ self._targets)
        self._points.push(q)
        self.order.append(candidate)
        return True

    def residual(self) -> np.ndarray:
        """Y - K W of shape (N, S) under the current lambda."""
        return self._points.current(self.lam)

    def error_reduction(self) -> np.ndarray:
        """sum_s z_js^2 / (lambda + d_j) of every candidate; holds all N columns, so for small N only."""
        if self._all is None:
            K = np.column_stack([self._column(i) for i in range(self.available.shape[0])])
            self._all = K, (K * K).sum(axis=0), np.array([0])
        K, energies, seen = self._all
        Q = self._points.basis
        projections = Q[seen[0] :] @ K
        energies -= (projections**2).sum(axis=0)
        seen[0] = Q.shape[0]
        unpenalised = self._points.current(0.0)
        correlations = K.T @ unpenalised
        gains = np.zeros(K.shape[1])
        usable = self.available & (energies > 0)
        return np.divide((correlations**2).sum(axis=1), self.lam + energies, out=gains, where=usable)
