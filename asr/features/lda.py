"""Linear discriminant analysis of labelled frames.

Haeb-Umbach and Ney (1992), "Linear discriminant analysis for improved large vocabulary continuous speech
recognition".
"""

import numpy as np
import scipy.linalg

from asr.util.errors import FeatureError
from discriminants.linear_systems.pooled_scatter import PooledScatter

_RIDGE = 1e-3
"""Part of its own variance that every frame component is thought to have besides. Without it the directions in which
the frames vary least are scaled up a thousandfold, and with them the rounding of the frames; with little speech it
also keeps the directions from fitting the training speech alone."""
_SINGULAR = 1e-10  # within-class directions with less than this part of the largest variance are left out


class LdaStatistics(PooledScatter):
    """Counts, class sums and total scatter of frames, accumulated in float64; frames labelled -1 are left out."""

    def __init__(self, dimension: int, n_classes: int):
        super().__init__(n_classes, np.zeros(dimension))

    @property
    def greatest_dimension(self) -> int:
        """Most columns that the classes seen allow."""
        return max(1, int(self.present.sum()) - 1)

    def solve(self, dimension: int) -> tuple[np.ndarray, np.ndarray]:
        """Matrix, float32 (n, dimension), and offset, float32 (dimension,), of frames @ matrix - offset.

        The within-class covariance of the projection (with the ridge) is the identity and its overall mean zero;
        columns fall in between-class variance, and the largest entry of each is positive. Raises FeatureError when
        there are not more than `dimension` classes or too few directions with variance.
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
                f"lda_dimension = {dimension} is more than the {kept.sum()} directions in which the frames vary."
            )
        whitening = directions[:, kept] / np.sqrt(variances[kept])
        spread = ((means - overall) * np.sqrt(self.counts[self.present] / total)[:, None]) @ whitening
        _, leading = scipy.linalg.eigh(spread.T @ spread)
        matrix = whitening @ leading[:, ::-1][:, :dimension]
        largest = matrix[np.abs(matrix).argmax(axis=0), np.arange(dimension)]
        matrix *= np.where(largest < 0, -1.0, 1.0)
        return matrix.astype(np.float32), (overall @ matrix).astype(np.float32)
