"""Kernel expansions of all pairs of classes, in which the pair (i, j) has only centers of the classes i and j."""

import numpy as np
from sklearn.base import ClassifierMixin

from discriminants.kernels.kernel import KernelColumns
from discriminants.multiclass.gaussian_coupling import GaussianPairs, coupled, normalized
from discriminants.util.expansion import KernelExpansion, Prepared

BLOCK_ROWS = 128
_PART_BYTES = 64 << 20  # maximum memory of the outputs of all pairs of a block
_PREPARED: "Prepared[tuple[KernelColumns, GaussianPairs, PoolWeights]]" = Prepared()


class PairExpansion(ClassifierMixin, KernelExpansion):
    """Outputs of all pairs, with pair posteriors by normal densities and class posteriors by coupling.

    A center belongs to a class and is used in the n_classes - 1 pairs of that class. The weights are therefore an array
    of (n_centers, n_classes). The outputs of all pairs need one small matrix product per class: the part of the centers
    of class i in the pairs (i, j), for all j.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    basis_centers_ : ndarray of shape (n_centers, n_features)
        The centers, class by class.
    pool_sizes_ : ndarray of int of shape (n_classes,)
        Number of centers of each class.
    dual_coef_ : ndarray of shape (n_centers, n_classes)
        Weight of a center of class i in the pair of i and j, at j; zero at i.
    intercept_ : ndarray of shape (n_pairs,)
        Bias of each pair, in the order (0, 1), (0, 2), ..., (n_classes - 2, n_classes - 1) of class numbers. Other
        attributes of pairs have the same order.
    means_, variances_ : ndarray of shape (2, n_pairs)
        Mean and variance of the output of each pair in its first class and in its second.
    class_log_prior_ : ndarray of shape (n_classes,)
    """

    classes_: np.ndarray
    pool_sizes_: np.ndarray
    means_: np.ndarray
    variances_: np.ndarray
    class_log_prior_: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class with the largest posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        """
        scores = self._scores(self._checked(X))
        return self.classes_[scores.argmax(axis=1)]

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return the logarithm of (4.8), (n_samples, n_classes); for two classes the log odds of the second,
        (n_samples,).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        """
        scores = self._scores(self._checked(X))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_log_proba(self, X: np.ndarray) -> np.ndarray:
        """Return natural log posteriors, float32 if X is float32, else float64, shape (n_samples, n_classes).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        """
        return normalized(self._scores(self._checked(X)))

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return posteriors, shape (n_samples, n_classes); rows sum to one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        """
        return np.exp(self.predict_log_proba(X))

    def _scores(self, X: np.ndarray) -> np.ndarray:
        """Return the logarithm of (4.8) for checked X."""
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
        """Return the cached kernel columns, pairs, and scaled weights, because utterances come a few at a time."""
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
    """Weights (n_classes, n_centers) of centers that belong to classes, split into one matrix per class."""

    def __init__(self, weights: np.ndarray, pool_sizes: np.ndarray) -> None:
        ends = np.cumsum(pool_sizes)
        self._pools = [slice(end - size, end) for end, size in zip(ends, pool_sizes, strict=True)]
        self._weights = [np.ascontiguousarray(weights[:, pool]) for pool in self._pools]
        self._stacked = None
        if (pool_sizes == pool_sizes[0]).all():  # one call instead of many
            self._stacked, self._weights = np.stack(self._weights), []

    def parts(self, K: np.ndarray, out: np.ndarray) -> None:
        """Write to out[i, j, t] the part of class i's centers in the pair of i and j; K is (n_samples, n_centers)."""
        if self._stacked is not None:
            n_classes, _, size = self._stacked.shape
            np.matmul(self._stacked, K.reshape(-1, n_classes, size).transpose(1, 2, 0), out=out)
            return
        for i, (pool, weights) in enumerate(zip(self._pools, self._weights, strict=True)):
            np.matmul(weights, K[:, pool].T, out=out[i])
