"""Selection over explicit kernel columns in the source's thin order-recursive form, memory O(N m)."""

import numpy as np

from discriminants.center_selection.forward.kernel_matrix import KernelMatrix
from discriminants.center_selection.forward.orthogonal_system import OrthogonalSystem
from discriminants.center_selection.forward.residual import OrthogonalResidual

_ROUNDING = 1e-14  # relative error of float64 kernel values


class ColumnState:
    """State that makes each chosen column orthogonal to the earlier ones (Andelic 2007, 3.54, 3.76-3.78).

    The orthogonalization is done twice, which keeps Q orthogonal to rounding error ("twice is enough", Kahan and
    Parlett). Rules that need columns of other candidates evaluate them in every step: slow, but the (N, P) matrix is
    never stored. A column is dropped as dependent if its orthogonal part has less than the fraction `tolerance` of its
    (centered) energy.
    """

    def __init__(self, matrix: KernelMatrix, targets: np.ndarray, n_centers: int, tolerance: float = 1e-10) -> None:
        targets = np.asarray(targets, dtype=np.float64)
        means = targets.mean(axis=0)
        self._matrix = matrix
        self._targets = targets
        self._tolerance = tolerance
        self.system = OrthogonalSystem(n_centers, means, ((targets - means) ** 2).sum(axis=0), targets.shape[0])
        self._points = OrthogonalResidual(targets, n_centers, self.system)
        self.available = np.ones(matrix.shape[1], dtype=bool)
        self.order: list[int] = []
        self.lam = 0.0
        self._whole: _WholeMatrix | None = None

    def append(self, candidate: int) -> bool:
        """Add a candidate's column; if it depends on others, drop the candidate and return False."""
        self.available[candidate] = False
        k = self._matrix.columns(np.array([candidate]))[:, 0]
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
        """Return Y - K W at the candidates, shape (P, S), under the current lambda."""
        residual = self._points.current(self.lam)
        points = self._matrix.points
        every = points.shape[0] == residual.shape[0] and np.array_equal(points, np.arange(points.shape[0]))
        return residual if every else residual[points]

    def error_reduction(self, candidates: np.ndarray | None = None) -> np.ndarray:
        """Return sum_s z_js^2 / (lambda + d_j) of the available candidates (0 elsewhere), or of the given ones."""
        unexplained = self._points.current(0.0)
        if candidates is None:
            correlations, energies = self._all_candidates().against(self._points.basis, unexplained)
            gains = np.zeros(energies.shape[0])
            usable = self.available & (energies > 0)
        else:
            columns = self._matrix.columns(candidates)
            projections = self._points.basis @ columns
            correlations = columns.T @ unexplained
            energies = (columns**2).sum(axis=0) - (projections**2).sum(axis=0)
            gains = np.zeros(candidates.shape[0])
            usable = energies > self._tolerance * (columns**2).sum(axis=0)
        return np.divide((correlations**2).sum(axis=1), self.lam + energies, out=gains, where=usable)

    def matching(self) -> np.ndarray:
        """Return sum_s (k_j'e_s)^2 / |k_j - mean|^2 of every available candidate, 0 elsewhere, shape (P,)."""
        whole = self._all_candidates()
        residual = self._points.current(self.lam)
        correlations = self._matrix.transposed_times(residual - residual.mean(axis=0))
        gains = np.zeros(correlations.shape[0])
        usable = self.available & (whole.centred > 0)
        return np.divide((correlations**2).sum(axis=1), whole.centred, out=gains, where=usable)

    def _all_candidates(self) -> "_WholeMatrix":
        if self._whole is None:
            self._whole = _WholeMatrix(self._matrix)
        return self._whole


class _WholeMatrix:
    """Energies of all candidate columns outside the span of the chosen ones, kept up to date."""

    def __init__(self, matrix: KernelMatrix) -> None:
        self._matrix = matrix
        n_samples = matrix.shape[0]
        energies = matrix.energies()
        means = matrix.transposed_times(np.full((n_samples, 1), 1.0 / np.sqrt(n_samples)))[:, 0]
        self.centred = np.maximum(energies - means**2, 0.0)
        self.centred[self.centred <= _ROUNDING * energies] = 0.0
        self._outside = self.centred.copy()
        self._seen = 1  # rows of the basis subtracted so far; the constant is the first

    def against(self, basis: np.ndarray, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return products (P, S) of the columns with a residual, and their energies (P,) outside the basis."""
        new = basis[self._seen :]
        products = self._matrix.transposed_times(np.hstack([residual, new.T]))
        self._outside -= (products[:, residual.shape[1] :] ** 2).sum(axis=1)
        self._seen = basis.shape[0]
        return products[:, : residual.shape[1]], self._outside
