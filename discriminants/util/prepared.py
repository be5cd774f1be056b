"""Cache of prediction data computed from an estimator's attributes."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

Value = TypeVar("Value")


class Prepared(Generic[Value]):
    """Values by estimator, stored outside of it, so that prediction does not change estimators, files and copies."""

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[Any, tuple[np.dtype, tuple[Any, ...], Value]] = WeakKeyDictionary()

    def get(self, estimator: Any, dtype: np.dtype, made_of: Sequence[Any], make: Callable[[], Value]) -> Value:
        """Return the value for this float type; `make` computes it again if one of the parts is another object now."""
        found = self._kept.get(estimator)
        if found is not None:
            of_dtype, parts, value = found
            if of_dtype == dtype and list(map(id, parts)) == list(map(id, made_of)):
                return value
        value = make()
        self._kept[estimator] = dtype, tuple(made_of), value
        return value
