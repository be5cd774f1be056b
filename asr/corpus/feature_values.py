"""Which numbers can be features of speech: the one rule for every format that features are read from."""

import numpy as np

from asr.util.errors import CorpusError

MAX_FEATURE = 1e8


def check_feature_values(matrix: np.ndarray, place: str) -> None:
    """Refuse a matrix (n_rows, n_columns), not empty, of values that are not finite, or larger than 1e8.

    Raises CorpusError, which names `place`.
    """
    largest = max(abs(float(matrix.min())), abs(float(matrix.max())))
    if not largest < np.inf:
        raise CorpusError(f"{place}: the matrix holds values that are not finite numbers.", code="not-finite")
    if largest > MAX_FEATURE:
        raise CorpusError(
            f"{place}: the matrix holds values up to {largest:g}, which are no features of speech; "
            f"{MAX_FEATURE:g} is the most.",
            code="out-of-range",
        )
