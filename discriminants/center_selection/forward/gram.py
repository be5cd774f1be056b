"""G = K'K and B = K'Y over any number of samples, streamed with memory O(P^2) and no (N, P) kernel matrix."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import blas
from scipy.sparse import csr_array

from discriminants.kernels import Kernel, KernelColumns, SparseKernelColumns
from discriminants.multiclass.labels import OneVsRestTargets
from discriminants.parallel.stored_array import StoredArray
from discriminants.parallel.workers import Workers

_SPARSE_DENSITY = 0.02  # for denser matrices, a dense symmetric product is faster than a sparse one
_STRIPE = 128  # columns
_TASK_ROWS = 8192  # samples per task of the workers


@dataclass(frozen=True)
class GramSystem:
    """Least squares of S targets on P candidate columns, with the constant column projected out."""

    gram: np.ndarray  # (P, P), float64: (K - 1 means')'(K - 1 means')
    correlation: np.ndarray  # (P, S), float64: (K - 1 means')'(Y - 1 target_means')
    means: np.ndarray  # (P,): mean of each candidate column
    target_means: np.ndarray  # (S,)
    target_energy: np.ndarray  # (S,): centered sum of squares of each target
    n_samples: float  # number of samples, or the sum of their weights
    rounding: float  # relative error of the kernel values


def accumulate_gram(
    kernel: Kernel,
    X: np.ndarray | StoredArray,
    targets: np.ndarray | OneVsRestTargets,
    candidates: np.ndarray,
    *,
    rows: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    diagonal: tuple[np.ndarray, float] | None = None,
    block: int = 2048,
    workers: Workers | None = None,
) -> GramSystem:
    """Compute the system from kernel columns of the candidates (P, n_features) over X (n_samples, n_features).

    Blocks are formed in the float type of X, but multiplied and summed in float64. With float32 products, the
    remainders of late columns would be mostly rounding, and the choice would differ between processors. An estimate of
    the column means is subtracted from every block before it is multiplied, so that projecting out the constant column
    does not cancel.

    `targets` has shape (N, S), any real type; `rows` are the N samples of X to use, all by default. `diagonal` is
    (rows, epsilon): epsilon is added to entry (rows[j], j) of K. `block` is the number of rows of a kernel block. With
    `workers` a task has 8192 samples. The sums are the same for any workers, but may differ in the last bits from those
    without workers.
    """
    n_samples = X.shape[0] if rows is None else rows.shape[0]
    columns = kernel.columns(candidates, X.dtype)
    weight = np.ones(n_samples) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    total = float(weight.sum())
    target_means = (targets.weighted_sum(weight) if isinstance(targets, OneVsRestTargets) else weight @ targets) / total
    rounding = 1e-14 if X.dtype == np.float64 else 3e-6

    def some(step: int) -> np.ndarray:
        return X[:: max(1, n_samples // step)] if rows is None else X[rows[:: max(1, n_samples // step)]]

    if isinstance(columns, SparseKernelColumns) and _density(columns, some(256)) < _SPARSE_DENSITY:
        whole = X[:] if rows is None else X[rows]
        centred = np.asarray(targets) - target_means
        gram, correlation, means = _sparse_products(columns, whole, centred, weight, diagonal)
        return GramSystem(gram, correlation, means, target_means, weight @ centred**2, total, rounding)
    guess = columns.block(some(512)).mean(axis=0, dtype=np.float64).astype(X.dtype)
    sums = _Sums(columns.n_centers, target_means, guess, weighted=sample_weight is not None)
    if workers is None:
        sums.add(columns, X[:] if rows is None else X[rows], targets, weight, block, diagonal)
    else:
        parts = (slice(start, min(start + _TASK_ROWS, n_samples)) for start in range(0, n_samples, _TASK_ROWS))
        tasks = ((part if rows is None else rows[part], targets[part], weight[part]) for part in parts)
        empty = workers.share((kernel, candidates, target_means, guess, sample_weight is not None, block))
        for packed in workers.map(_block_sums, tasks, workers.share(X), empty):
            sums.merge(packed)
        if diagonal is not None:
            raise ValueError("diagonal cannot be combined with workers. Use workers=None")
    offset = sums.columns / total
    with np.errstate(over="ignore", invalid="ignore"):
        gram = sums.product.total(-total, offset)
    if not np.isfinite(np.trace(gram)):
        raise ValueError("kernel values (including epsilon) are too large to be squared. Scale X or the kernel")
    return GramSystem(gram, sums.correlation, guess + offset, target_means, sums.target_energy, total, rounding)


class _Sums:
    """K'K, K'Y, K'1 and Y'Y over the samples so far, with K less an estimate of its means, and Y less its means."""

    def __init__(self, n_candidates: int, target_means: np.ndarray, guess: np.ndarray, *, weighted: bool) -> None:
        self._target_means, self._guess, self._weighted = target_means, guess, weighted
        self.product = _SymmetricSum(n_candidates)
        self.correlation = np.zeros((n_candidates, target_means.shape[0]))
        self.columns = np.zeros(n_candidates)
        self.target_energy = np.zeros(target_means.shape[0])

    def add(
        self,
        columns: KernelColumns,
        X: np.ndarray,
        targets: np.ndarray | OneVsRestTargets,
        weight: np.ndarray,
        block: int,
        diagonal: tuple[np.ndarray, float] | None = None,
    ) -> None:
        for rows, K in columns.blocks(X, block):
            if diagonal is not None:
                inside = np.flatnonzero((diagonal[0] >= rows.start) & (diagonal[0] < rows.stop))
                K[diagonal[0][inside] - rows.start, inside] += K.dtype.type(diagonal[1])
            K -= self._guess
            root = np.sqrt(weight[rows])[:, None]
            if self._weighted:
                K *= root.astype(K.dtype)
            K = self.product.converted(K)
            centred = (np.asarray(targets[rows]) - self._target_means) * root
            self.target_energy += np.einsum("ij,ij->j", centred, centred)
            both = K.T @ np.hstack([centred, root]).astype(K.dtype)
            self.correlation += both[:, :-1]
            self.columns += both[:, -1]
            self.product.add(K)

    def merge(self, packed: tuple[np.ndarray, ...]) -> None:
        """Add the result of `_block_sums` for some samples."""
        triangle, correlation, columns, target_energy = packed
        self.product.merge(triangle)
        self.correlation += correlation
        self.columns += columns
        self.target_energy += target_energy


def _block_sums(task: tuple[Any, ...], X: np.ndarray | StoredArray, empty: tuple[Any, ...]) -> tuple[np.ndarray, ...]:
    """Return the sums over the samples of one task."""
    rows, targets, weight = task
    kernel, candidates, target_means, guess, weighted, block = empty
    sums = _Sums(candidates.shape[0], target_means, guess, weighted=weighted)
    sums.add(kernel.columns(candidates, X.dtype), X[rows], targets, weight, block)
    return sums.product.packed(), sums.correlation, sums.columns, sums.target_energy


def _density(columns: SparseKernelColumns, few: np.ndarray) -> float:
    """Estimate the density of the kernel matrix from a few hundred rows."""
    return columns.sparse(few).nnz / (few.shape[0] * columns.n_centers)


def _sparse_products(
    columns: SparseKernelColumns,
    X: np.ndarray,
    centred: np.ndarray,
    weight: np.ndarray,
    diagonal: tuple[np.ndarray, float] | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return centered K'K, K'Y and the column means, from the nonzero entries."""
    n_candidates = columns.n_centers
    gram = np.zeros((n_candidates, n_candidates))
    correlation = np.zeros((n_candidates, centred.shape[1]))
    sums = np.zeros(n_candidates)
    for rows, K in columns.sparse_blocks(X):
        wide = K.astype(np.float64)
        if diagonal is not None:
            inside = np.flatnonzero((diagonal[0] >= rows.start) & (diagonal[0] < rows.stop))
            values = np.full(inside.shape[0], diagonal[1])
            wide += csr_array((values, (diagonal[0][inside] - rows.start, inside)), shape=wide.shape)
        weighted = (wide.multiply(weight[rows, None])).tocsr()
        gram += (weighted.T @ wide).toarray()
        correlation += weighted.T @ centred[rows]
        sums += np.asarray(weighted.sum(axis=0)).ravel()
    total = float(weight.sum())
    return gram - np.outer(sums, sums) / total, correlation, sums / total


