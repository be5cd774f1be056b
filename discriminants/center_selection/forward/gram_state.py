"""Selection over a Gram matrix: orthogonal least squares as a pivoted partial Cholesky factorization."""

import numpy as np
from scipy.linalg import blas

from discriminants.center_selection.forward.gram import GramSystem
from discriminants.center_selection.forward.orthogonal_system import OrthogonalSystem
from discriminants.center_selection.forward.residual import OrthogonalResidual
from discriminants.util.numba_cache import njit

_PANEL = 64  # chosen columns between two downdates of the whole Gram matrix
_PRECISION = 1e-10  # relative, of the Gram matrix: a smaller remainder of a column is noise
_NEAR = 1e-4  # relative, of the column's energy: a larger remainder is not tested for noise
_NOISE = 0.02  # maximum fraction of the remainder that may be rounding
_EPS = float(np.finfo(np.float64).eps)
_COMPACT = 0.75  # unavailable candidates are removed if at most this fraction of the held ones is available


@njit(cache=True, nogil=True, fastmath={"contract"})
def _new_row(remaining: np.ndarray, panel: np.ndarray, place: int, root: float, row: np.ndarray) -> None:
    """l = (G_i - L'L_i) / sqrt(d_i): `remaining` (upper triangle) includes earlier panels; the last is subtracted."""
    for j in range(place):
        row[j] = remaining[j, place]
    for j in range(place, row.shape[0]):
        row[j] = remaining[place, j]
    for i in range(panel.shape[0]):
        coefficient = panel[i, place]
        for j in range(row.shape[0]):
            row[j] -= coefficient * panel[i, j]
    for j in range(row.shape[0]):
        row[j] /= root


@njit(cache=True, nogil=True, fastmath={"contract"})
def _downdate(
    row: np.ndarray, projection: np.ndarray, pivots: np.ndarray, correlation: np.ndarray, energy: np.ndarray
) -> None:
    """d -= l^2, B -= l b', energy = sum_s B_s^2, in one pass over B."""
    n_targets = correlation.shape[1]
    for j in range(pivots.shape[0]):
        l_j = row[j]
        pivots[j] -= l_j * l_j
        for s in range(n_targets):
            correlation[j, s] -= l_j * projection[s]
        total = 0.0
        for s in range(n_targets):
            total += correlation[j, s] * correlation[j, s]
        energy[j] = total


