"""Decoding of estimators' values from JSON (`discriminants.serialization.persistence` lists the forms).

Values take no more memory than the description and the existing arrays, for any description.
"""

import math
from collections.abc import Callable, Mapping
from reprlib import repr as _shown  # a description may have millions of characters
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from discriminants.util.errors import ModelFormatError

_DEEPEST = 100
_ESTIMATOR_DEPTH = 12  # looking up a method takes three times as long for each nested pipeline
_MAX_ESTIMATORS = 50_000  # one for each pair of 150 classes, with kernels; takes 10 s
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_NUMERIC = (
    np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
    np.float16, np.float32, np.float64,
)  # fmt: skip
_DTYPES = {dtype.str for kind in _NUMERIC for dtype in (np.dtype(kind), np.dtype(kind).newbyteorder())}
_TYPES: dict[str, type] = {kind.__name__: kind for kind in (*_NUMERIC, np.str_, np.object_)}


class Decoder:
    """Decoder of descriptions that refer to `arrays`; makes estimators from (class name, parameters, learned
    attributes).
    """

    def __init__(
        self,
        arrays: Mapping[str, np.ndarray],
        make_estimator: Callable[[str, dict[str, Any], dict[str, Any]], Any],
    ) -> None:
        self._arrays = arrays
        self._make_estimator = make_estimator
        self._n_estimators = 0

    def value(self, described: Any, depth: int = 0) -> Any:
        """Decode a description.

        Raises ModelFormatError if its form is unknown, it is nested too deeply, or it names a missing or unsuitable
        array.
        """
        if depth > _DEEPEST:
            raise ModelFormatError(
                f"the description of the estimator is nested too deeply. Expected at most {_DEEPEST} levels"
            )
        match described:
            case None | bool() | str():
                return described
            case int() if -(1 << 63) <= described < 1 << 64:
                return described
            case float() if math.isfinite(described):
                return described
            case ["list", list(items)]:
                return [self.value(item, depth + 1) for item in items]
            case ["tuple", list(items)]:
                return tuple(self.value(item, depth + 1) for item in items)
            case ["set", list(items)]:
                return {self._key(item, depth) for item in items}
            case ["dict", list(items)]:
                return {self._key(key, depth): self.value(item, depth + 1) for key, item in _pairs(items)}
            case ["slice", [start, stop, step]]:
                return slice(*(self.value(v, depth + 1) for v in (start, stop, step)))
            case ["float", str(name)] if name in _NOT_FINITE:
                return _NOT_FINITE[name]
            case ["scalar", str(name), number]:
                return _scalar(name, self.value(number, depth + 1))
            case ["dtype", str(name)] if name in _DTYPES:
                return np.dtype(name)
            case ["numpy type", str(name)] if name in _TYPES:
                return _TYPES[name]
            case ["array", str(name)]:
                return self._array(name)
            case ["text array", str(name), str(dtype)]:
                return _text(name, self._array(name), dtype)
            case ["sparse rows", int(n_columns), *parts] if len(parts) == 3 and 0 <= n_columns < 1 << 63:
                return _sparse_rows(n_columns, *(self.value(part, depth + 1) for part in parts))
            case ["object array", list(shape), list(items)]:
                return self._objects(shape, items, depth)
            case ["estimator", str(name), list(parameters), list(attributes)]:
                self._n_estimators += 1
                if self._n_estimators > _MAX_ESTIMATORS:
                    raise ModelFormatError(
                        f"the description has too many estimators. Expected at most {_MAX_ESTIMATORS}"
                    )
                return self._make_estimator(
                    name,
                    {key: self.value(item, depth + _ESTIMATOR_DEPTH) for key, item in _named(parameters).items()},
                    {key: self.value(item, depth + _ESTIMATOR_DEPTH) for key, item in _named(attributes).items()},
                )
            case [str(kind), *_]:
                raise ModelFormatError(f"the description of the estimator has an unknown or malformed {_shown(kind)}")
        raise ModelFormatError(f"the description of the estimator has an unknown value {_shown(described)}")

    def _key(self, described: Any, depth: int) -> Any:
        """Decode a value that can be in a set or a key of a dict."""
        value = self.value(described, depth + 1)
        try:
            hash(value)
        except TypeError:
            raise ModelFormatError(
                f"a {type(value).__name__} cannot be an element of a set or a key of a dict"
            ) from None
        return value

    def _array(self, name: str) -> np.ndarray:
        if name not in self._arrays:
            raise ModelFormatError(f"the array {name!r} of the estimator is missing")
        return self._arrays[name]

    def _objects(self, shape: list[Any], items: list[Any], depth: int) -> np.ndarray:
        if len(shape) > 32 or not all(type(n) is int and n >= 0 for n in shape) or math.prod(shape) != len(items):
            raise ModelFormatError(f"{len(items)} objects do not match an array of shape {_shown(shape)}")
        values = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            values[i] = self.value(item, depth + 1)
        return values.reshape(shape)


