"""Inverses and factors of symmetric matrices that gain or lose one row and column."""

import numpy as np
from scipy.linalg import solve_triangular


def extended_inverse(inverse: np.ndarray, border: np.ndarray, corner: float) -> np.ndarray:
    """Inverse (m + 1, m + 1) of [H B; B' c] from that of H (Sherman, Morrison and Woodbury; Mika 2002, lemma 3.1).

    Raises ValueError if the extended matrix is singular, or not positive definite where H is.
    """
    m = inverse.shape[0]
    product = inverse @ border
    schur = corner - border @ product
    if not schur > 0:
        raise ValueError(f"the row depends on those before it: {schur:.3g} is left of its diagonal entry {corner:.3g}")
    extended = np.empty((m + 1, m + 1))
    extended[:m, :m] = inverse + np.outer(product, product / schur)
    extended[:m, m] = extended[m, :m] = -product / schur
    extended[m, m] = 1.0 / schur
    return extended


def reduced_inverse(inverse: np.ndarray, index: int) -> np.ndarray:
    """Inverse of a symmetric matrix without row and column `index`, from the inverse with them.

    Returns
    -------
    ndarray of shape (m - 1, m - 1)
    """
    others = np.delete(np.arange(inverse.shape[0]), index)
    column = inverse[others, index]
    return inverse[np.ix_(others, others)] - np.outer(column, column / inverse[index, index])


def extended_factor(R: np.ndarray, borders: np.ndarray, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """New columns of the Cholesky factor R, H = R'R, of the matrices [H b; b' c] for several (b, c), each by itself.

    Returns R^-T b (m, n), all but the last entry of each new column, and the squares of the last entries (n,), which
    are not positive where the extension is singular.
    """
    columns = solve_triangular(R, borders, trans="T", check_finite=False)
    return columns, corners - np.einsum("ij,ij->j", columns, columns)
