"""Means and scatter of kernel columns within each class, which suffice for two-class least squares on any pair.

Two classes with targets -1 and +1 give normal equations that are sums over the classes. Let S_i be the scatter of the
columns within class i, m_i their mean and n_i the number of samples. Then (K - 1 means')'(K - 1 means') = S_i + S_j +
n_i n_j / (n_i + n_j) (m_j - m_i)(m_j - m_i)'. Every kernel value is therefore computed once, although its class is in
n_classes - 1 pairs, and the cost of a pair does not depend on the number of samples. The sums are stored for two halves
of every class, so that outputs can be evaluated on samples that were not used for training.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discriminants.center_selection.forward.gram import GramSystem
from discriminants.kernels import Kernel
from discriminants.parallel.workers import Workers

_ROUNDING = {np.dtype(np.float64): 1e-14, np.dtype(np.float32): 3e-6}  # relative error of kernel values


@dataclass(frozen=True)
class PairMoments:
    """Moments of the columns of the p centers of two classes, over samples of either."""

    counts: np.ndarray  # (2,): samples
    means: np.ndarray  # (2, p)
    scatter: np.ndarray  # (2, p, p): products of the columns less their means

    def system(self, rounding: float) -> GramSystem:
        """Return the least-squares system with -1 for the first class and +1 for the second."""
        n, harmonic = self.counts.sum(), self.counts.prod() / self.counts.sum()
        difference = self.means[1] - self.means[0]
        return GramSystem(
            self.scatter.sum(axis=0) + harmonic * np.outer(difference, difference),
            2.0 * harmonic * difference[:, None],
            self.counts @ self.means / n,
            np.array([(self.counts[1] - self.counts[0]) / n]),
            np.array([4.0 * harmonic]),
            float(n),
            rounding,
        )

    def outputs(self, weights: np.ndarray, bias: float) -> tuple[np.ndarray, np.ndarray]:
        """Return means and variances of an expansion (p,) in either class, (2,) each."""
        spread = np.einsum("k,ckl,l->c", weights, self.scatter, weights)
        return self.means @ weights + bias, spread / self.counts


@dataclass(frozen=True)
class ClassScatter:
    """Moments of the columns of all centers, grouped by class, over the two halves of the samples of every class.

    With m centers, at most P per class, it takes at most 16 m (m + n_classes (P + 1)) bytes.
    """

    counts: np.ndarray  # (n_classes, 2): samples of each class
    means: np.ndarray  # (n_classes, 2, m): [i] are the means of all columns over the halves of class i
    # list of ndarray of shape (n_classes, 2, P_k, P_k): [k][i] is the scatter over class i of the columns of class
    # k's centers
    within: list[np.ndarray]
    # list of ndarray of shape (2, P_i, m): [i] is that between the columns of class i's centers and all columns,
    # over class i
    across: list[np.ndarray]
    rounding: float  # relative error of the kernel values

    def pools(self) -> list[np.ndarray]:
        """Return the columns of each class's centers."""
        ends = np.cumsum([block.shape[1] for block in self.across])
        return [np.arange(end - block.shape[1], end) for end, block in zip(ends, self.across, strict=True)]

    def halves(self, i: int, j: int, own: np.ndarray, other: np.ndarray) -> list[PairMoments]:
        """Return moments over the halves of the classes i and j, for the columns of their centers, those of i first."""
        columns = np.concatenate([own, other])
        found = []
        for half in (0, 1):
            between_i, between_j = self.across[i][half][:, other], self.across[j][half][:, own]
            over_i = np.block([[self.within[i][i, half], between_i], [between_i.T, self.within[j][i, half]]])
            over_j = np.block([[self.within[i][j, half], between_j.T], [between_j, self.within[j][j, half]]])
            means = self.means[[[i], [j]], half, columns]
            found.append(PairMoments(self.counts[[i, j], half], means, np.stack([over_i, over_j])))
        return found


def joined(one: PairMoments, other: PairMoments) -> PairMoments:
    """Return the moments over the samples of both."""
    counts = one.counts + other.counts
    difference = one.means - other.means
    between = (one.counts * other.counts / counts)[:, None, None] * difference[:, :, None] * difference[:, None]
    means = (one.counts[:, None] * one.means + other.counts[:, None] * other.means) / counts[:, None]
    return PairMoments(counts, means, one.scatter + other.scatter + between)


def class_scatter(
    kernel: Kernel,
    X: np.ndarray,
    members: list[np.ndarray],
    centers: np.ndarray,
    pool_sizes: np.ndarray,
    workers: Workers,
) -> Iterator[ClassScatter | None]:
    """Yield None after each class, then the scatter within every class; one class per task.

    `members` has the rows of each class. The two halves are its first and second half, so that neighbors in time are
    not in both. A task takes 8 bytes times its samples times the centers, which are ordered by class, `pool_sizes` of
    each.
    """
    means, across = [], []
    within = [np.empty((len(members), 2, size, size)) for size in pool_sizes]
    shared = workers.share(X), workers.share((kernel, centers, pool_sizes))
    for i, (mean, blocks, between) in enumerate(workers.map(_within_class, enumerate(members), *shared)):
        means.append(mean)
        across.append(between)
        for k, block in enumerate(blocks):
            within[k][i] = block
        yield None
    counts = np.array([[rows.shape[0] // 2, rows.shape[0] - rows.shape[0] // 2] for rows in members], dtype=np.float64)
    yield ClassScatter(counts, np.stack(means), within, across, _ROUNDING[X.dtype])


def _within_class(
    task: tuple[int, np.ndarray], X: np.ndarray, machine: tuple[Kernel, np.ndarray, np.ndarray]
) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
    (i, rows), (kernel, centers, pool_sizes) = task, machine
    K = kernel(X[rows], centers).astype(np.float64)
    half = rows.shape[0] // 2
    means = np.zeros((2, K.shape[1]))
    for number, part in enumerate((K[:half], K[half:])):
        if part.shape[0]:
            means[number] = part.mean(axis=0)
            part -= means[number]
    pools = np.split(K, np.cumsum(pool_sizes)[:-1], axis=1)
    within = [np.stack([pool[:half].T @ pool[:half], pool[half:].T @ pool[half:]]) for pool in pools]
    return means, within, np.stack([pools[i][:half].T @ K[:half], pools[i][half:].T @ K[half:]])
