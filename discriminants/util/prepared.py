"""What an estimator predicts with, made of its attributes once and kept from one call to the next."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

Value = TypeVar("Value")


class Prepared(Generic[Value]):
    """Values by estimator, kept outside of it: predicting leaves nothing in it, and files and copies have none."""

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[Any, tuple[np.dtype, tuple[Any, ...], Value]] = WeakKeyDictionary()

    def get(self, estimator: Any, dtype: np.dtype, made_of: Sequence[Any], make: Callable[[], Value]) -> Value:
        """The value for samples of this float type; `make` gives it where one of the parts is another object now."""
        found = self._kept.get(estimator)
        if found is not None:
            of_dtype, parts, value = found
            if of_dtype == dtype and list(map(id, parts)) == list(map(id, made_of)):
                return value
        value = make()
        self._kept[estimator] = dtype, tuple(made_of), value
        return value
