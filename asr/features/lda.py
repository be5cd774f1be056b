"""Linear discriminant analysis of labelled frames.

Haeb-Umbach and Ney (1992), "Linear discriminant analysis for improved large vocabulary continuous speech
recognition".
"""

import numpy as np
import scipy.linalg
import scipy.sparse

from asr.errors import FeatureError

_RIDGE = 1e-3
"""Part of its own variance that every frame component is thought to have besides. Without it the directions in which
the frames vary least are scaled up a thousandfold, and with them the rounding of the frames; with little speech it
also keeps the directions from fitting the training speech alone."""
_SINGULAR = 1e-10  # within-class directions with less than this part of the largest variance are left out


class LdaStatistics:
    """Counts, class sums and total scatter of frames, accumulated in float64."""

    def __init__(self, dimension: int, n_classes: int):
        self.counts = np.zeros(n_classes)
        self.sums = np.zeros((n_classes, dimension))
        self.scatter = np.zeros((dimension, dimension))

    def add(self, frames: np.ndarray, labels: np.ndarray) -> None:
        """Take in frames (T, dimension) with labels (T,); frames labelled -1 are left out."""
        used = labels >= 0
        x = frames[used].astype(np.float64)
        ones = np.ones(len(x))
        indicator = scipy.sparse.csr_array((ones, (labels[used], np.arange(len(x)))), shape=(len(self.counts), len(x)))
        self.counts += np.bincount(labels[used], minlength=len(self.counts))
        self.sums += indicator @ x
        self.scatter += x.T @ x

    def merge(self, other: "LdaStatistics") -> None:
        """Take in what another has accumulated."""
        self.counts += other.counts
        self.sums += other.sums
        self.scatter += other.scatter

    @property
    def greatest_dimension(self) -> int:
        """Most columns that the classes seen allow."""
        return max(1, int((self.counts > 0).sum()) - 1)

    def solve(self, dimension: int) -> tuple[np.ndarray, np.ndarray]:
        """Matrix, float32 (n, dimension), and offset, float32 (dimension,), of frames @ matrix - offset.

        The within-class covariance of the projection (with the ridge) is the identity and its overall mean zero;
        columns fall in between-class variance, and the largest entry of each is positive. Raises FeatureError when
        there are not more than `dimension` classes or too few directions with variance.
        """
        present = self.counts > 0
        total = self.counts.sum()
        means = self.sums[present] / self.counts[present, None]
        n_classes = len(means)
        if n_classes <= dimension:
            raise FeatureError(
                f"lda_dimension = {dimension} needs at least {dimension + 1} classes, but the labels have {n_classes}."
            )
        overall = self.sums.sum(axis=0) / total
        within = (self.scatter - (means * self.counts[present, None]).T @ means) / total
        within[np.diag_indices_from(within)] *= 1 + _RIDGE
        variances, directions = scipy.linalg.eigh(within)
        kept = variances > _SINGULAR * variances[-1]
        if kept.sum() < dimension:
            raise FeatureError(
                f"lda_dimension = {dimension} is more than the {kept.sum()} directions in which the frames vary."
            )
        whitening = directions[:, kept] / np.sqrt(variances[kept])
        spread = ((means - overall) * np.sqrt(self.counts[present] / total)[:, None]) @ whitening
        _, leading = scipy.linalg.eigh(spread.T @ spread)
        matrix = whitening @ leading[:, ::-1][:, :dimension]
        largest = matrix[np.abs(matrix).argmax(axis=0), np.arange(dimension)]
        matrix *= np.where(largest < 0, -1.0, 1.0)
        return matrix.astype(np.float32), (overall @ matrix).astype(np.float32)
