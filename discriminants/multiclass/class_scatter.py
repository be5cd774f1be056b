"""Means and scatter of kernel columns within each class: all that two-class least squares on any pair needs.

Two classes with targets -1 and +1 give normal equations that are sums over the classes: with S_i the scatter of the
columns within class i, m_i their mean and n_i the number of samples, (K - 1 means')'(K - 1 means') = S_i + S_j +
n_i n_j / (n_i + n_j) (m_j - m_i)(m_j - m_i)'. So every kernel value is computed once, though its class is in
n_classes - 1 pairs, and a pair costs nothing that grows with the samples.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discriminants.kernels import Kernel
from discriminants.parallel.workers import Workers
from discriminants.selection.gram import GramSystem

_ROUNDING = {np.dtype(np.float64): 1e-14, np.dtype(np.float32): 3e-6}  # relative error of kernel values


@dataclass(frozen=True)
class ClassScatter:
    """Of the columns of the centres, which belong to classes, over the samples of every class.

    With m centres, P of them the most of a class, at most 8 m (m + n_classes (P + 1)) bytes.

    Attributes
    ----------
    counts : ndarray of int of shape (n_classes,)
        Samples of each class.
    means : ndarray of shape (n_classes, m)
        [i] are the means of all columns over class i.
    within : list of ndarray of shape (n_classes, P_k, P_k)
        [k][i] is the scatter over class i of the columns of class k's centres.
    across : list of ndarray of shape (P_i, m)
        [i] is that between the columns of class i's centres and all columns, over class i.
    rounding : float
        Relative error of the kernel values.
    """

    counts: np.ndarray
    means: np.ndarray
    within: list[np.ndarray]
    across: list[np.ndarray]
    rounding: float

    def pool(self, i: int) -> np.ndarray:
        """The columns of class i's centres."""
        start = sum(block.shape[0] for block in self.across[:i])
        return np.arange(start, start + self.across[i].shape[0])

    def pair(self, i: int, j: int) -> tuple[np.ndarray, np.ndarray]:
        """Means (2, p) and scatter (2, p, p) over the classes i and j of the columns of their p centres, i's first."""
        own, other = self.pool(i), self.pool(j)
        between_i, between_j = self.across[i][:, other], self.across[j][:, own]
        over_i = np.block([[self.within[i][i], between_i], [between_i.T, self.within[j][i]]])
        over_j = np.block([[self.within[i][j], between_j.T], [between_j, self.within[j][j]]])
        return self.means[[[i], [j]], np.concatenate([own, other])], np.stack([over_i, over_j])

    def system(self, i: int, j: int, means: np.ndarray, scatter: np.ndarray) -> GramSystem:
        """Least squares of -1 for class i and +1 for class j on columns of these means and scatter."""
        n_i, n_j = (float(self.counts[c]) for c in (i, j))
        n, harmonic = n_i + n_j, n_i * n_j / (n_i + n_j)
        difference = means[1] - means[0]
        return GramSystem(
            scatter.sum(axis=0) + harmonic * np.outer(difference, difference),
            2.0 * harmonic * difference[:, None],
            (n_i * means[0] + n_j * means[1]) / n,
            np.array([(n_j - n_i) / n]),
            np.array([4.0 * harmonic]),
            n,
            self.rounding,
        )


def class_scatter(
    kernel: Kernel,
    X: np.ndarray,
    members: list[np.ndarray],
    centers: np.ndarray,
    pool_sizes: np.ndarray,
    workers: Workers,
) -> Iterator[ClassScatter | None]:
    """The scatter within every class, after a None for each class done.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray of shape (n_samples, n_features)
    members : list of ndarray of int
        Rows of each class. A task holds 8 bytes times its samples times the centres.
    centers : ndarray of shape (m, n_features)
        Class after class.
    pool_sizes : ndarray of int of shape (n_classes,)
    workers : Workers
        One class a task.
    """
    means, across = [], []
    within = [np.empty((len(members), size, size)) for size in pool_sizes]
    shared = workers.share(X), workers.share((kernel, centers, pool_sizes))
    for i, (mean, blocks, between) in enumerate(workers.map(_within_class, enumerate(members), *shared)):
        means.append(mean)
        across.append(between)
        for k, block in enumerate(blocks):
            within[k][i] = block
        yield None
    counts = np.array([rows.shape[0] for rows in members])
    yield ClassScatter(counts, np.stack(means), within, across, _ROUNDING[X.dtype])


def _within_class(
    task: tuple[int, np.ndarray], X: np.ndarray, machine: tuple[Kernel, np.ndarray, np.ndarray]
) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
    (i, rows), (kernel, centers, pool_sizes) = task, machine
    K = kernel(X[rows], centers).astype(np.float64)
    means = K.mean(axis=0)
    K -= means
    pools = np.split(K, np.cumsum(pool_sizes)[:-1], axis=1)
    return means, [pool.T @ pool for pool in pools], pools[i].T @ K
