"""Regularized least squares in a kernel space with sample weights."""

import numpy as np
from scipy.linalg import LinAlgError

from discriminants.linear_systems.bordered_system import BorderedSystem


def too_small(regularization: float) -> str:
    """Return the error message for a penalty too small for a Cholesky factor of the kernel matrix."""
    return (
        f"regularization = {regularization:g} gives a matrix that is not positive definite. "
        "Use a larger regularization, or a kernel without negative eigenvalues"
    )


class WeightedRidge:
    """Minimizer of sum_i v_i (y_i - f(x_i) - b)^2 + mu |f|^2 by one Cholesky factorisation (Suykens et al. 2002, 3.32,
    5.13).

    The conditions are (K + mu V^-1) alpha + 1 b = y, 1'alpha = 0, with residuals mu alpha_i / v_i. Because alpha sums
    to zero, K can be centered first, so a large constant part of the kernel costs no precision. Time is O(N^3), memory
    8 N^2 bytes including K, which is overwritten.

    `alpha` and `residuals` have shape (n_samples, n_outputs), `bias` (n_outputs,); `weight` is v > 0, ones by default.
    `terms` (n_samples, n_terms) are further functions without a penalty, whose `coef` (n_terms, n_outputs) is found
    too. Raises ValueError if the matrix has no Cholesky factor, as `too_small` says, or if terms are dependent.
    """

    def __init__(
        self,
        K: np.ndarray,
        targets: np.ndarray,
        regularization: float,
        weight: np.ndarray | None = None,
        terms: np.ndarray | None = None,
    ) -> None:
        self._weight = np.ones(K.shape[0]) if weight is None else weight
        share = self._weight / self._weight.sum()
        self._ridge = regularization / self._weight
        column_means = share @ K
        K -= column_means
        K -= (K @ share)[:, None]
        K.flat[:: K.shape[0] + 1] += self._ridge
        terms = np.empty((K.shape[0], 0)) if terms is None else terms
        term_means = share @ terms
        try:
            self._system = BorderedSystem(K, np.column_stack([np.ones(K.shape[0]), terms - term_means]))
        except LinAlgError:
            raise ValueError(too_small(regularization)) from None
        means = share @ targets
        self.alpha, coefficients = self._system.solve(targets - means)
        self.coef = coefficients[1:]
        self.bias = means - column_means @ self.alpha - term_means @ self.coef
        self.residuals = self._ridge[:, None] * self.alpha

    def leave_one_out_residuals(self) -> np.ndarray:
        """Compute leave-one-out residuals y_i - f^(-i)(x_i), shape (n_samples, n_outputs), in a further O(N^3) time."""
        return self._system.leave_one_out_residuals(self.alpha)

    def effective_parameters(self) -> float:
        """Compute the trace of the smoother, including the bias, in a further O(N^3) time."""
        return float(self._weight.shape[0] - self._ridge @ self._system.inverse_diagonal())

    def generalised_cross_validation(self) -> float:
        """Compute N sum_i u_i e_i^2 / (N - p)^2 summed over the outputs, with u the weights divided by their mean.

        p, the effective number of parameters, is the trace of the smoother, including the bias. Each sample counts once
        for any weight, because p is at most the number of samples. With the sum of large weights instead of N, an
        interpolating curve would seem free of errors.
        """
        n_samples = self._weight.shape[0]
        left = n_samples - self.effective_parameters()
        relative = self._weight / self._weight.mean()
        return float(n_samples * (relative @ self.residuals**2).sum() / left**2)
