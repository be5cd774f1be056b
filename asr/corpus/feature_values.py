"""Valid feature values, for all formats."""

import numpy as np

from asr.util.errors import CorpusError

MAX_FEATURE = 1e8


def check_feature_values(matrix: np.ndarray, place: str) -> None:
    """Raise CorpusError, with `place`, if values of a non-empty matrix are not finite or exceed 1e8."""
    largest = max(abs(float(matrix.min())), abs(float(matrix.max())))
    if not largest < np.inf:
        raise CorpusError(f"{place}: the matrix has values that are not finite numbers.", code="not-finite")
    if largest > MAX_FEATURE:
        raise CorpusError(
            f"{place}: the matrix has values up to {largest:g}. Expected features of at most {MAX_FEATURE:g}.",
            code="out-of-range",
        )
