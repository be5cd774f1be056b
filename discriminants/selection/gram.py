"""G = K'K and B = K'Y over any number of samples, streamed: memory O(P^2), never the (N, P) kernel matrix."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas
from scipy.sparse import csr_array

from discriminants.kernels import Kernel, SparseKernelColumns

_SPARSE_DENSITY = 0.02  # above it a dense symmetric product is faster than a sparse one
_STRIPE = 128  # columns
_FLUSH_ROWS = 8192  # float32 products are summed this far before they go to the float64 sum


@dataclass(frozen=True)
class GramSystem:
    """Least squares of S targets on P candidate columns, with the constant column projected out.

    Attributes
    ----------
    gram : ndarray of shape (P, P), float64
        (K - 1 means')'(K - 1 means').
    correlation : ndarray of shape (P, S), float64
        (K - 1 means')'(Y - 1 target_means').
    means : ndarray of shape (P,)
        Mean of each candidate column.
    target_means, target_energy : ndarray of shape (S,)
        Mean and centred sum of squares of each target.
    n_samples : float
        Number of samples, or the sum of their weights.
    precision : float
        Relative error of `gram`; pivots below it times the column's energy are noise.
    rounding : float
        Relative error of the kernel values.
    """

    gram: np.ndarray
    correlation: np.ndarray
    means: np.ndarray
    target_means: np.ndarray
    target_energy: np.ndarray
    n_samples: float
    precision: float
    rounding: float


def accumulate_gram(
    kernel: Kernel,
    X: np.ndarray,
    targets: np.ndarray,
    candidates: np.ndarray,
    *,
    sample_weight: np.ndarray | None = None,
    diagonal: tuple[np.ndarray, float] | None = None,
    exact: bool = True,
    block: int = 2048,
) -> GramSystem:
    """Stream the kernel columns of the candidates over X once.

    Blocks are formed in the float type of X, multiplied in float64 (or, `exact=False`, in the type of X, twice
    as fast for float32) and summed in float64. A first guess of the column means is taken off every block
    before it is multiplied, so that projecting out the constant column does not cancel.

    Parameters
    ----------
    X : ndarray of shape (N, n_features)
    targets : ndarray of shape (N, S), any real type
    candidates : ndarray of shape (P, n_features)
    sample_weight : ndarray of shape (N,), optional
    diagonal : (rows, epsilon), optional
        epsilon is added to entry (rows[j], j) of K: the seed's small constant on the diagonal of the full
        Gram matrix.
    exact : bool
        float32 products suffice to choose centres; weights solved from them would be wrong wherever columns
        nearly depend on each other.

    Returns
    -------
    GramSystem
    """
    columns = kernel.columns(candidates, X.dtype)
    weight = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    total = float(weight.sum())
    target_means = (weight @ targets) / total
    target_energy = np.zeros(targets.shape[1])
    n_candidates, n_targets = candidates.shape[0], targets.shape[1]
    product_type = np.dtype(np.float64) if exact else X.dtype
    precision = 1e-10 if product_type == np.float64 else 1e-6
    rounding = 1e-14 if X.dtype == np.float64 else 3e-6
    if isinstance(columns, SparseKernelColumns) and _density(columns, X) < _SPARSE_DENSITY:
        gram, correlation, means = _sparse_products(columns, X, targets - target_means, weight, diagonal)
        target_energy = weight @ (targets - target_means) ** 2
        return GramSystem(gram, correlation, means, target_means, target_energy, total, 1e-10, rounding)
    product = _SymmetricSum(n_candidates, product_type)
    correlation = np.zeros((n_candidates, n_targets))
    sums = np.zeros(n_candidates)
    guess = columns.block(X[:: max(1, X.shape[0] // 512)]).mean(axis=0, dtype=np.float64).astype(X.dtype)
    for rows, K in columns.blocks(X, block):
        if diagonal is not None:
            inside = np.flatnonzero((diagonal[0] >= rows.start) & (diagonal[0] < rows.stop))
            K[diagonal[0][inside] - rows.start, inside] += K.dtype.type(diagonal[1])
        K -= guess
        root = np.sqrt(weight[rows])[:, None]
        if sample_weight is not None:
            K *= root.astype(K.dtype)
        K = product.converted(K)
        centred = (targets[rows] - target_means) * root
        target_energy += np.einsum("ij,ij->j", centred, centred)
        both = K.T @ np.hstack([centred, root]).astype(K.dtype)
        correlation += both[:, :-1]
        sums += both[:, -1]
        product.add(K)
    offset = sums / total
    gram = product.total(-total, offset)
    if not np.isfinite(np.trace(gram)):
        raise ValueError("kernel values (and epsilon) are too large to be squared; scale the features or the kernel")
    return GramSystem(gram, correlation, guess + offset, target_means, target_energy, total, precision, rounding)


def _density(columns: SparseKernelColumns, X: np.ndarray) -> float:
    """Share of the kernel matrix that is not zero, from a few hundred rows."""
    few = X[:: max(1, X.shape[0] // 256)]
    return columns.sparse(few).nnz / (few.shape[0] * columns.n_centers)


def _sparse_products(
    columns: SparseKernelColumns,
    X: np.ndarray,
    centred: np.ndarray,
    weight: np.ndarray,
    diagonal: tuple[np.ndarray, float] | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centred K'K, K'Y and the column means, from the entries that are not zero alone."""
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
    """Sum of K'K over blocks K: one triangle by BLAS syrk (half the work of a general product)."""

    def __init__(self, size: int, dtype: np.dtype) -> None:
        self._sum = np.zeros((size, size), order="F")
        self._single = dtype == np.float32
        self._part = np.zeros((size, size), dtype=np.float32, order="F") if self._single else self._sum
        self._syrk = blas.ssyrk if self._single else blas.dsyrk
        self._rows = 0
        self._wide = np.empty((0, size))

    def converted(self, K: np.ndarray) -> np.ndarray:
        """A block in the type of the products; it is overwritten by the next."""
        if K.dtype == self._part.dtype:
            return K
        if self._wide.shape[0] < K.shape[0]:
            self._wide = np.empty(K.shape)
        wide = self._wide[: K.shape[0]]
        wide[...] = K
        return wide

    def add(self, K: np.ndarray) -> None:
        self._syrk(1.0, K.T, beta=1.0, c=self._part, overwrite_c=1)
        self._rows += K.shape[0]
        if self._single and self._rows >= _FLUSH_ROWS:
            self._flush()

    def _flush(self) -> None:
        for columns in self._stripes():
            self._sum[: columns.stop, columns] += self._part[: columns.stop, columns]
        self._part[...] = 0.0
        self._rows = 0

    def total(self, factor: float, offset: np.ndarray) -> np.ndarray:
        """The sum and factor times the offset's products with itself, both triangles."""
        if self._single:
            self._flush()
        for columns in self._stripes():
            stripe = self._sum[: columns.stop, columns]
            stripe += factor * np.outer(offset[: columns.stop], offset[columns])
            stripe[columns] = np.triu(stripe[columns]) + np.triu(stripe[columns], 1).T
            self._sum[columns, : columns.start] = stripe[: columns.start].T
        return self._sum

    def _stripes(self) -> Iterator[slice]:
        """Columns in groups whose transposed reads stay in the cache."""
        size = self._sum.shape[0]
        return (slice(start, min(start + _STRIPE, size)) for start in range(0, size, _STRIPE))