@njit(cache=True, nogil=True)
def shrink(remaining: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Compact the upper triangle of remaining[kept, kept] in place; both are F-ordered."""
    size, n = remaining.shape[0], kept.shape[0]
    flat = remaining.T.reshape(-1)  # column after column
    for j in range(n):
        source, target = kept[j] * size, j * n
        for i in range(j + 1):  # writes never overtake reads
            flat[target + i] = flat[source + kept[i]]
    return flat[: n * n].reshape(n, n).T


@njit(cache=True, nogil=True, fastmath={"contract"})
def _in_terms_of_chosen(R: np.ndarray, column: np.ndarray) -> None:
    """Return R^-1 column, (m,), in place; R may be part of a larger F-ordered matrix, which SciPy would copy."""
    for j in range(column.shape[0] - 1, -1, -1):
        column[j] /= R[j, j]
        for i in range(j):
            column[i] -= column[j] * R[i, j]


class GramState:
    """State equivalent to Gram-Schmidt over stored columns, from products alone, in O(P m^2 / 2 + P m S) for any N.

    With L the current rows, candidate i contributes l = (G_i - L'L_i) / sqrt(d_i). Then d -= l^2 and B -= l b_i' with
    b_i = B_i / sqrt(d_i). B_j is thus always the product of the targets with candidate j's orthogonal part, and d_j the
    energy of that part. L'L is subtracted from G in panels of columns by one symmetric product. A step therefore reads
    only one row of G and the rows of its own panel. Unavailable candidates are removed from G, L, d and B from time to
    time, which makes the products smaller. A column with a small remainder is first tested for its possible rounding
    error, in O(m^2). Pivots are not chosen by size, so rounding grows from column to column.

    `targets` selects the targets used (a private dictionary has one), by default all. `points` has the kernel matrix
    among the candidates (P, P) and their targets (P, S), needed only by `residual`.
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
        self._held = np.arange(n_candidates)  # candidates with entries in the arrays below, ascending
        self._rows = np.empty((min(n_centers, n_candidates), n_candidates))
        self._pivots = np.diagonal(gram.gram).copy()
        rounding = gram.n_samples * (gram.rounding * gram.means) ** 2
        self._smallest = np.maximum(_PRECISION * self._pivots, rounding)
        self._correlation = np.ascontiguousarray(gram.correlation[:, targets]).copy()
        self._energy = (self._correlation**2).sum(axis=1)
        self.system = OrthogonalSystem(
            n_centers, gram.target_means[targets], gram.target_energy[targets], gram.n_samples
        )
        # A column whose variance is rounding relative to its mean is constant, like the constant column.
        self.available = self._pivots > rounding
        self.order: list[int] = []
        self.lam = 0.0
        self._kernel = None if points is None else points[0]
        self._points = None if points is None else OrthogonalResidual(points[1], n_centers, self.system)

    def append(self, candidate: int) -> bool:
        """Add a candidate's column; if it depends on others, drop the candidate and return False."""
        self.available[candidate] = False
        place = int(np.searchsorted(self._held, candidate))
        pivot = self._pivots[place]
        if pivot <= self._smallest[place]:
            return False
        done = len(self.order)
        root = float(np.sqrt(pivot))
        coefficients = self._rows[:done, place].copy()
        near = pivot <= _NEAR * self._gram.gram[candidate, candidate]
        if near and self._noise(candidate, coefficients) > _NOISE * pivot:
            return False
        row = self._rows[done]
        _new_row(self._remaining, self._rows[self._panel : done], place, root, row)
        projection = self._correlation[place] / root
        _downdate(row, projection, self._pivots, self._correlation, self._energy)
        self.available[self._held[self._pivots <= self._smallest]] = False
        mean = self._gram.means[candidate] * np.sqrt(self._gram.n_samples)
        self.system.push(np.concatenate([[mean], coefficients, [root]]), projection)
        if self._points is not None and self._kernel is not None:
            column = np.concatenate([[mean], coefficients]) @ self._points.basis
            self._points.push((self._kernel[:, candidate] - column) / root)
        self.order.append(candidate)
        if done + 1 == self._panel + _PANEL:
            self._end_panel()
        return True

    def _noise(self, candidate: int, coefficients: np.ndarray) -> float:
        """Bound the rounding error of a candidate's pivot, in units of G.

        The bound is of first order (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 10.3). The
        pivot is v'G v, with v = (-R^-1 coefficients, 1) the candidate less its projection on the chosen columns;
        `coefficients` (m,) is that projection in Q. Each entry of v adds the rounding of its own column's energy. If
        columns are chosen for the targets and not by size, v becomes large long before the pivot is small.
        """
        energies = np.diagonal(self._gram.gram)
        v = coefficients.copy()
        _in_terms_of_chosen(self.system.R[1:, 1:], v)
        return _EPS * float(v**2 @ energies[self.order] + energies[candidate])

    def _end_panel(self) -> None:
        done = self._panel + _PANEL
        kept = self.available[self._held]
        panel = self._rows[self._panel : done]
        if 0 < kept.sum() <= _COMPACT * self._held.shape[0]:
            self._held = self._held[kept]
            panel = panel[:, kept]
            rows = np.empty((self._rows.shape[0], self._held.shape[0]))
            for i in range(done):
                rows[i] = self._rows[i, kept]
            self._rows = rows
            self._remaining = shrink(self._remaining, np.flatnonzero(kept))
            self._pivots, self._smallest = self._pivots[kept], self._smallest[kept]
            self._correlation, self._energy = self._correlation[kept], self._energy[kept]
        self._remaining = blas.dsyrk(-1.0, panel.T, beta=1.0, c=self._remaining, overwrite_c=1)
        self._panel = done

    def residual(self) -> np.ndarray:
        """Return Y - K W at the candidates, shape (P, S), under the current lambda."""
        if self._points is None:
            raise ValueError("the rule uses residuals, which need the kernel matrix of the candidates. Expected points")
        return self._points.current(self.lam)

    def error_reduction(self, candidates: np.ndarray | None = None) -> np.ndarray:
        """Return sum_s B_js^2 / (lambda + d_j) of the available candidates (0 elsewhere), or of the given ones."""
        gains = self._for_all(self._energy, self.lam + self._pivots)
        return gains if candidates is None else gains[candidates]

    def matching(self) -> np.ndarray:
        """Return sum_s (k_j'e_s)^2 / |k_j - mean|^2 of every available candidate, 0 elsewhere, shape (P,)."""
        energy = self._energy
        if self.lam:  # the penalty leaves a part of every projection in the residual
            left = (1.0 - self.system.shrinkage(self.lam))[1:, None] * self.system.z[1:]
            energy = ((self._correlation + self._rows[: len(self.order)].T @ left) ** 2).sum(axis=1)
        return self._for_all(energy, np.diagonal(self._gram.gram)[self._held])

    def _for_all(self, numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
        """Return quotients of the candidates held, 0 for unavailable ones, shape (P,)."""
        quotients = np.zeros_like(numerator)
        np.divide(numerator, denominator, out=quotients, where=self.available[self._held])
        gains = np.zeros(self.available.shape[0])
        gains[self._held] = quotients
        return gains