class _SymmetricSum:
    """Sum of K'K over blocks K, one triangle by BLAS syrk (half the work of a general product)."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._sum: np.ndarray | None = None
        self._wide = np.empty((0, size))

    def converted(self, K: np.ndarray) -> np.ndarray:
        """Return a block in float64; the next call overwrites it."""
        if K.dtype == np.float64:
            return K
        if self._wide.shape[0] < K.shape[0]:
            self._wide = np.empty(K.shape)
        wide = self._wide[: K.shape[0]]
        wide[...] = K
        return wide

    def add(self, K: np.ndarray) -> None:
        blas.dsyrk(1.0, K.T, beta=1.0, c=self._upper(), overwrite_c=1)

    def packed(self) -> np.ndarray:
        """Return the triangle in stripes of columns."""
        upper = self._upper()
        return np.concatenate([upper[: columns.stop, columns].ravel(order="F") for columns in self._stripes()])

    def merge(self, triangle: np.ndarray) -> None:
        """Add the packed triangle of another sum."""
        upper = self._upper()
        start = 0
        for columns in self._stripes():
            shape = columns.stop, columns.stop - columns.start
            end = start + shape[0] * shape[1]
            upper[: columns.stop, columns] += triangle[start:end].reshape(shape, order="F")
            start = end

    def total(self, factor: float, offset: np.ndarray) -> np.ndarray:
        """Return both triangles of the sum plus factor times the offset's products with itself."""
        total = self._upper()
        for columns in self._stripes():
            stripe = total[: columns.stop, columns]
            stripe += factor * np.outer(offset[: columns.stop], offset[columns])
            stripe[columns] = np.triu(stripe[columns]) + np.triu(stripe[columns], 1).T
            total[columns, : columns.start] = stripe[: columns.start].T
        return total

    def _upper(self) -> np.ndarray:
        if self._sum is None:
            self._sum = np.zeros((self._size, self._size), order="F")
        return self._sum

    def _stripes(self) -> Iterator[slice]:
        """Yield groups of columns whose transposed reads fit into the cache."""
        return (slice(start, min(start + _STRIPE, self._size)) for start in range(0, self._size, _STRIPE))
