"""Updates of Cholesky factors of symmetric matrices for a new row and column."""

import numpy as np
from scipy.linalg import solve_triangular


def extended_factor(R: np.ndarray, borders: np.ndarray, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute new columns of the Cholesky factor R, H = R'R, for several separate extensions [H b; b' c].

    Returns R^-T b (m, n), all but the last entry of each new column, and the squares of the last entries (n,), which
    are not positive if the extension is singular.
    """
    columns = solve_triangular(R, borders, trans="T", check_finite=False)
    return columns, corners - np.einsum("ij,ij->j", columns, columns)
