"""Utterances whose features lie so far from all others that they would spoil what is learnt from them."""

from collections.abc import Sequence

import numpy as np

from asr.util.errors import Fault

FARTHEST = 100.0
"""Times the usual distance; digital silence, the farthest that honest features go, is at about ten."""
_MIN_DISTANCE = 10.0
_FEWEST = 5


def find_outlier_utterances(matrices: Sequence[np.ndarray]) -> dict[int, Fault]:
    """Which matrices (T_i, D) hold values that no feature has: their number, and why.

    A column's centre is the median over utterances of their medians, and its usual distance the median over
    utterances of their largest distance from it. An utterance with a value more than a hundred times as far is at
    fault: one such utterance would move the mean, variance and Gaussians of a whole corpus. With fewer than five
    utterances there is nothing to compare with, and none is at fault.

    Parameters
    ----------
    matrices : sequence of float32 (T_i, D), T_i at least 1

    Returns
    -------
    dict of int to Fault
        With the code "out-of-range".
    """
    if len(matrices) < _FEWEST:
        return {}
    centres = np.median([np.median(matrix, axis=0) for matrix in matrices], axis=0)
    distances = np.array([np.abs(matrix - centres).max(axis=0) for matrix in matrices])
    limits = FARTHEST * np.maximum(np.median(distances, axis=0), _MIN_DISTANCE)
    suspects = np.flatnonzero((distances > limits).any(axis=1))
    return {number: _fault(matrices[number], centres, limits) for number in suspects.tolist()}


def _fault(matrix: np.ndarray, centres: np.ndarray, limits: np.ndarray) -> Fault:
    row, column = np.unravel_index(np.argmax(np.abs(matrix - centres) / limits), matrix.shape)
    return Fault(
        "out-of-range",
        f"frame {row} has {matrix[row, column]:g} as feature {column}; those of other utterances lie within "
        f"{limits[column]:g}",
    )
