"""Scatter within and between classes for any number of samples, and discriminant directions."""

from typing import Self

import numpy as np
import scipy.sparse
from scipy.linalg import eigh

_JITTER = 1e-10  # of the mean diagonal entry of a scatter matrix, added before factoring


class PooledScatter:
    """Counts (n_classes,), sums by class (n_classes, m) and products (m, m) of columns, accumulated in float64.

    Memory is 8 m (m + n_classes) bytes. `origin` (m,) is subtracted from every sample first; near the mean, this avoids
    cancellation.
    """

    def __init__(self, n_classes: int, origin: np.ndarray) -> None:
        self.origin = np.asarray(origin, dtype=np.float64)
        size = self.origin.shape[0]
        self.counts = np.zeros(n_classes)
        self.sums = np.zeros((n_classes, size))
        self.products = np.zeros((size, size))

    def add(self, samples: np.ndarray, codes: np.ndarray) -> Self:
        """Add samples (n_samples, m) with class numbers (n_samples,); class -1 is ignored."""
        used = codes >= 0
        x = samples[used] - self.origin
        ones = np.ones(len(x))
        indicator = scipy.sparse.csr_array((ones, (codes[used], np.arange(len(x)))), shape=(len(self.counts), len(x)))
        self.counts += np.bincount(codes[used], minlength=len(self.counts))
        self.sums += indicator @ x
        self.products += x.T @ x
        return self

    def merge(self, other: Self) -> None:
        """Add the sums of another instance with the same origin."""
        self.counts += other.counts
        self.sums += other.sums
        self.products += other.products

    @property
    def present(self) -> np.ndarray:
        """Classes with at least one sample, bool of shape (n_classes,)."""
        return self.counts > 0

    @property
    def means(self) -> np.ndarray:
        """Means of the present classes, minus the origin, (n_present, m)."""
        return self.sums[self.present] / self.counts[self.present, None]

    @property
    def mean(self) -> np.ndarray:
        """Mean of all samples, minus the origin, (m,)."""
        mean: np.ndarray = self.sums.sum(axis=0) / self.counts.sum()
        return mean

    def within(self) -> np.ndarray:
        """W, the sum of squared deviations from the class means, (m, m)."""
        means = self.means
        return self.products - (means * self.counts[self.present, None]).T @ means

    def directions(self, n_components: int, penalty: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compute the largest solutions of B a = lambda (W + penalty) a (Mika 2002, 3.31, 3.33, 3.34).

        There are at most n_classes - 1 solutions. Returns weights of the columns (m, n_components), biases that give
        outputs of mean zero, and eigenvalues, descending. Outputs have unit variance within the classes, penalty (m, m)
        included. Raises ValueError if W + penalty is not positive definite.
        """
        within = self.within() + penalty
        within.flat[:: within.shape[0] + 1] += _JITTER * within.trace() / within.shape[0]
        differences = self.means - self.mean
        spread = np.sqrt(self.counts[self.present])[:, None] * differences
        eigenvalues, vectors = largest(spread.T @ spread, within, n_components)
        weights = oriented(vectors, differences @ vectors) * np.sqrt(self.counts.sum())
        return weights, -(self.mean + self.origin) @ weights, np.maximum(eigenvalues, 0.0)


def largest(A: np.ndarray, B: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute the n largest eigenvalues of A v = l B v, descending, and their vectors as columns, v'Bv = 1."""
    size = A.shape[0]
    try:
        values, vectors = eigh(A, B, subset_by_index=(size - n, size - 1), check_finite=False)
    except np.linalg.LinAlgError:
        raise ValueError(
            "the within-class scatter matrix is not positive definite. "
            "Use a larger regularization, or a kernel without large negative eigenvalues"
        ) from None
    return values[::-1], vectors[:, ::-1]


def oriented(vectors: np.ndarray, class_means: np.ndarray) -> np.ndarray:
    """Choose signs so that the mean furthest from zero is positive; for two classes, the mean of the second."""
    if class_means.shape[0] == 2:
        signs = np.sign(class_means[1])
    else:
        signs = np.sign(class_means[np.argmax(np.abs(class_means), axis=0), np.arange(class_means.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)
