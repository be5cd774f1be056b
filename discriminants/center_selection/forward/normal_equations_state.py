"""Selection by the normal equations of penalized least squares, with chosen columns and a Cholesky factor."""

from typing import NamedTuple

import numpy as np

from discriminants.center_selection.forward.kernel_matrix import KernelMatrix
from discriminants.center_selection.forward.orthogonal_system import OrthogonalSystem
from discriminants.linear_systems.bordered_system import extended_factor

_BLOCK_ENTRIES = 1 << 22  # of columns evaluated at a time, 32 MB
_ROUNDING = 1e-14  # relative error of kernel values; a column that varies no more than that is constant


class _Border(NamedTuple):
    """Extension of H and of its Cholesky factor by candidates."""

    centred: np.ndarray  # (n, N) kernel columns less their means, as rows
    means: np.ndarray  # (n,)
    columns: np.ndarray  # (m, n) of the factor, without their last entries
    pivots: np.ndarray  # (n,) squares of these last entries
    correlation: np.ndarray  # (n, S) with the part of the targets outside the chosen columns
    usable: np.ndarray  # (n,) bool: neither constant nor dependent


class NormalEquationsState:
    """H = [1 K_S]'[1 K_S] + mu P grows by a row and column for each center (Mika 2002, 3.58 to 3.61).

    The source updates the inverse of H; here its Cholesky factor grows, which takes the same time, O(m^2) per
    candidate, and is stable. A column lowers the objective, including mu P, by sum_s (c_k - B'H^-1 c)_s^2 / (s - B'
    H^-1 B) with B and s its border in H. A step over n candidates takes O(n N m) time; memory is 8 N m bytes.

    `regularization` is mu >= 0. With the penalty "identity" or "kernel", P is the identity or the kernel matrix among
    the centers, zero for the constant. A column is dropped as dependent if at most the fraction `tolerance` of its
    diagonal entry is left.
    """

    def __init__(
        self,
        matrix: KernelMatrix,
        targets: np.ndarray,
        n_centers: int,
        regularization: float,
        penalty: str,
        tolerance: float = 1e-10,
    ) -> None:
        targets = np.asarray(targets, dtype=np.float64)
        means = targets.mean(axis=0)
        self._matrix, self._centred_targets, self._tolerance = matrix, targets - means, tolerance
        self._mu, self._penalty = regularization, penalty
        self.system = OrthogonalSystem(n_centers, means, (self._centred_targets**2).sum(axis=0), targets.shape[0])
        self._columns = np.empty((n_centers, targets.shape[0]))  # centered, as rows
        self._at_points = np.empty((n_centers, matrix.shape[1])) if penalty == "kernel" else None
        self.available = np.ones(matrix.shape[1], dtype=bool)
        self.order: list[int] = []
        self.lam = 0.0

    def append(self, candidate: int) -> bool:
        """Add a candidate's column; if it depends on others, drop the candidate and return False."""
        self.available[candidate] = False
        border = self._border(np.array([candidate]))
        if not border.usable[0]:
            return False
        place, root = len(self.order), float(np.sqrt(border.pivots[0]))
        self._columns[place] = border.centred[0]
        if self._at_points is not None:
            self._at_points[place] = border.centred[0, self._matrix.points] + border.means[0]
        mean = border.means[0] * np.sqrt(self._columns.shape[1])
        self.system.push(np.concatenate([[mean], border.columns[:, 0], [root]]), border.correlation[0] / root)
        self.order.append(candidate)
        return True

    def residual(self) -> np.ndarray:
        """Return Y - K W at the candidates, shape (P, S)."""
        weights = self.system.weights(0.0)[1:]
        centred = self._centred_targets - self._columns[: len(self.order)].T @ weights
        return centred[self._matrix.points]

    def error_reduction(self, candidates: np.ndarray | None = None) -> np.ndarray:
        """Return the decrease of the penalized squared error by the available candidates (0 elsewhere), or the given
        ones.
        """
        which = np.flatnonzero(self.available) if candidates is None else candidates
        found = np.zeros(which.shape[0])
        size = max(1, _BLOCK_ENTRIES // self._columns.shape[1])
        for start in range(0, which.shape[0], size):
            part = slice(start, start + size)
            border = self._border(which[part])
            energy = (border.correlation**2).sum(axis=1)
            np.divide(energy, border.pivots, out=found[part], where=border.usable)
        if candidates is not None:
            return found
        gains = np.zeros(self.available.shape[0])
        gains[which] = found
        return gains

    def matching(self) -> np.ndarray:
        """Raise an error: no rule of this state uses it."""
        raise ValueError("rule = 'matching_pursuit' does not support a penalty on the weights")

    def _border(self, candidates: np.ndarray) -> _Border:
        K = self._matrix.columns(candidates)
        means = K.mean(axis=0)
        chosen = len(self.order)
        own = np.ones(candidates.shape[0])
        borders = np.zeros((chosen, candidates.shape[0]))
        if self._at_points is not None:
            own = K[self._matrix.points[candidates], np.arange(candidates.shape[0])]
            borders += self._mu * self._at_points[:chosen, candidates]
        K -= means
        energy = np.einsum("ij,ij->j", K, K)
        diagonal = energy + self._mu * own
        borders += self._columns[:chosen] @ K
        columns, pivots = borders, diagonal
        if chosen:
            columns, pivots = extended_factor(self.system.R[1:, 1:], borders, diagonal)
        correlation = K.T @ self._centred_targets - columns.T @ self.system.z[1:]
        varies = energy > K.shape[0] * (_ROUNDING * means) ** 2
        return _Border(K.T, means, columns, pivots, correlation, varies & (pivots > self._tolerance * diagonal))
