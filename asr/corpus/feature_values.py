"""Valid feature values, for all formats."""

import numpy as np

from asr.util.errors import CorpusError

MAX_FEATURE = 1e8


def check_feature_values(matrix: np.ndarray, place: str) -> None:
    """Raise CorpusError, with `place`, if values of a non-empty matrix are not finite or exceed 1e8."""
    largest = max(abs(float(matrix.min())), abs(float(matrix.max())))
    if not largest < np.inf:
        raise CorpusError(f"{place}: the matrix holds values that are not finite numbers.", code="not-finite")
    if largest > MAX_FEATURE:
        raise CorpusError(
            f"{place}: the matrix holds values up to {largest:g}, which are no features of speech; "
            f"{MAX_FEATURE:g} is the most.",
            code="out-of-range",
        )
