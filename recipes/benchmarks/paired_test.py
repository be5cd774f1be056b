"""Whether two methods differ over the same partitions."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import ttest_rel

LEVEL = 0.05


class PairedTest(NamedTuple):
    """Mean difference of the first from the second, and the two-sided p value."""

    difference: float
    p: float

    @property
    def verdict(self) -> str:
        """The first is "better", "worse" (significantly, lower being better) or "no different"."""
        if self.p >= LEVEL:
            return "no different"
        return "better" if self.difference < 0 else "worse"


def paired_t_test(first: Sequence[float], second: Sequence[float]) -> PairedTest:
    """Student's t test of paired values, plain.

    Training sets of random partitions overlap, so their errors depend on each other and the plain test finds
    differences too easily (Nadeau and Bengio 2003): "no different" is the harder verdict to get.
    """
    difference = np.subtract(first, second)
    if np.ptp(difference) <= 1e-12 * np.abs(difference).max():
        return PairedTest(float(difference[0]), 1.0 if difference[0] == 0 else 0.0)
    return PairedTest(float(difference.mean()), float(ttest_rel(first, second).pvalue))
