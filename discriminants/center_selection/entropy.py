"""Centres of greatest quadratic Renyi entropy, by exchange: the choice of the fixed-size LS-SVM."""

import numpy as np

from discriminants.kernels import Kernel
from discriminants.linear_systems.kernel_values import kernel_matrix

_BLOCK = 256  # samples whose kernel values with all centres are evaluated together
_MAX_PASSES = 10
_SETTLED = 1e-4  # share of the sum by which a pass lowers it


def entropy(
    X: np.ndarray, kernel: Kernel, n_centers: int, random: np.random.RandomState, targets: np.ndarray | None = None
) -> np.ndarray:
    """Lower the sum of the kernel matrix among the centres, whose logarithm is minus the entropy of their Parzen
    density, by exchanging centres for other samples (Suykens et al. 2002, 6.16, 6.17 and section 6.2.2); for
    `CHOOSERS`.

    Every sample in random order is offered in place of the centre that it betters most, O(m) time beside its row of
    kernel values. It ends when a pass over the samples lowers the sum by less than 0.01 %, or after ten. The source
    draws the centre to be exchanged at random.
    """
    order = random.permutation(X.shape[0])
    exchange = CenterExchange(X, kernel, order[:n_centers])
    offered = order[n_centers:]
    for _ in range(_MAX_PASSES):
        before = exchange.total
        for start in range(0, offered.shape[0], _BLOCK):
            part = slice(start, start + _BLOCK)
            offered[part] = exchange.offer(offered[part])
        if not before - exchange.total > _SETTLED * abs(before):
            break
    return exchange.rows


class CenterExchange:
    """Centres `rows` (m,) among the samples X, and what an exchange changes in `total`, the sum of their kernels."""

    def __init__(self, X: np.ndarray, kernel: Kernel, rows: np.ndarray) -> None:
        self._X, self._kernel, self._diagonal = X, kernel, kernel.diagonal(X)
        self.rows = rows.copy()
        self._K = self._values(rows, rows)
        self._sums = self._K.sum(axis=1)
        self.total = float(self._sums.sum())

    def _values(self, rows: np.ndarray, centers: np.ndarray) -> np.ndarray:
        return kernel_matrix(self._kernel.at(centers), self._X[rows], self._X[centers])

    def offer(self, samples: np.ndarray) -> np.ndarray:
        """Put each sample in place of the centre that it betters most, if any; return the samples left over."""
        left = samples.copy()
        values = self._values(samples, self.rows)
        for i, sample in enumerate(samples):
            own = self._diagonal[sample]
            k = values[i]
            # 2 c + k_jj - 2 (r_i - k_ii) - k_ii with c the sum of k over all centres but i
            change = 2.0 * (k.sum() - k) + own - 2.0 * self._sums + self._diagonal[self.rows]
            place = int(np.argmin(change))
            if not change[place] < 0.0:
                continue
            left[i] = self.rows[place]
            self.total += float(change[place])
            self._sums += k - self._K[place]
            self._K[place] = self._K[:, place] = k
            self._K[place, place] = own
            self._sums[place] = self._K[place].sum()
            self.rows[place] = sample
            values[i + 1 :, place] = self._values(samples[i + 1 :], samples[i : i + 1])[:, 0]
        return left
