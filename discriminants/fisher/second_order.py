"""Second-order discriminants for every weight of the two class variances, from one decomposition."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh, solve_triangular

from discriminants.linear_systems.centred_scatter import PENALTIES
from discriminants.linear_systems.kernel_values import check_symmetric, check_values

_SMALLEST = 1e-12  # minimum eigenvalue of a kernel matrix, relative to its largest; also minimum weight of a component

__all__ = ["PENALTIES", "SecondOrderPath"]


class Solution(NamedTuple):
    """Weights of the kernel columns (n_columns,), and the difference and the midpoint of the outputs' class means."""

    alpha: np.ndarray
    separation: float
    midpoint: float


class SecondOrderPath:
    """alpha_rho = N_rho^-1 M for all rho in [0, 1] (Abdallah, Richard and Lengelle 2004, 24 to 29).

    N_rho = rho C_0 + (1 - rho) C_1 + eta P. C_c is the covariance of class c in the kernel columns, M the difference of
    the class means, and P the identity or the kernel matrix. With A_c = C_c + eta P one V diagonalizes both: V'(A_0 +
    A_1)V = I and V'A_0 V = diag(l). Then V'N_rho V = diag(rho l + (1 - rho)(1 - l)) for every rho, and alpha_rho = V
    (V'M / that diagonal). The paper solves the system separately for each rho. It uses such a V only for pruning (its
    section IV-A) and does not specify the scale of its columns. Here A_0 + A_1 becomes the identity, so that components
    are comparable.

    With P = K the computation uses coordinates of the kernel's own space, in which its penalty is the identity. Time is
    O(N^3) once, then O(N^2) per rho; memory is 32 N^2 bytes.

    `positive` (n_samples,) marks the samples of C_1, and `regularization` is eta > 0. `components` (n_columns,
    n_components) is V, the largest (V'M)_i^2 first. `differences` is V'M, `midpoints` is V' times the midpoint of both
    class means, and `shares` is l. Raises ValueError if kernel values are not finite, too large or all equal, not
    symmetric for the penalty "kernel", or if the matrix to be diagonalized is zero.

    Directions in which A_0 + A_1 is at most `truncation` times its largest eigenvalue are left out. This is the paper's
    truncated singular value decomposition, for all rho together; eta may then be 0.
    """

    def __init__(
        self, K: np.ndarray, positive: np.ndarray, regularization: float, penalty: str, truncation: float = 0.0
    ) -> None:
        check_values(K)
        if regularization == 0 and not truncation:  # rounding decides whether the Cholesky factor exists
            raise ValueError("regularization = 0 gives singular covariances. Use regularization or truncation above 0")
        basis = None
        coordinates = K
        if penalty == "kernel":
            check_symmetric(K, "penalty = 'kernel'")
            values, vectors = eigh(K, check_finite=False)
            kept = values > _SMALLEST * values[-1]
            basis = vectors[:, kept] / np.sqrt(values[kept])  # K times it: coordinates in the space of the kernel
            coordinates = K @ basis
        below, above = (_moments(coordinates[part], regularization) for part in (~positive, positive))
        try:
            shares, components = _diagonalized(below[1], below[1] + above[1], truncation)
        except LinAlgError:
            raise ValueError(
                f"regularization = {regularization} gives covariances that are not positive definite. "
                "Use a larger regularization, or truncation"
            ) from None
        differences = components.T @ (above[0] - below[0])
        order = np.argsort(-(differences**2), kind="stable")  # (38): the last ones are pruned first
        self.shares = np.clip(shares[order], 0.0, 1.0)
        self.differences = differences[order]
        components = components[:, order]
        self.midpoints = 0.5 * components.T @ (above[0] + below[0])
        self.components = components if basis is None else basis @ components

    def weights(self, rho: float) -> np.ndarray:
        """Return weights of the components, (V'M)_i / (rho l_i + (1 - rho)(1 - l_i)), shape (n_components,)."""
        diagonal = rho * self.shares + (1.0 - rho) * (1.0 - self.shares)
        return self.differences / np.maximum(diagonal, _SMALLEST)

    def solve(self, rho: float, n_components: int | None = None) -> Solution:
        """Return the solution for one rho with the first `n_components` components (default all)."""
        weights = self.weights(rho)[:n_components]
        separation = float(weights @ self.differences[:n_components])
        midpoint = float(weights @ self.midpoints[:n_components])
        return Solution(self.components[:, :n_components] @ weights, separation, midpoint)

    def outputs(self, K: np.ndarray, rho: float) -> np.ndarray:
        """Return outputs with the first 1, 2, ... components, shape (n_samples, n_components).

        Each output is shifted and scaled so that the class means of the training samples are -1 and 1. K has kernel
        values of any samples times `components`.
        """
        weights = self.weights(rho)
        separations = np.maximum(np.cumsum(weights * self.differences), np.finfo(np.float64).tiny)
        return np.cumsum((K - self.midpoints) * weights, axis=1) * (2.0 / separations)


def _diagonalized(A: np.ndarray, total: np.ndarray, truncation: float) -> tuple[np.ndarray, np.ndarray]:
    """Return l and V with V' total V = I and V'A V = diag(l); LinAlgError if total is zero or not definite."""
    if truncation:
        values, vectors = eigh(total, check_finite=False)
        if not values[-1] > 0:
            raise LinAlgError("the matrix is zero")
        kept = values > truncation * values[-1]
        white = vectors[:, kept] / np.sqrt(values[kept])
        shares, vectors = eigh(white.T @ A @ white, check_finite=False)
        return shares, white @ vectors
    factor = cholesky(total, check_finite=False)
    half = solve_triangular(factor, A, trans="T", check_finite=False)
    half = solve_triangular(factor, half.T, trans="T", check_finite=False)
    shares, vectors = eigh(0.5 * (half + half.T), check_finite=False)
    return shares, solve_triangular(factor, vectors, check_finite=False)


def _moments(coordinates: np.ndarray, regularization: float) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and penalized covariance of one class."""
    mean = coordinates.mean(axis=0)
    centred = coordinates - mean
    covariance = centred.T @ centred
    covariance /= coordinates.shape[0]
    covariance.flat[:: covariance.shape[0] + 1] += regularization
    return mean, covariance
