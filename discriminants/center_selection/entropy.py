"""Centers of maximal quadratic Renyi entropy, by exchange, as in the fixed-size LS-SVM."""

import numpy as np

from discriminants.kernels import Kernel
from discriminants.linear_systems.kernel_values import kernel_matrix

_BLOCK = 256  # samples whose kernel values with all centers are evaluated together
_MAX_PASSES = 10
_SETTLED = 1e-4  # relative decrease of the sum in a pass at which the exchange ends


def entropy(
    X: np.ndarray, kernel: Kernel, n_centers: int, random: np.random.RandomState, targets: np.ndarray | None = None
) -> np.ndarray:
    """Maximize the entropy of the centers' Parzen density by exchanging centers for other samples; for `CHOOSERS`.

    The entropy is minus the logarithm of the sum of the kernel matrix among the centers (Suykens et al. 2002, 6.16,
    6.17 and section 6.2.2). Samples are tried in random order. Each replaces the center whose exchange lowers the sum
    most, in O(m) time in addition to its row of kernel values. The exchange ends when a pass over the samples lowers
    the sum by less than 0.01 %, or after ten passes. The source draws the center to be exchanged at random.
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
    """Centers `rows` (m,) among the samples X, and the change of `total`, the sum of their kernels, by an exchange."""

    def __init__(self, X: np.ndarray, kernel: Kernel, rows: np.ndarray) -> None:
        self._X, self._kernel, self._diagonal = X, kernel, kernel.diagonal(X)
        self.rows = rows.copy()
        self._K = self._values(rows, rows)
        self._sums = self._K.sum(axis=1)
        self.total = float(self._sums.sum())

    def _values(self, rows: np.ndarray, centers: np.ndarray) -> np.ndarray:
        return kernel_matrix(self._kernel.at(centers), self._X[rows], self._X[centers])

    def offer(self, samples: np.ndarray) -> np.ndarray:
        """Exchange each sample for the center that lowers the sum most, if any; return the samples not used."""
        left = samples.copy()
        values = self._values(samples, self.rows)
        for i, sample in enumerate(samples):
            own = self._diagonal[sample]
            k = values[i]
            # 2 c + k_jj - 2 (r_i - k_ii) - k_ii with c the sum of k over all centers except i
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
