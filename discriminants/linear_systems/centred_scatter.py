"""The matrix C of regularized least squares in kernel columns, with the constant column projected out."""

from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, blas, cho_factor, cho_solve, lapack

from discriminants.linear_systems.kernel_values import check_symmetric, check_values

PENALTIES = ("identity", "kernel")


def centred_scatter(K: np.ndarray, penalty: str, weight: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Compute C = HKK'H (penalty "identity") or HKH (penalty "kernel"), H = I - 11'/N, and the column means of K.

    (C + mu I) beta = Hy gives regularized least squares y = K alpha + b. The penalty is mu alpha'alpha with alpha =
    K'beta, or mu alpha'K alpha with alpha = beta. b is the mean of y - K alpha (Mika 2002, 3.63, 3.64, with the bias
    eliminated). The constant vector has eigenvalue zero and is given the largest instead. Right-hand sides sum to zero,
    so no solution changes, but rounding errors along that vector are no longer divided by mu.

    With weights V, rows and columns are multiplied by their roots, as if samples were repeated: C = SH'KVK'HS or
    SH'KHS with S = V^1/2 and H = I - v1'/1'v, and the constant vector becomes S1. K then has one column per sample.

    K (n_samples, n_columns) is overwritten by HK for the penalty "identity", by C for "kernel". Raises ValueError if
    its values are not finite, too large, all equal, or, for the penalty "kernel", not symmetric.
    """
    check_values(K)
    if penalty == "kernel":
        check_symmetric(K, "penalty='kernel'")
    share = np.full(K.shape[0], 1.0 / K.shape[0]) if weight is None else weight / weight.sum()
    column_means = K.mean(axis=0) if weight is None else share @ K
    K -= column_means
    if penalty == "kernel":
        K -= (K @ share)[:, None]
    if weight is not None:
        root = np.sqrt(weight)
        K *= root
        K *= root[:, None]
    C = K @ K.T if penalty == "identity" else K
    largest = 2 * np.linalg.norm(C)
    if weight is None:
        C += largest / C.shape[0]
    else:
        constant = np.sqrt(share)
        for row, own in zip(C, constant, strict=True):  # without another matrix
            row += largest * own * constant
    return C, column_means


class RidgeSolution:
    """Least squares fit to targets in kernel columns with one penalty, from one Cholesky factorisation.

    Time is O(N^3), memory 16 N^2 bytes for the penalty "identity" and 8 N^2 for "kernel", K included, which is
    overwritten. `alpha` (n_columns, n_outputs) are the weights, `bias` (n_outputs,), and `beta` (n_samples, n_outputs)
    the residuals divided by mu = `regularization`, with weights times their roots. Raises ValueError as
    `centred_scatter`, or if the matrix has no Cholesky factor.
    """

    def __init__(
        self,
        K: np.ndarray,
        targets: np.ndarray,
        regularization: float,
        penalty: str,
        weight: np.ndarray | None = None,
    ) -> None:
        scatter, column_means = centred_scatter(K, penalty, weight)
        scatter.flat[:: scatter.shape[0] + 1] += regularization
        n_samples = scatter.shape[0]
        share = np.full(n_samples, 1.0 / n_samples) if weight is None else weight / weight.sum()
        self._root = np.ones((n_samples, 1)) if weight is None else np.sqrt(weight)[:, None]
        self._along_constant = float(np.sqrt(share) @ scatter @ np.sqrt(share)) / share
        means = share @ targets
        try:  # the transpose is in Fortran order, so the factor overwrites the matrix
            self._factor = cho_factor(scatter.T, overwrite_a=True, check_finite=False)
        except LinAlgError:
            raise ValueError(
                f"regularization = {regularization} gives a scatter matrix that is not positive definite. "
                "Use a larger regularization, or a kernel without large negative eigenvalues"
            ) from None
        self._targets = targets
        self.beta = cho_solve(self._factor, self._root * (targets - means), check_finite=False)
        # HK is available, and K'beta = (HK)'beta, because beta sums to zero.
        self._own = self.beta if penalty == "kernel" else K.T @ self.beta
        self.alpha = self._own if weight is None else self._root * self._own
        self._HK = K if penalty == "identity" else None
        self.bias = means - column_means @ self.alpha

    def leave_one_out_outputs(self, *, own_column: bool = True) -> np.ndarray:
        """Compute leave-one-out outputs of every sample, shape (n_samples, n_outputs).

        y_i - f^(-i)(x_i) = beta_i / (G_ii - c / N), with G the inverse of C + mu I and c its eigenvalue along the
        constant vector, which belongs to the bias. With the penalty "kernel" this is the model trained without the
        sample. With "identity" only the sample's label is left out and its kernel column stays, unless `own_column` is
        False and there is one column per sample. Takes O(N^3) time and no memory, because it overwrites the factor and
        K.
        """
        inverse_diagonal, squares, crossings = self._of_inverse
        diagonal = inverse_diagonal - 1.0 / self._along_constant
        beta = self.beta
        if not own_column and squares.shape == diagonal.shape:
            beta, diagonal = without_own_columns(beta, diagonal, self._own, squares, crossings)
        return self._targets - beta / (diagonal[:, None] * self._root)

    @cached_property
    def _of_inverse(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compute the diagonals of G and, if K has one column per sample and they may be needed, of K'HGHK and GHK."""
        (factor, lower), HK = self._factor, self._HK
        del self._factor, self._HK
        inverse, _ = lapack.dtrtri(factor, lower=lower, overwrite_c=True)  # of U, with C + mu I = U'U
        for column in range(inverse.shape[0]):
            inverse[column + 1 :, column] = 0.0  # clear old values below the triangle
        diagonal = np.einsum("ij,ij->i", inverse, inverse)
        if HK is None or HK.shape[0] != HK.shape[1]:
            return diagonal, np.empty(0), np.empty(0)
        # HK in C order is (HK)' in Fortran order, so U^-1 is applied from the right in place.
        W = blas.dtrmm(1.0, inverse, HK.T, side=1, overwrite_b=True)
        return diagonal, np.einsum("ij,ij->i", W, W), np.einsum("ij,ij->i", inverse, W)


def without_own_columns(
    beta: np.ndarray, diagonal: np.ndarray, alpha: np.ndarray, squares: np.ndarray, crossings: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute leave-one-out beta_i and G_ii for the penalty "identity" without the column u_i of sample i.

    (C - uu' + mu I)^-1 = G + Guu'G / (1 - u'Gu). Both are multiplied by 1 - u'Gu, which may be small. `diagonal` is the
    diagonal of G, `alpha` is u_i'beta, `squares` is u_i'G u_i and `crossings` is entry i of G u_i. Leading axes are
    arbitrary.
    """
    left = np.maximum(1.0 - squares, np.finfo(np.float64).eps)
    return left[..., None] * beta + crossings[..., None] * alpha, left * diagonal + crossings**2
