"""One-vs-rest targets of many samples, without a stored matrix."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminants.multiclass.one_vs_rest import one_vs_rest_targets


@dataclass(frozen=True)
class OneVsRestTargets:
    """+1 for a sample's class, -1 for the rest; two classes have one target. Converted to arrays on demand."""

    codes: np.ndarray  # int (n_samples,): class numbers
    n_classes: int

    def __getitem__(self, rows: slice) -> "OneVsRestTargets":
        return OneVsRestTargets(self.codes[rows], self.n_classes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        targets = one_vs_rest_targets(self.codes, self.n_classes)
        return targets if dtype is None else targets.astype(dtype)

    def weighted_sum(self, weight: np.ndarray) -> np.ndarray:
        """Return weight @ targets, of shape (n_targets,)."""
        own = np.bincount(self.codes, weight, self.n_classes)
        sums = 2.0 * own - weight.sum()
        return sums[1:] if self.n_classes == 2 else sums
