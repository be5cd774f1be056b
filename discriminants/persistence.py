"""Fitted scikit-learn estimators as named arrays and JSON, and back, without pickle.

An estimator is its class by name, its constructor parameters and its fitted attributes. What JSON can hold
stands for itself; everything else is a list whose first entry says how to read it:

    ["list", [...]]   ["tuple", [...]]   ["set", [...]]   ["dict", [[key, value], ...]]   ["slice", [start,
    stop, step]] ["float", "nan"]   ["scalar", dtype, value]   ["dtype", "<f8"]   ["numpy type", "float64"]
    ["array", name]   ["text array", name, dtype]   ["object array", shape, [...]] ["estimator",
    "module:Class", [[parameter, value], ...], [[attribute, value], ...]]
"""

import math
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from discriminants.errors import ModelFormatError
from discriminants.model_file import load_arrays, save_arrays

__all__ = ["estimator_from_arrays", "estimator_to_arrays", "load_arrays", "save_arrays"]

_FORMAT = "scikit-learn estimator, 2"
_TRUSTED = ("sklearn", "discriminants")
Arrays = dict[str, np.ndarray]


def estimator_to_arrays(estimator: BaseEstimator) -> tuple[Arrays, dict[str, Any]]:
    """Take a fitted estimator apart.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Its parameters and attributes may hold numbers, strings, None, NumPy arrays (also of strings), lists,
        tuples, sets, dicts and further estimators. Private attributes that are random generators, optimisers
        or loss functions (state of the training alone) are left out.

    Returns
    -------
    (dict of str to ndarray, dict)
        Arrays and JSON metadata, as `save_arrays` takes them.

    Raises
    ------
    ModelFormatError
        If a parameter or attribute is of a kind that cannot be represented.
    """
    arrays: Arrays = {}
    return arrays, {"format": _FORMAT, "estimator": _encode(estimator, type(estimator).__name__, arrays)}


def estimator_from_arrays(arrays: Arrays, metadata: dict[str, Any], *, trusted: Iterable[str] = ()) -> Any:
    """Put a fitted estimator together again.

    Parameters
    ----------
    arrays, metadata
        What `estimator_to_arrays` returned.
    trusted : iterable of str
        Modules, besides sklearn and discriminants, whose classes (and those of their submodules) may be made.

    Raises
    ------
    ModelFormatError
        If the metadata are malformed, name a missing array, or name a class outside the trusted modules.
    """
    if metadata.get("format") != _FORMAT:
        raise ModelFormatError(f"expected the format {_FORMAT!r}, got {metadata.get('format')!r}")
    try:
        estimator = _decode(metadata["estimator"], arrays, (*_TRUSTED, *trusted))
    except ModelFormatError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ModelFormatError(
            f"the description of the estimator is malformed: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(estimator, BaseEstimator):
        raise ModelFormatError(f"the description is of a {type(estimator).__name__}, not of an estimator")
    return estimator


def _encode(value: Any, where: str, arrays: Arrays) -> Any:
    """JSON for a value; its arrays go to `arrays` under names that begin with `where`."""
    if value is None or isinstance(value, bool | str) or type(value) is int:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else ["float", str(value)]
    if isinstance(value, BaseEstimator):
        return _encode_estimator(value, where, arrays)
    if isinstance(value, np.ndarray):
        return _encode_array(value, where, arrays)
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return ["scalar", value.dtype.str, _encode(value.item(), where, arrays)]
    if isinstance(value, np.str_):
        return str(value)
    if isinstance(value, np.dtype):
        return ["dtype", value.str]
    if isinstance(value, type) and issubclass(value, np.generic):
        return ["numpy type", value.__name__]
    if type(value) in (list, tuple):
        return [type(value).__name__, [_encode(v, f"{where}.{i}", arrays) for i, v in enumerate(value)]]
    if type(value) in (set, frozenset):
        return ["set", [_encode(v, f"{where}.{i}", arrays) for i, v in enumerate(sorted(value))]]
    if isinstance(value, dict):
        pairs = enumerate(value.items())
        return [
            "dict",
            [[_encode(k, f"{where}.{i}k", arrays), _encode(v, f"{where}.{i}", arrays)] for i, (k, v) in pairs],
        ]
    if isinstance(value, slice):
        return ["slice", [_encode(v, where, arrays) for v in (value.start, value.stop, value.step)]]
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    raise ModelFormatError(f"{where} is a {kind}, which cannot be written to a model file")


def _encode_array(value: np.ndarray, where: str, arrays: Arrays) -> Any:
    if value.dtype.kind in "biuf":
        arrays[where] = value
        return ["array", where]
    if value.dtype.kind == "U" and value.dtype.itemsize:
        width = value.dtype.itemsize // 4
        native = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("="))
        arrays[where] = native.reshape(-1).view(np.uint32).reshape(*value.shape, width)
        return ["text array", where, f"U{width}"]
    if value.dtype.kind == "O":
        items = [_encode(v, f"{where}.{i}", arrays) for i, v in enumerate(value.reshape(-1))]
        return ["object array", list(value.shape), items]
    raise ModelFormatError(f"{where} is an array of type {value.dtype}, which cannot be written to a model file")


