"""Detection of utterances with extreme features, which would distort the statistics of a corpus."""

from collections.abc import Sequence

import numpy as np

from asr.util.errors import Issue

FARTHEST = 100.0
"""Factor on the usual distance; digital silence, the most extreme valid input, has about 10."""
_MIN_DISTANCE = 10.0
_FEWEST = 5


def find_outlier_utterances(matrices: Sequence[np.ndarray]) -> dict[int, Issue]:
    """Return faults with code "out-of-range", by number, of matrices (T_i, D), T_i at least 1, with extreme values.

    The center of a column is the median over utterances of their medians. Its usual distance is the median over
    utterances of their largest distance from it. A value at more than 100 times this distance is a fault, because it
    would move the mean, variance and Gaussians of a whole corpus. With fewer than five utterances none is a fault.
    """
    if len(matrices) < _FEWEST:
        return {}
    centres = np.median([np.median(matrix, axis=0) for matrix in matrices], axis=0)
    distances = np.array([np.abs(matrix - centres).max(axis=0) for matrix in matrices])
    limits = FARTHEST * np.maximum(np.median(distances, axis=0), _MIN_DISTANCE)
    suspects = np.flatnonzero((distances > limits).any(axis=1))
    return {number: _fault(matrices[number], centres, limits) for number in suspects.tolist()}


def _fault(matrix: np.ndarray, centres: np.ndarray, limits: np.ndarray) -> Issue:
    row, column = np.unravel_index(np.argmax(np.abs(matrix - centres) / limits), matrix.shape)
    return Issue(
        "out-of-range",
        f"feature {column} of frame {row} is {matrix[row, column]:g}, far from other utterances, which are "
        f"within {limits[column]:g}",
    )
