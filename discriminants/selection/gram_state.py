"""Selection over a Gram matrix: orthogonal least squares as a pivoted partial Cholesky factorisation."""

import numpy as np
from numba import njit
from scipy.linalg import blas

from discriminants.selection.gram import GramSystem
from discriminants.selection.orthogonal_system import OrthogonalSystem
from discriminants.selection.residual import OrthogonalResidual

_PANEL = 64  # chosen columns between two downdates of the whole Gram matrix


@njit(cache=True, nogil=True)
def _downdate(
    row: np.ndarray, projection: np.ndarray, pivots: np.ndarray, correlation: np.ndarray, energy: np.ndarray
) -> None:
    """d -= l^2, B -= l b', energy = sum_s B_s^2, in one pass over B."""
    n_targets = correlation.shape[1]
    for j in range(pivots.shape[0]):
        l_j = row[j]
        pivots[j] -= l_j * l_j
        total = 0.0
        for s in range(n_targets):
            value = correlation[j, s] - l_j * projection[s]
            correlation[j, s] = value
            total += value * value
        energy[j] = total


class GramState:
    """The same order as Gram-Schmidt over stored columns, from products alone: O(P m^2 / 2 + P m S), N plays
    no part.

    With L the rows found so far, candidate i contributes l = (G_i - L'L_i) / sqrt(d_i); then d -= l^2 and B
    -= l b_i' with b_i = B_i / sqrt(d_i), so that B_j always is the product of the targets with candidate j's
    orthogonal part, d_j that part's energy. L'L is taken off G in panels of columns by one symmetric product,
    so that a step reads one row of G and the rows of its own panel only.

    Parameters
    ----------
    gram : GramSystem
    n_centers : int
        Most columns that will be appended.
    targets : slice, optional
        Which targets take part (a private dictionary is one target); default all.
    points : (ndarray of shape (P, P), ndarray of shape (P, S)), optional
        Kernel matrix among the candidates and their targets; needed by `residual` only.
    """

    def __init__(
        self,
        gram: GramSystem,
        n_centers: int,
        *,
        targets: slice = slice(None),
        points: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        n_candidates = gram.gram.shape[0]
        self._gram = gram
        self._remaining = np.array(gram.gram, order="F")  # upper triangle of G - L'L over whole panels
        self._panel = 0
        self._rows = np.empty((min(n_centers, n_candidates), n_candidates))
        self._pivots = np.diagonal(gram.gram).copy()
        rounding = gram.n_samples * (gram.rounding * gram.means) ** 2
        self._smallest = np.maximum(gram.precision * self._pivots, rounding)
        self._correlation = np.ascontiguousarray(gram.correlation[:, targets]).copy()
        self._energy = (self._correlation**2).sum(axis=1)
        self.system = OrthogonalSystem(
            n_centers, gram.target_means[targets], gram.target_energy[targets], gram.n_samples
        )
        # A column whose variance is rounding beside its mean is constant: the constant column serves already.
        self.available = self._pivots > rounding
        self.order: list[int] = []
        self.lam = 0.0
        self._kernel = None if points is None else points[0]
        self._points = None if points is None else OrthogonalResidual(points[1], n_centers, self.system)

    def append(self, candidate: int) -> bool:
        """Add a candidate's column; False, and the candidate is dropped, where it depends on others."""
        self.available[candidate] = False
        pivot = self._pivots[candidate]
        if pivot <= self._smallest[candidate]:
            return False
        done = len(self.order)
        root = np.sqrt(pivot)
        coefficients = self._rows[:done, candidate].copy()
        row = self._rows[done]
        np.dot(coefficients[self._panel :], self._rows[self._panel : done], out=row)
        row[:candidate] = self._remaining[:candidate, candidate] - row[:candidate]
        row[candidate:] = self._remaining[candidate, candidate:] - row[candidate:]
        row /= root
        projection = self._correlation[candidate] / root
        _downdate(row, projection, self._pivots, self._correlation, self._energy)
        self.available &= self._pivots > self._smallest
        mean = self._gram.means[candidate] * np.sqrt(self._gram.n_samples)
        self.system.push(np.concatenate([[mean], coefficients, [root]]), projection)
        if self._points is not None and self._kernel is not None:
            column = np.concatenate([[mean], coefficients]) @ self._points.basis
            self._points.push((self._kernel[:, candidate] - column) / root)
        self.order.append(candidate)
        if done + 1 == self._panel + _PANEL:
            self._take_off_panel()
        return True

    def _take_off_panel(self) -> None:
        panel = self._rows[self._panel : self._panel + _PANEL]
        blas.dsyrk(-1.0, panel.T, beta=1.0, c=self._remaining, overwrite_c=1)
        self._panel += _PANEL

    def residual(self) -> np.ndarray:
        """Y - K W at the candidates, shape (P, S), under the current lambda."""
        if self._points is None:
            raise ValueError("this rule looks at residuals: give the kernel matrix among the candidates")
        return self._points.current(self.lam)

    def error_reduction(self, candidates: np.ndarray | None = None) -> np.ndarray:
        """sum_s B_js^2 / (lambda + d_j) of every available candidate (0 elsewhere), or of those named."""
        if candidates is not None:
            return self._energy[candidates] / (self.lam + self._pivots[candidates])
        gains = np.zeros_like(self._energy)
        return np.divide(self._energy, self.lam + self._pivots, out=gains, where=self.available)

    def matching(self) -> np.ndarray:
        """sum_s (k_j'e_s)^2 / |k_j - mean|^2 of every available candidate, 0 elsewhere, shape (P,)."""
        energy = self._energy
        if self.lam:  # the penalty leaves a part of every projection in the residual
            left = (1.0 - self.system.shrinkage(self.lam))[1:, None] * self.system.z[1:]
            energy = ((self._correlation + self._rows[: len(self.order)].T @ left) ** 2).sum(axis=1)
        gains = np.zeros_like(energy)
        return np.divide(energy, np.diagonal(self._gram.gram), out=gains, where=self.available)
