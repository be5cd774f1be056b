"""Affine transforms of the inputs that adapt a fitted model to other data.

The equivalent for neural-network hybrids is the linear input network (Neto, Almeida, Hochberg, Martins, Nunes, Renals
and Robinson 1995, "Speaker-adaptation for hybrid HMM-ANN continuous speech recognition system"). Here the gradient
passes through the kernel.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from discriminants.kernels.gaussian import GaussianKernel
from discriminants.logistic.loss import LOSSES, Factored, Loss, loss_function
from discriminants.util.expansion import KernelExpansion

_BLOCK_ROWS = 256  # rows whose kernel values fit into the cache


@dataclass(frozen=True)
class AffineTransform:
    """x -> matrix @ x + offset."""

    matrix: np.ndarray  # (n_features, n_features)
    offset: np.ndarray  # (n_features,)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return transformed rows, (n_samples, n_features), in the float type of X."""
        return X @ self.matrix.T.astype(X.dtype) + self.offset.astype(X.dtype)


def identity_map(n_features: int) -> AffineTransform:
    """Return the identity transform."""
    return AffineTransform(np.eye(n_features), np.zeros(n_features))


def fit_input_map(
    model: KernelExpansion,
    X: np.ndarray,
    codes: np.ndarray,
    sample_weight: np.ndarray | None = None,
    *,
    loss: str | Factored = "multinomial",
    ridge: float = 1e-2,
    max_iter: int = 15,
    start: AffineTransform | None = None,
) -> AffineTransform:
    """Minimize mean loss + ridge / 2 (|matrix - I|^2 + |offset|^2) by L-BFGS.

    `model` is fitted, with a Gaussian kernel of one width and one output per class; `codes` are rows of
    `model.classes_`. A sample of uncertain class may be given once per class, with the class probability as its weight.
    The minimization starts at `start`, or at the identity. Raises ValueError if the kernel is of another type, X is
    empty, or a number is out of range.
    """
    kernel = model.kernel_
    if not isinstance(kernel, GaussianKernel) or not kernel.centers_are_points:
        raise ValueError(f"an input map needs a Gaussian kernel with one width, got {kernel}")
    weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if not weight.sum() > 0:
        raise ValueError("no sample has a positive weight. Expected at least one")
    if not ridge >= 0:
        raise ValueError(f"ridge must be 0 or more, got {ridge}")
    if not isinstance(loss, Factored) and loss not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {loss!r}")
    n_features = X.shape[1]
    first = identity_map(n_features) if start is None else start
    objective = _Objective(
        model,
        float(kernel.sigma),
        X,
        codes,
        weight / weight.sum(),
        loss_function(loss),
        ridge,
    )
    found = minimize(
        objective,
        np.append(first.matrix.ravel(), first.offset),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter},
    )
    return AffineTransform(*_parts(found.x, n_features))


def _parts(theta: np.ndarray, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    return theta[: n_features**2].reshape(n_features, n_features), theta[n_features**2 :]


class _Objective:
    """Value and gradient at matrix and offset, in blocks: dk(x, c)/dx = k(x, c) (c - x) / sigma^2."""

    def __init__(
        self,
        model: KernelExpansion,
        sigma: float,
        X: np.ndarray,
        codes: np.ndarray,
        weight: np.ndarray,
        loss: Loss,
        ridge: float,
    ) -> None:
        self._X, self._codes, self._weight, self._loss, self._ridge = X, codes, weight, loss, ridge
        self._centers = np.asarray(model.basis_centers_, X.dtype)
        self._extended = np.hstack([self._centers, np.ones((len(self._centers), 1), X.dtype)])
        self._columns = model.kernel_.columns(self._centers, X.dtype)
        self._weights, self._bias = model.dual_coef_.astype(X.dtype), model.intercept_.astype(X.dtype)
        self._scale = X.dtype.type(1.0 / sigma**2)

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        n_samples, n_features = self._X.shape
        matrix, offset = _parts(theta, n_features)
        total = 0.0
        matrix_gradient, offset_gradient = np.zeros(matrix.shape), np.zeros(offset.shape)
        frame_map = AffineTransform(matrix, offset)
        for start in range(0, n_samples, _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            X = self._X[rows]
            mapped = frame_map(X)
            K = self._columns.block(mapped)
            outputs = K @ self._weights + self._bias
            total += self._loss(outputs, self._codes[rows], self._weight[rows])  # writes its derivative to `outputs`
            pull = outputs @ self._weights.T
            pull *= K
            summed = pull @ self._extended  # sums over the centers; the last column has the sums of `pull` itself
            slope = (summed[:, :-1] - summed[:, -1:] * mapped) * self._scale
            matrix_gradient += slope.T @ X
            offset_gradient += slope.sum(axis=0)
        away = matrix - np.eye(n_features)
        value = total + 0.5 * self._ridge * float((away**2).sum() + (offset**2).sum())
        gradient = np.append(
            (matrix_gradient + self._ridge * away).ravel(),
            offset_gradient + self._ridge * offset,
        )
        return value, gradient
