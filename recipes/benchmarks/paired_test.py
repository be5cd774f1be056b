"""Significance of the difference of two methods over the same partitions."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import t

LEVEL = 0.05


class PairedTest(NamedTuple):
    """Mean difference (first minus second), and the two-sided p value."""

    difference: float
    p: float

    @property
    def verdict(self) -> str:
        """Result for the first method: "better", "worse" (significantly, lower is better) or "no different"."""
        if self.p >= LEVEL:
            return "no different"
        return "better" if self.difference < 0 else "worse"


def paired_t_test(first: Sequence[float], second: Sequence[float], test_to_train: float = 0.0) -> PairedTest:
    """Test paired values by Student's t test, optionally corrected for overlapping training sets.

    Errors over random partitions are dependent, so the plain test finds differences too easily. The corrected test
    multiplies the variance of the differences by (1/J + n_test/n_train), J the number of partitions (Nadeau and Bengio
    2003).

    Parameters
    ----------
    first, second : sequence of float
        Values of the two methods on the same partitions.
    test_to_train : float
        n_test / n_train; 0 is the plain test.
    """
    difference = np.subtract(first, second)
    if np.ptp(difference) <= 1e-12 * np.abs(difference).max():
        return PairedTest(float(difference[0]), 1.0 if difference[0] == 0 else 0.0)
    n = difference.shape[0]
    mean, variance = float(difference.mean()), float(difference.var(ddof=1))
    return PairedTest(mean, float(2 * t.sf(abs(mean) / np.sqrt((1 / n + test_to_train) * variance), n - 1)))
