"""Kernel recursive least squares in square-root form: a growing dictionary, and least squares on it.

The algorithm is that of Andelic 2007, section 3.4.3, and Engel, Mannor and Meir 2004, with an optional ridge (Liu,
Principe and Haykin 2010, chapter 4).
"""

from typing import Self

import numpy as np
from scipy.linalg import lapack, solve_triangular
from sklearn.base import BaseEstimator

from discriminants.kernels import Kernel

_PANEL = 64  # samples tested for the dictionary together
_REFLECTOR_BLOCK = 32  # columns whose Householder reflections are applied together
_INDEFINITE = 1e-6  # a residual this far below zero, relative to k(x, x), is not rounding
_BIAS_ROUNDING = 1e-13  # root mean square of the residual of ones; less may be rounding


class KernelRecursion(BaseEstimator):
    """State of the recursion: the dictionary and the least-squares problem of all samples seen.

    The source keeps inverses and corrects them sample by sample, which loses accuracy in proportion to the condition
    number. Here L is the Cholesky factor of the dictionary's kernel matrix, K = L L', with the kernel k + 1
    (3.92-3.100: the one is the bias). A sample is represented by its coordinates phi = L^-1 k(x), so r = L^-T phi
    (3.96) and delta = k(x, x) + 1 - |phi|^2 (3.95). The output is phi'w with w = L' alpha. Instead of P (3.106, 3.107),
    the triangular factor R of all coordinates is kept, and R w = z gives the least-squares solution. A sample seen
    before an entry joined has a zero in that entry's coordinate. This is Engel's recursion exactly, because L grows by
    a row.

    A penalty lambda |w|^2 on the summed squared error is R = sqrt(lambda) I before the first sample, or P = I / lambda.
    It can be combined with an unpenalized bias c. For it a target of ones is carried in addition to the others. Let e
    and e_1 be the parts of targets and ones orthogonal to all columns of R. Then c = e_1'e / e_1'e_1, and the weights
    are R^-1 (z - c z_1).

    `kernel` is resolved and positive definite, `penalty` is lambda, and `free_bias` adds a bias to that of the kernel.
    The dictionary is centers_ (m, n_features), in the float type of the data. indices_ (m,) holds the position of each
    entry among the n_samples_seen_. gram_factor_ is L, lower triangular; information_ is R, upper triangular;
    projected_targets_ (m, n_outputs) is z. Only with a free bias, projected_ones_ (m, 1) is z_1, and residual_products_
    (n_outputs + 1,) are e_1'e of every target and e_1'e_1.
    """

    def __init__(self, kernel: Kernel, penalty: float = 0.0, free_bias: bool = False) -> None:
        self.kernel = kernel
        self.penalty = penalty
        self.free_bias = free_bias

    def start(self, n_features: int, n_outputs: int, dtype: np.dtype) -> Self:
        """Reset to no dictionary and no samples."""
        self.centers_ = np.empty((0, n_features), dtype=dtype)
        self.indices_ = np.empty(0, dtype=np.int64)
        self.gram_factor_ = np.empty((0, 0))
        self.information_ = np.empty((0, 0))
        self.projected_targets_ = np.zeros((0, n_outputs))
        if self.free_bias:
            self.projected_ones_ = np.zeros((0, 1))
            self.residual_products_ = np.zeros(n_outputs + 1)
        self.n_samples_seen_ = 0
        return self

    def coordinates(self, X: np.ndarray) -> np.ndarray:
        """Return Phi = K(X, dictionary) L^-T (n_samples, m); X is processed as one block."""
        if not self.centers_.shape[0]:
            return np.empty((X.shape[0], 0))
        K = self._kernel_between(X, self.centers_, self.indices_)
        return self._solve(self.gram_factor_, K.T).T

    def extend(self, X: np.ndarray, nu: float, max_centers: int | None) -> np.ndarray:
        """Add samples whose residual exceeds nu to the dictionary, in order (3.94; algorithm 3).

        Returns their coordinates (n_samples, m), zero if an entry joined after the sample. Raises ValueError if kernel
        values are not finite, or the kernel is found not to be positive definite.
        """
        block = np.arange(self.n_samples_seen_, self.n_samples_seen_ + X.shape[0])
        phi = self.coordinates(X)
        squared_norm = self.kernel.at(block).diagonal(X) + 1.0
        delta = squared_norm - np.einsum("ij,ij->i", phi, phi)
        if not np.isfinite(delta).all():
            raise ValueError("the kernel has values that are not finite: values of X are too large. Scale X")
        # Rounding error in the residual of a sample that depends on the dictionary.
        rounding = 8 * np.finfo(float).eps * squared_norm
        joined = np.empty(0, dtype=np.intp)
        room = X.shape[0] if max_centers is None else max_centers - self.centers_.shape[0]
        position = 0
        while room > joined.size:
            threshold = np.maximum(nu, rounding * (phi.shape[1] + 1))
            panel = position + np.flatnonzero(delta[position:] > threshold[position:])[:_PANEL]
            if not panel.size:
                break
            position = int(panel[-1]) + 1
            S = self._kernel_between(X[panel], X[panel], block[panel]) - phi[panel] @ phi[panel].T
            known = np.vstack([self.centers_, X[joined]])
            chosen, factor = self._entries(X[panel], S, threshold[panel], known, room - joined.size)
            entries = panel[chosen]
            added = self._columns_of(X, block, phi, entries, factor)
            phi = np.hstack([phi, added])
            delta -= np.einsum("ij,ij->i", added, added)
            joined = np.concatenate([joined, entries])
        _refuse_indefinite(delta, squared_norm, nu)
        if not phi.shape[1]:
            raise ValueError(
                f"nu = {nu} excludes every center. "
                f"Expected nu below {squared_norm.max():.3g}, the maximum of k(x, x) + 1"
            )
        if joined.size:
            self._join(X[joined], block[joined], phi[joined])
        self.n_samples_seen_ += X.shape[0]
        return phi

    def add(self, phi: np.ndarray, targets: np.ndarray | None) -> None:
        """Add samples to the least-squares problem by the triangular factor of [R z; Phi y] (instead of 3.106-3.110).

        Without targets all columns of targets are zero, including the ones.
        """
        columns = [self.projected_targets_, self.projected_ones_] if self.free_bias else [self.projected_targets_]
        projected = np.hstack(columns)
        below = np.zeros((phi.shape[0], projected.shape[1]), order="F")
        if targets is not None:
            below[:, : targets.shape[1]] = targets
            below[:, targets.shape[1] :] = 1.0
        rows = np.array(phi, order="F")
        self.information_, reflectors, scales, _ = lapack.dtpqrt(
            0, min(_REFLECTOR_BLOCK, phi.shape[1]), self.information_, rows, overwrite_b=True
        )
        projected, residual, _ = lapack.dtpmqrt(0, reflectors, scales, projected, below, trans="T")
        if self.free_bias:
            self.projected_targets_, self.projected_ones_ = projected[:, :-1], projected[:, -1:]
            self.residual_products_ = self.residual_products_ + residual[:, -1] @ residual
        else:
            self.projected_targets_ = projected

    def bias(self) -> np.ndarray:
        """Return c (n_outputs,), the bias in addition to the kernel's; zero without a free bias or if the kernel's
        suffices.
        """
        if not self.free_bias:
            return np.zeros(self.projected_targets_.shape[1])
        products, square = self.residual_products_[:-1], self.residual_products_[-1]
        if square <= _BIAS_ROUNDING**2 * self.n_samples_seen_:
            return np.zeros_like(products)
        return products / square

    def weights(self) -> np.ndarray:
        """Return w = R^-1 (z - c z_1), weights of the coordinates, shape (m, n_outputs)."""
        right = self.projected_targets_
        if self.free_bias:
            right = right - self.projected_ones_ * self.bias()
        return self._solve(self.information_, right, lower=False)

    def dual_weights(self, weights: np.ndarray) -> np.ndarray:
        """Return alpha = L^-T w, weights of the dictionary's kernels, (m, n_outputs); they sum to the kernel's bias."""
        return self._solve(self.gram_factor_.T, weights, lower=False)

    def _entries(
        self, points: np.ndarray, S: np.ndarray, threshold: np.ndarray, known: np.ndarray, room: int
    ) -> tuple[list[int], np.ndarray]:
        """Return the points that join, and the Cholesky factor of their residual Gram matrix.

        Eliminates in S, the residual Gram matrix of all the points, and skips points below their threshold. Overwrites
        S.
        """
        chosen: list[int] = []
        rows = np.zeros((min(room, points.shape[0]), points.shape[0]))
        for j in range(points.shape[0]):
            if len(chosen) == room:
                break
            if S[j, j] <= threshold[j] or self._is_known(points[j], known, points[chosen]):
                continue
            row = rows[len(chosen), j:]
            row[:] = S[j, j:] / np.sqrt(S[j, j])
            S[j:, j:] -= np.outer(row, row)
            chosen.append(j)
        return chosen, rows[: len(chosen), chosen].T

    def _is_known(self, point: np.ndarray, *dictionaries: np.ndarray) -> bool:
        """Check for an existing entry: with a tiny width, rounding in the kernel alone may exceed nu."""
        return self.kernel.centers_are_points and any((points == point).all(axis=1).any() for points in dictionaries)

    def _columns_of(
        self, X: np.ndarray, block: np.ndarray, phi: np.ndarray, entries: np.ndarray, factor: np.ndarray
    ) -> np.ndarray:
        """Return coordinates of the whole block for new entries, zero before each of them."""
        residual = self._kernel_between(X, X[entries], block[entries]) - phi @ phi[entries].T
        columns = self._solve(factor, residual.T).T
        columns[np.arange(X.shape[0])[:, None] < entries] = 0.0
        columns[entries] = factor
        return columns

    def _join(self, points: np.ndarray, indices: np.ndarray, coordinates: np.ndarray) -> None:
        old, m = self.centers_.shape[0], coordinates.shape[1]
        self.centers_ = np.vstack([self.centers_, points])
        self.indices_ = np.concatenate([self.indices_, indices])
        self.gram_factor_ = np.vstack([np.pad(self.gram_factor_, ((0, 0), (0, m - old))), coordinates])
        self.information_ = np.pad(self.information_, (0, m - old))
        self.projected_targets_ = np.pad(self.projected_targets_, ((0, m - old), (0, 0)))
        if self.penalty:
            self.information_[range(old, m), range(old, m)] = np.sqrt(self.penalty)
        if self.free_bias:
            self.projected_ones_ = np.pad(self.projected_ones_, ((0, m - old), (0, 0)))

    def _kernel_between(self, X: np.ndarray, centers: np.ndarray, indices: np.ndarray) -> np.ndarray:
        """Return k + 1 in float64 for data of any float type."""
        columns = self.kernel.at(indices).columns(np.asarray(centers, dtype=np.float64), np.float64)
        K = np.empty((X.shape[0], columns.n_centers))
        columns.block(np.asarray(X, dtype=np.float64), out=K)
        K += 1.0
        return K

    @staticmethod
    def _solve(triangle: np.ndarray, right: np.ndarray, lower: bool = True) -> np.ndarray:
        return solve_triangular(triangle, right, lower=lower, check_finite=False)


def _refuse_indefinite(delta: np.ndarray, squared_norm: np.ndarray, nu: float) -> None:
    worst = int(np.argmin(delta + _INDEFINITE * squared_norm))
    if not delta[worst] >= -nu - _INDEFINITE * squared_norm[worst]:
        raise ValueError(
            f"a sample has the squared distance {delta[worst]:.3g} from the dictionary. "
            "Expected a positive definite kernel"
        )
