"""K + epsilon I between samples and candidates, computed in pieces on demand."""

from collections.abc import Iterator

import numpy as np

from discriminants.kernels import Kernel

_BLOCK_ENTRIES = 1 << 22  # of a kernel block, 32 MB in float64
_LARGEST = 1e145  # maximum entry, so that sums of squares stay finite


class KernelMatrix:
    """The (N, P) matrix of all candidate columns in float64, evaluated in blocks of rows or single columns.

    Candidate j is sample `points[j]` of X. `epsilon` is added at the row of a candidate's own sample: the source's
    small constant on the diagonal of the full Gram matrix (Andelic 2007, below 3.54).
    """

    def __init__(self, kernel: Kernel, X: np.ndarray, points: np.ndarray, epsilon: float = 0.0) -> None:
        self.kernel, self.X, self.points, self.epsilon = kernel, X, points, epsilon
        self.shape = X.shape[0], points.shape[0]

    def columns(self, candidates: np.ndarray) -> np.ndarray:
        """Return the columns of some candidates, shape (N, n); ValueError if sums of their squares would overflow."""
        points = self.points[candidates]
        K = self.kernel.at(candidates).columns(self.X[points], np.float64).block(self.X)
        if self.epsilon:
            K[points, np.arange(points.shape[0])] += self.epsilon
        largest = max(K.max(), -K.min())
        if not largest < _LARGEST:
            raise ValueError(
                f"kernel values up to {largest:.3g} (including epsilon) are too large to be squared. Scale the kernel"
            )
        return K

    def at_candidates(self) -> np.ndarray:
        """Return the rows of the candidates' own samples, shape (P, P)."""
        points = self.X[self.points].astype(np.float64)
        K = self.kernel.columns(points, np.float64).block(points)
        if self.epsilon:
            K += self.epsilon * (self.points[:, None] == self.points)
        return K

    def transposed_times(self, V: np.ndarray) -> np.ndarray:
        """Return K'V of shape (P, n) for V of shape (N, n)."""
        product = np.zeros((self.shape[1], V.shape[1]))
        for rows, K in self._blocks():
            product += K.T @ V[rows]
        return product + self.epsilon * V[self.points]

    def energies(self) -> np.ndarray:
        """Return the squared length of each column, shape (P,)."""
        total = np.zeros(self.shape[1])
        own = np.empty(self.shape[1])
        for rows, K in self._blocks():
            total += np.einsum("ij,ij->j", K, K)
            inside = np.flatnonzero((self.points >= rows.start) & (self.points < rows.stop))
            own[inside] = K[self.points[inside] - rows.start, inside]
        return total + self.epsilon * (2.0 * own + self.epsilon)

    def _blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        columns = self.kernel.columns(self.X[self.points], np.float64)
        return columns.blocks(self.X, max(1, _BLOCK_ENTRIES // self.shape[1]))
