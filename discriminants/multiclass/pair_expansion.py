"""Kernel expansions of all pairs of classes in which the pair (i, j) has centres of the classes i and j alone."""

import numpy as np
from sklearn.base import ClassifierMixin

from discriminants.kernels.kernel import KernelColumns
from discriminants.multiclass.gaussian_coupling import GaussianPairs, coupled, normalized
from discriminants.util.expansion import KernelExpansion
from discriminants.util.prepared import Prepared

BLOCK_ROWS = 128
_PART_BYTES = 64 << 20  # most of the outputs of all pairs of a block
_PREPARED: "Prepared[tuple[KernelColumns, GaussianPairs, PoolWeights]]" = Prepared()


class PairExpansion(ClassifierMixin, KernelExpansion):
    """Outputs of all pairs, their posteriors by normal densities, and those of the classes by coupling.

    A centre belongs to a class and takes part in that class's n_classes - 1 pairs. So the weights are an array of
    (n_centers, n_classes), and the outputs of all pairs come of one small matrix product a class: the part that the
    centres of class i have in the pairs (i, j), for all j.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    basis_centers_ : ndarray of shape (n_centers, n_features)
        Class after class.
    pool_sizes_ : ndarray of int of shape (n_classes,)
        Centres of each class.
    dual_coef_ : ndarray of shape (n_centers, n_classes)
        Weight of a centre of class i in the pair of i and j, at j; zero at i.
    intercept_ : ndarray of shape (n_pairs,)
        In the order (0, 1), (0, 2), ..., (n_classes - 2, n_classes - 1) of class numbers, as everything of pairs.
    means_, variances_ : ndarray of shape (2, n_pairs)
        Of the output of each pair in its first class and in its second.
    class_log_prior_ : ndarray of shape (n_classes,)
    """

    classes_: np.ndarray
    pool_sizes_: np.ndarray
    means_: np.ndarray
    variances_: np.ndarray
    class_log_prior_: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The class with the largest posterior."""
        scores = self._scores(self._checked(X))
        return self.classes_[scores.argmax(axis=1)]

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """The logarithm of (4.8), (n_samples, n_classes); of two classes the log odds of the second, (n_samples,)."""
        scores = self._scores(self._checked(X))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_log_proba(self, X: np.ndarray) -> np.ndarray:
        """Natural log posteriors, float32 where X is float32, else float64, shape (n_samples, n_classes)."""
        return normalized(self._scores(self._checked(X)))

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Posteriors, shape (n_samples, n_classes); rows sum to one."""
        return np.exp(self.predict_log_proba(X))

    def _scores(self, X: np.ndarray) -> np.ndarray:
        """The logarithm of (4.8) for checked X."""
        n_classes = self.classes_.shape[0]
        columns, pairs, weights = self._prepared(X.dtype)
        block = max(1, min(BLOCK_ROWS, _PART_BYTES // (n_classes**2 * X.dtype.itemsize)))
        scores = np.empty((X.shape[0], n_classes), dtype=X.dtype)
        parts = np.empty((n_classes, n_classes, 0), dtype=X.dtype)
        for rows, K in columns.blocks(X, block):
            if parts.shape[2] != K.shape[0]:
                parts = np.empty((n_classes, n_classes, K.shape[0]), dtype=X.dtype)
            weights.parts(K, parts)
            scores[rows] = coupled(parts, pairs)
        return scores

    def _prepared(self, dtype: np.dtype) -> "tuple[KernelColumns, GaussianPairs, PoolWeights]":
        """The kernel for the centres, the pairs, and the weights in their units; utterances come a few at a time."""
        of_pairs = (self.intercept_, self.means_, self.variances_, self.class_log_prior_)
        made_of = (self.kernel_, *vars(self.kernel_).values(), self.basis_centers_, self.dual_coef_, *of_pairs)

        def make() -> "tuple[KernelColumns, GaussianPairs, PoolWeights]":
            pairs = GaussianPairs.of(self.means_, self.variances_, self.class_log_prior_)
            first, second = np.triu_indices(self.classes_.shape[0], 1)
            pairs.offset[first, second] += pairs.scale[first, second] * self.intercept_
            own = np.repeat(np.arange(self.classes_.shape[0]), self.pool_sizes_)
            weights = np.ascontiguousarray((self.dual_coef_ * pairs.scale[own]).T, dtype=dtype)
            columns = self.kernel_.columns(self.basis_centers_, dtype)
            return columns, pairs.astype(dtype), PoolWeights(weights, self.pool_sizes_)

        return _PREPARED.get(self, dtype, made_of, make)


class PoolWeights:
    """Weights (n_classes, n_centers) of centres that belong to classes, cut into one matrix a class."""

    def __init__(self, weights: np.ndarray, pool_sizes: np.ndarray) -> None:
        ends = np.cumsum(pool_sizes)
        self._pools = [slice(end - size, end) for end, size in zip(ends, pool_sizes, strict=True)]
        self._weights = [np.ascontiguousarray(weights[:, pool]) for pool in self._pools]
        self._stacked = None
        if (pool_sizes == pool_sizes[0]).all():  # one call in place of many
            self._stacked, self._weights = np.stack(self._weights), []

    def parts(self, K: np.ndarray, out: np.ndarray) -> None:
        """out[i, j, t] is what the centres of class i add to the pair of i and j, for K of (n_samples, n_centers)."""
        if self._stacked is not None:
            n_classes, _, size = self._stacked.shape
            np.matmul(self._stacked, K.reshape(-1, n_classes, size).transpose(1, 2, 0), out=out)
            return
        for i, (pool, weights) in enumerate(zip(self._pools, self._weights, strict=True)):
            np.matmul(weights, K[:, pool].T, out=out[i])
