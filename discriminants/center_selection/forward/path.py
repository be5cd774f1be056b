"""Models of every size along one forward selection."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.linalg import solve_triangular

from discriminants.center_selection.forward.orthogonal_system import OrthogonalSystem
from discriminants.kernels import Kernel

_BLOCK_ROWS = 1024


class SelectionPath:
    """Centers in the order of choice, with weights and outputs of the model at any size.

    `system` is that of all chosen columns, and `lams` the penalty after each, valid for all columns up to it. `order`
    (m,) has the chosen candidates, and `kernel` is for the chosen `centers` (m, n_features).
    """

    def __init__(
        self, system: OrthogonalSystem, lams: Sequence[float], order: np.ndarray, kernel: Kernel, centers: np.ndarray
    ) -> None:
        self._system, self._lams = system, lams
        self.order = order
        self._kernel, self._centers = kernel, centers
        self.n_centers = order.shape[0]

    def lam(self, size: int) -> float:
        """Return the penalty at `size` centers."""
        return self._lams[size - 1] if size else 0.0

    def system(self, size: int) -> OrthogonalSystem:
        """Return the orthogonal system of the first `size` centers."""
        return self._system.leading(size)

    def weights(self, size: int) -> np.ndarray:
        """Return weights of the first `size` centers, shape (size + 1, S), the bias first."""
        return self.system(size).weights(self.lam(size))

    def evaluate(self, X: np.ndarray, size: int) -> np.ndarray:
        """Return outputs (n_samples, S) of the model with the first `size` centers, in the float type of X."""
        weights = self.weights(size)
        if not size:
            return np.tile(weights[0].astype(X.dtype), (X.shape[0], 1))
        kernel = self._kernel.at(np.arange(size))
        return kernel.evaluate(X, self._centers[:size], weights[1:], weights[0])

    def outputs(self, X: np.ndarray, sizes: Sequence[int]) -> Iterator[tuple[int, np.ndarray]]:
        """Yield (size, outputs (n_samples, S)) of the models with the first `size` centers, for ascending sizes.

        X is converted to coordinates Q = K R^-1 once; without a penalty each model extends the previous one.
        """
        system = self._system
        Q = self.coordinates(X) if self.n_centers else np.empty((X.shape[0], 0))
        outputs = np.tile(system.z[0] / np.sqrt(system.n_samples), (X.shape[0], 1))
        done = 0
        for size in sizes:
            lam = self.lam(size)
            if lam:
                kept = system.leading(size).shrinkage(lam)[:, None] * system.z[: size + 1]
                yield size, kept[0] / np.sqrt(system.n_samples) + Q[:, :size] @ kept[1:]
            else:
                outputs += Q[:, done:size] @ system.z[done + 1 : size + 1]
                done = size
                yield size, outputs

    def coordinates(self, X: np.ndarray) -> np.ndarray:
        """Return K(X, centers) in the orthonormal basis of the training columns, shape (n_samples, m)."""
        system = self._system
        Q = np.empty((X.shape[0], self.n_centers))
        R = system.R[1:, 1:]
        for rows, K in self._kernel.columns(self._centers, np.float64).blocks(X, _BLOCK_ROWS):
            centred = K - system.R[0, 1:] / np.sqrt(system.n_samples)
            Q[rows] = solve_triangular(R, centred.T, trans="T", check_finite=False).T
        return Q