def _pairs(items: list[Any]) -> list[tuple[Any, Any]]:
    pairs = []
    for item in items:
        match item:
            case [first, second]:
                pairs.append((first, second))
            case _:
                raise ModelFormatError(f"the description of the estimator has {_shown(item)}. Expected a pair")
    return pairs


def _named(items: list[Any]) -> dict[str, Any]:
    named = dict[str, Any]()
    for name, item in _pairs(items):
        if not isinstance(name, str) or name in named:
            raise ModelFormatError(f"{_shown(name)} is not a valid or new name of a parameter or attribute")
        named[name] = item
    return named


def _scalar(name: str, number: Any) -> Any:
    if name not in _DTYPES or not isinstance(number, bool | int | float):
        raise ModelFormatError(f"{number!r} is not a valid scalar of type {name!r}")
    try:
        return np.dtype(name).type(number)
    except (OverflowError, ValueError) as error:
        raise ModelFormatError(f"{number!r} is not a valid scalar of type {name!r}") from error


def _sparse_rows(n_columns: int, data: Any, indices: Any, indptr: Any) -> csr_array:
    """Return the sparse array of these parts; ModelFormatError if they do not fit together."""
    parts = data, indices, indptr
    if not all(isinstance(part, np.ndarray) and part.ndim == 1 for part in parts) or not indptr.size:
        raise ModelFormatError("the parts of a sparse array must be three arrays of one dimension")
    if data.dtype.kind != "f" or any(part.dtype not in (np.int32, np.int64) for part in parts[1:]):
        raise ModelFormatError(f"a sparse array has the types {[str(part.dtype) for part in parts]}. Expected numbers")
    if indptr.min() < 0 or indptr[-1] != data.shape[0]:  # not all of this is checked by scipy
        raise ModelFormatError(f"a sparse array ends at {indptr[-1]}. Expected {data.shape[0]}, the number of values")
    try:
        rows = csr_array(parts, shape=(indptr.shape[0] - 1, n_columns))
        rows.check_format(full_check=True)
    except ValueError as error:
        raise ModelFormatError(f"a sparse array is malformed: {error}") from error
    return rows


def _text(name: str, codes: np.ndarray, dtype: str) -> np.ndarray:
    """Return the strings whose characters are along the last axis."""
    if codes.dtype != np.uint32 or codes.ndim == 0 or not codes.shape[-1] or dtype != f"U{codes.shape[-1]}":
        raise ModelFormatError(
            f"array {name!r} has dtype {codes.dtype} and shape {codes.shape}. Expected text of {dtype!r}"
        )
    if ((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))).any():
        raise ModelFormatError(f"array {name!r} has numbers that are not characters")
    texts: np.ndarray = np.ascontiguousarray(codes).reshape(-1).view(np.dtype(dtype)).reshape(codes.shape[:-1])
    return texts
