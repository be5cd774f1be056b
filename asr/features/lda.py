"""Linear discriminant analysis of labeled frames.

Haeb-Umbach and Ney (1992), "Linear discriminant analysis for improved large vocabulary continuous speech recognition".
"""

import numpy as np
import scipy.linalg

from asr.util.errors import FeatureError
from discriminants.linear_systems.pooled_scatter import PooledScatter

_RIDGE = 1e-3
"""Fraction of its own variance that is added to each frame component. Without it, directions with the least variance
are scaled up a thousandfold together with rounding errors. With little speech it also reduces overfitting."""
_SINGULAR = 1e-10  # directions with a smaller fraction of the largest within-class variance are left out


class LdaStatistics(PooledScatter):
    """Counts, class sums and total scatter of frames in float64; frames with label -1 are left out."""

    def __init__(self, dimension: int, n_classes: int):
        super().__init__(n_classes, np.zeros(dimension))

    @property
    def greatest_dimension(self) -> int:
        """Largest dimension that the classes allow."""
        return max(1, int(self.present.sum()) - 1)

    def solve(self, dimension: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the matrix, float32 (n, dimension), and offset, float32 (dimension,), of frames @ matrix - offset.

        The projection has identity within-class covariance (with the ridge) and zero mean. Columns are sorted by
        descending between-class variance, and the largest entry of each is positive. Raises FeatureError if there are
        at most `dimension` classes or too few directions with variance.
        """
        total = self.counts.sum()
        means = self.means
        n_classes = len(means)
        if n_classes <= dimension:
            raise FeatureError(
                f"lda_dimension = {dimension} needs at least {dimension + 1} classes, but the labels have {n_classes}."
            )
        overall = self.mean
        within = self.within() / total
        within[np.diag_indices_from(within)] *= 1 + _RIDGE
        variances, directions = scipy.linalg.eigh(within)
        kept = variances > _SINGULAR * variances[-1]
        if kept.sum() < dimension:
            raise FeatureError(
                f"lda_dimension = {dimension} is above {kept.sum()}, the number of directions with variance."
            )
        whitening = directions[:, kept] / np.sqrt(variances[kept])
        spread = ((means - overall) * np.sqrt(self.counts[self.present] / total)[:, None]) @ whitening
        _, leading = scipy.linalg.eigh(spread.T @ spread)
        matrix = whitening @ leading[:, ::-1][:, :dimension]
        largest = matrix[np.abs(matrix).argmax(axis=0), np.arange(dimension)]
        matrix *= np.where(largest < 0, -1.0, 1.0)
        return matrix.astype(np.float32), (overall @ matrix).astype(np.float32)
