"""Coordinates in which the ridge of the reproducing kernel Hilbert space and the second moment of the data
are diagonal.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from discriminants.blas_threads import one_blas_thread


@dataclass(frozen=True)
class Whitening:
    """W = T V; features T'(k(x) - mean).

    Attributes
    ----------
    transform : ndarray of shape (m, r)
        T. Directions of K_mm that depend on the others are left out, so r <= m.
    inverse : ndarray of shape (r, m)
        V = inverse @ W for any W in the range of T.
    penalty : ndarray of shape (r,)
        Diagonal of T'K_mm T: tr(W'K_mm W) = sum penalty * V^2.
    variance : ndarray of shape (r,)
        Diagonal of T'CT, C the covariance of the kernel features: at most one.
    mean : ndarray of shape (m,)
    """

    transform: np.ndarray
    inverse: np.ndarray
    penalty: np.ndarray
    variance: np.ndarray
    mean: np.ndarray


def whiten(
    center_kernel: np.ndarray,
    covariance: np.ndarray,
    mean: np.ndarray,
    damping: float,
    tolerance: float = 1e-10,
) -> Whitening:
    """Diagonalise K_mm and the covariance C of the kernel features together, then scale by (eigenvalue +
    damping)^(-1/2).

    Directions along which the data vary get unit variance; those with eigenvalues of C (relative to K_mm)
    below `damping` keep the shrinkage that the kernel's own norm prescribes (Rudi, Carratino and Rosasco
    2017, Falkon's preconditioner).

    Parameters
    ----------
    center_kernel, covariance : ndarray of shape (m, m), float64
    mean : ndarray of shape (m,)
    damping : float
        Positive.
    tolerance : float
        Eigenvalues of K_mm below this share of the largest are dropped.
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


def _eigh(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, rising, and eigenvectors."""
    with one_blas_thread():
        return eigh(matrix, driver="evd")
