"""Coordinates in which the ridge of the kernel's Hilbert space and the second moment of the data are diagonal."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh, solve_triangular

from discriminants.util.blas_threads import one_blas_thread


@dataclass(frozen=True)
class Whitening:
    """W = T V; features T'(k(x) - mean)."""

    transform: np.ndarray  # (m, r): T. Directions of K_mm that depend on the others are omitted, so r <= m
    inverse: np.ndarray  # (r, m): V = inverse @ W for any W in the range of T
    penalty: np.ndarray  # (r,): diagonal of T'K_mm T
    variance: np.ndarray  # (r,): diagonal of T'CT, C the covariance of the kernel features: at most one
    mean: np.ndarray  # (m,)
    coupling: np.ndarray | None = None  # (r, r), optional: all of T'K_mm T if it is not diagonal

    def ridge(self, V: np.ndarray) -> np.ndarray:
        """Return T'K_mm T V of shape (r, S): half the derivative of tr(W'K_mm W), in the float type of V."""
        if self.coupling is None:
            return self.penalty[:, None].astype(V.dtype) * V
        return self.coupling.astype(V.dtype, copy=False) @ V

    def for_ridge(self, alpha: float) -> tuple["Whitening", float]:
        """Return these coordinates and alpha, or rescaled coordinates and a ridge of one.

        Coordinates are rescaled if the ridge outweighs the data in some directions; its curvature is then one in these.
        Descent has one step size for all weights of a class, so no direction may have a curvature much above one. The
        penalty of a ridge as large as 1e300 stays finite as well.
        """
        size = np.sqrt(alpha) * np.sqrt(self.penalty)
        if size.max(initial=0.0) <= 1.0:
            return self, alpha
        shrink = np.maximum(size, 1.0)
        coupling = self.coupling
        if coupling is not None:
            share = np.sqrt(alpha) / shrink
            coupling = coupling * share[:, None] * share
        transform, inverse = self.transform / shrink, self.inverse * shrink[:, None]
        variance = self.variance / shrink / shrink
        return Whitening(transform, inverse, (size / shrink) ** 2, variance, self.mean, coupling), 1.0


def whiten(
    center_kernel: np.ndarray,
    covariance: np.ndarray,
    mean: np.ndarray,
    damping: float,
    tolerance: float = 1e-10,
) -> Whitening:
    """Diagonalize K_mm and the covariance C of the kernel features together.

    The result is scaled by (eigenvalue + damping)^(-1/2). Directions along which the data vary get unit variance. Those
    with eigenvalues of C (relative to K_mm) below `damping` > 0 keep the shrinkage of the kernel's own norm (Rudi,
    Carratino and Rosasco 2017, Falkon's preconditioner). Eigenvalues of K_mm below the fraction `tolerance` of the
    largest are dropped.
    """
    values, vectors = _eigh(center_kernel)
    kept = values > tolerance * values[-1]
    basis = vectors[:, kept] / np.sqrt(values[kept])
    variances, rotation = _eigh(basis.T @ covariance @ basis)
    variances = np.maximum(variances, 0.0)
    scale = np.sqrt(variances + damping)
    transform = (basis @ rotation) / scale
    inverse = (rotation * scale).T @ (vectors[:, kept] * np.sqrt(values[kept])).T
    return Whitening(transform, inverse, 1.0 / scale**2, variances / scale**2, mean)


def whiten_by_factors(
    center_kernel: np.ndarray, covariance: np.ndarray, mean: np.ndarray, damping: float, tolerance: float = 1e-10
) -> Whitening:
    """Return a rotation of the coordinates of `whiten`, from two Cholesky factorizations.

    This takes a tenth of the time for thousands of centers (Rudi, Carratino and Rosasco 2017, equation 8). T'(C +
    damping K_mm) T is the identity as there, T upper triangular, but T'K_mm T is not diagonal. Dependent directions are
    kept; instead `tolerance` times the largest eigenvalue is added to the diagonal of K_mm. Raises ValueError if K_mm
    is not positive semidefinite.
    """
    m = center_kernel.shape[0]
    with one_blas_thread():
        bound = float(np.abs(center_kernel).sum(axis=1).max())  # of the largest eigenvalue
        ridge = np.array(center_kernel)
        ridge[np.diag_indices(m)] += tolerance * bound
        try:
            outer = cholesky(ridge, overwrite_a=True)  # R'R = K_mm
        except LinAlgError as error:
            raise ValueError(
                f"the kernel matrix of the {center_kernel.shape[0]} centers is not positive semidefinite. "
                "Use fewer centers"
            ) from error
        relative = solve_triangular(outer, covariance, trans="T")
        relative = solve_triangular(outer, relative.T, trans="T", overwrite_b=True)  # C relative to K_mm
        relative += relative.T
        relative *= 0.5
        largest = max(float(np.abs(relative).sum(axis=1).max()), damping)
        relative[np.diag_indices(m)] += damping + 10 * np.finfo(float).eps * largest
        inner = cholesky(relative, overwrite_a=True)  # A'A = C relative to K_mm, damped
        shrunk = solve_triangular(inner, np.eye(m), overwrite_b=True)
        transform = solve_triangular(outer, shrunk)
        inverse = inner @ outer
        coupling = shrunk.T @ shrunk
    penalty = np.diagonal(coupling).copy()
    return Whitening(transform, inverse, penalty, np.maximum(1.0 - damping * penalty, 0.0), mean, coupling)


def _eigh(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues, ascending, and eigenvectors."""
    with one_blas_thread():
        return eigh(matrix, driver="evd")
