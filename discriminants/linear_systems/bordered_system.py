"""Bordered system of a kernel machine with a free bias."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lapack, solve_triangular


def extended_factor(R: np.ndarray, borders: np.ndarray, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute new columns of the Cholesky factor R, H = R'R, for several separate extensions [H b; b' c].

    Returns R^-T b (m, n), all but the last entry of each new column, and the squares of the last entries (n,), which
    are not positive if the extension is singular.
    """
    columns = solve_triangular(R, borders, trans="T", check_finite=False)
    return columns, corners - np.einsum("ij,ij->j", columns, columns)


class BorderedSystem:
    """[H P; P' 0] [alpha; b] = [y; 0] for any number of right-hand sides (Suykens et al. 2002, 3.32; Mika 2002, 3.63).

    With P = 1 and H = K + mu I this is the kernel Fisher discriminant with the penalty on its norm, and the
    least-squares support vector machine; H = K + diag(mu / v) weighs sample i by v_i. Other columns of P are further
    unpenalized functions. The solution uses a Cholesky factor of H: with E = H^-1 P and S = P'E, b = S^-1 E'y and alpha
    = H^-1 y - E b.

    H (n, n) is symmetric, positive definite and overwritten by its factor; `border` (n, r) is P, a column of ones by
    default. Raises LinAlgError if H has no Cholesky factor, and ValueError if the columns of P are linearly dependent.
    """

    def __init__(self, H: np.ndarray, border: np.ndarray | None = None) -> None:
        try:  # the transpose of a C-ordered H is in Fortran order, so the factor overwrites it
            self._factor = cho_factor(H if H.flags.f_contiguous else H.T, overwrite_a=True, check_finite=False)
        except LinAlgError:
            raise LinAlgError("the matrix is not positive definite") from None
        self._border = np.ones((H.shape[0], 1)) if border is None else border
        self._E = cho_solve(self._factor, self._border, check_finite=False)
        try:
            self._schur = cho_factor(self._border.T @ self._E, check_finite=False)
        except LinAlgError:
            raise ValueError("columns of the border are linearly dependent") from None

    def solve(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute alpha (n, n_outputs) and b (r, n_outputs) for targets (n, n_outputs)."""
        b = cho_solve(self._schur, self._E.T @ targets, check_finite=False)
        return cho_solve(self._factor, targets, check_finite=False) - self._E @ b, b

    def inverse_diagonal(self) -> np.ndarray:
        """Compute the first n entries of the diagonal of the inverse of the bordered matrix: (H^-1)_ii - E_i S^-1 E_i'.

        O(n^3) time, 8 n^2 bytes.
        """
        factor, lower = self._factor
        inverse, _ = lapack.dpotri(factor, lower=lower)
        correction = np.einsum("ij,ji->i", self._E, cho_solve(self._schur, self._E.T, check_finite=False))
        return np.array(inverse.diagonal()) - correction

    def leave_one_out_residuals(self, alpha: np.ndarray) -> np.ndarray:
        """Compute y_i - f^(-i)(x_i) = alpha_i / (inverse)_ii, in the shape of alpha; sample weights stay fixed."""
        return alpha / self.inverse_diagonal()[:, None]