def _encode_estimator(estimator: BaseEstimator, where: str, arrays: Arrays) -> Any:
    kind = type(estimator)
    parameters = estimator.get_params(deep=False)
    encoded_parameters = [[name, _encode(v, f"{where}.{name}", arrays)] for name, v in sorted(parameters.items())]
    attributes = []
    for name, value in sorted(vars(estimator).items()):
        if name in parameters or (name.startswith("_") and _is_training_state(value)):
            continue
        attributes.append([name, _encode(value, f"{where}.{name}", arrays)])
    return ["estimator", f"{kind.__module__}:{kind.__qualname__}", encoded_parameters, attributes]


def _is_training_state(value: Any) -> bool:
    """Random generators, and the optimisers and loss functions of scikit-learn: no part of what was
    learnt.
    """
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return True
    return type(value).__module__.startswith(("sklearn.neural_network._stochastic_optimizers", "sklearn._loss."))


def _decode(value: Any, arrays: Arrays, trusted: tuple[str, ...]) -> Any:
    if not isinstance(value, list):
        return value
    kind, *rest = value
    match kind:
        case "list" | "tuple" | "set":
            return {"list": list, "tuple": tuple, "set": set}[kind](_decode(v, arrays, trusted) for v in rest[0])
        case "dict":
            return {_decode(k, arrays, trusted): _decode(v, arrays, trusted) for k, v in rest[0]}
        case "slice":
            return slice(*(_decode(v, arrays, trusted) for v in rest[0]))
        case "float":
            return float(rest[0])
        case "scalar":
            return np.dtype(rest[0]).type(_decode(rest[1], arrays, trusted))
        case "dtype":
            return np.dtype(rest[0])
        case "numpy type":
            return np.dtype(rest[0]).type
        case "array":
            return _array(arrays, rest[0])
        case "text array":
            codes = np.ascontiguousarray(_array(arrays, rest[0]), dtype=np.uint32)
            return codes.reshape(-1).view(np.dtype(rest[1])).reshape(codes.shape[:-1])
        case "object array":
            result = np.empty(len(rest[1]), dtype=object)
            result[:] = [_decode(v, arrays, trusted) for v in rest[1]]
            return result.reshape(rest[0])
        case "estimator":
            return _decode_estimator(rest, arrays, trusted)
    raise ModelFormatError(f"the description of the estimator holds the unknown kind {kind!r}")


def _array(arrays: Arrays, name: str) -> np.ndarray:
    if name not in arrays:
        raise ModelFormatError(f"the array {name!r} that the estimator needs is missing")
    return arrays[name]


def _decode_estimator(rest: list[Any], arrays: Arrays, trusted: tuple[str, ...]) -> BaseEstimator:
    name, parameters, attributes = rest
    module, _, qualified = name.partition(":")
    if not any(module == prefix or module.startswith(f"{prefix}.") for prefix in trusted):
        raise ModelFormatError(f"the class {name!r} lies outside the trusted modules {', '.join(trusted)}")
    try:
        kind: Any = import_module(module)
        for part in qualified.split("."):
            kind = getattr(kind, part)
    except (ImportError, AttributeError) as error:
        raise ModelFormatError(f"there is no class {name!r} in this installation: {error}") from error
    if not (isinstance(kind, type) and issubclass(kind, BaseEstimator)):
        raise ModelFormatError(f"{name!r} is not an estimator class")
    estimator = kind(**{parameter: _decode(value, arrays, trusted) for parameter, value in parameters})
    for attribute, value in attributes:
        if not attribute.isidentifier() or attribute.startswith("__") or hasattr(kind, attribute):
            raise ModelFormatError(f"{attribute!r} cannot be a learnt attribute of {name!r}")
        setattr(estimator, attribute, _decode(value, arrays, trusted))
    return estimator
