"""Residual of an orthogonal system at given points, updated with new columns and lambda."""

import numpy as np

from discriminants.center_selection.forward.orthogonal_system import OrthogonalSystem


class OrthogonalResidual:
    """Y - Q (shrinkage * z) at a few points, from the rows of Q at those points (Andelic 2007, 3.64, 3.82)."""

    def __init__(self, targets: np.ndarray, capacity: int, system: OrthogonalSystem) -> None:
        self._targets = np.asarray(targets, dtype=np.float64)
        self._Q = np.empty((capacity + 1, targets.shape[0]))
        self._Q[0] = 1.0 / np.sqrt(system.n_samples)
        self._size = 1
        self._values, self._applied, self._lam = self._targets, 0, 0.0
        self._system = system

    @property
    def basis(self) -> np.ndarray:
        """Current columns of Q, as rows: shape (size, n_points)."""
        return self._Q[: self._size]

    def push(self, row: np.ndarray) -> None:
        """Append the newest column of Q at the points; the system must already hold it."""
        self._Q[self._size] = row
        self._size += 1

    def current(self, lam: float) -> np.ndarray:
        """Return the residual (n_points, S): O(n_points S) per column if lambda is unchanged, else over all columns
        (3.82).
        """
        if lam != self._lam:
            self._values, self._applied = self._targets, 0
        new = slice(self._applied, self._size)
        if new.start < new.stop:
            coefficients = self._system.shrinkage(lam)[new, None] * self._system.z[new]
            self._values = self._values - self._Q[new].T @ coefficients
        self._applied, self._lam = self._size, lam
        return self._values
