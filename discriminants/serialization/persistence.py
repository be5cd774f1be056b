"""Conversion of fitted scikit-learn estimators to named arrays and JSON and back, without pickle.

An estimator is described by its class name, constructor parameters and fitted attributes. JSON values represent
themselves. All other values are lists whose first entry is the type:

    ["list", [...]]   ["tuple", [...]]   ["set", [...]]   ["dict", [[key, value], ...]]   ["slice", [start,
    stop, step]] ["float", "nan"]   ["scalar", dtype, value]   ["dtype", "<f8"]   ["numpy type", "float64"]
    ["array", name]   ["text array", name, dtype]   ["object array", shape, [...]]
    ["sparse rows", n_columns, data, indices, indptr]
    ["estimator", "module:Class", [[parameter, value], ...], [[attribute, value], ...]]
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from discriminants.serialization.classes import make_estimator, refuse_search, require_known
from discriminants.serialization.model_file import load_arrays, save_arrays
from discriminants.serialization.values import Decoder
from discriminants.util.errors import ModelFormatError

__all__ = ["estimator_from_arrays", "estimator_to_arrays", "load_arrays", "require_storable", "save_arrays"]

_SPARSE_PARTS = ("data", "indices", "indptr")
_FORMAT = "scikit-learn estimator, 2"
_OF_TRAINING = ("sklearn.neural_network._stochastic_optimizers", "sklearn._loss.", "sklearn.linear_model._sgd_fast")
Arrays = dict[str, np.ndarray]


def estimator_to_arrays(estimator: BaseEstimator) -> tuple[Arrays, dict[str, Any]]:
    """Convert a fitted estimator to arrays and JSON metadata.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Its parameters and attributes may hold numbers, strings, None, NumPy arrays (also of strings), lists, tuples,
        sets, dicts and further estimators. Private attributes that are random generators, optimizers or loss functions
        (training state) are left out. An estimator with other values needs two methods: `learnt_state()` returns a dict
        of the learned state in such values, with identifiers as keys, and `restore_state(state)` restores it in an
        estimator with the same parameters.

    Returns
    -------
    (dict of str to ndarray, dict)
        Arrays and JSON metadata for `save_arrays`.

    Raises
    ------
    ModelFormatError
        If a parameter or attribute has a type that cannot be represented.
    NotFittedError
        If the estimator is not fitted.

    Examples
    --------
    >>> from discriminants import LinearDiscriminant, estimator_to_arrays
    >>> model = LinearDiscriminant().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> arrays, metadata = estimator_to_arrays(model)
    >>> metadata["format"]
    'scikit-learn estimator...'
    """
    check_is_fitted(estimator)
    arrays: Arrays = {}
    return arrays, {"format": _FORMAT, "estimator": _encode(estimator, type(estimator).__name__, arrays)}


def estimator_from_arrays(
    arrays: Mapping[str, np.ndarray], metadata: Mapping[str, Any], *, trusted: Iterable[str | type] = ()
) -> Any:
    """Restore a fitted estimator.

    The description may be untrusted. Only classes with checked attributes are made, and the checks precede their code
    (`discriminants.serialization` lists them). Values take no more memory than the arrays and the description. `n_jobs`
    is always None.

    Parameters
    ----------
    arrays, metadata
        Result of `estimator_to_arrays`.
    trusted : iterable of str or class
        Modules whose classes, submodules included, are also allowed, with any attributes; "sklearn" allows all of
        scikit-learn. A class allows only itself, and nothing is imported for it.

    Returns
    -------
    estimator
        The fitted estimator.

    Raises
    ------
    ModelFormatError
        If the metadata are malformed, name a missing array, name a class that is not allowed, or describe an estimator
        whose parts do not fit together.

    Examples
    --------
    >>> from discriminants import LinearDiscriminant, estimator_from_arrays, estimator_to_arrays
    >>> model = LinearDiscriminant().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> estimator_from_arrays(*estimator_to_arrays(model)).predict([[0.5]])
    array([0])
    """
    if metadata.get("format") != _FORMAT:
        raise ModelFormatError(f"unknown format {metadata.get('format')!r}. Expected {_FORMAT!r}")
    modules = tuple(trusted)
    decoder = Decoder(arrays, lambda name, parameters, learnt: make_estimator(name, parameters, learnt, modules))
    try:
        estimator = decoder.value(metadata["estimator"])
    except ModelFormatError:
        raise
    # Errors that checks raise if an attribute is missing or has another type.
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise ModelFormatError(
            f"the description of the estimator is malformed: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(estimator, BaseEstimator):
        raise ModelFormatError(f"the description gives a {type(estimator).__name__}. Expected an estimator")
    return estimator


def require_storable(estimator: BaseEstimator, *, trusted: Iterable[str | type] = ()) -> None:
    """Check before a long fit that the fitted estimator can be saved and loaded.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Fitted or not.
    trusted : iterable of str or class
        As in `estimator_from_arrays`.

    Raises
    ------
    ModelFormatError
        If it cannot; names the class or the parameter.

    Examples
    --------
    >>> from discriminants import NPDClassifier, require_storable
    >>> require_storable(NPDClassifier())
    """
    require_known(estimator, tuple(trusted))
    _encode(estimator, type(estimator).__name__, {})


def _encode(value: Any, where: str, arrays: Arrays) -> Any:
    """Encode a value as JSON; its arrays go to `arrays` under names that begin with `where`."""
    if value is None or isinstance(value, bool | str) or (type(value) is int and -(1 << 63) <= value < 1 << 64):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else ["float", str(value)]
    if isinstance(value, BaseEstimator):
        return _encode_estimator(value, where, arrays)
    if isinstance(value, np.ndarray):
        return _encode_array(value, where, arrays)
    if isinstance(value, csr_array):
        parts = [_encode_array(getattr(value, part), f"{where}.{part}", arrays) for part in _SPARSE_PARTS]
        return ["sparse rows", value.shape[1], *parts]
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
    raise ModelFormatError(f"{where} has type {kind}, which cannot be saved in a model file")


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
    raise ModelFormatError(f"{where} is an array of type {value.dtype}, which cannot be saved in a model file")


def _encode_estimator(estimator: BaseEstimator, where: str, arrays: Arrays) -> Any:
    kind = type(estimator)
    refuse_search(estimator, where)
    parameters = estimator.get_params(deep=False)
    encoded_parameters = [[name, _encode(v, f"{where}.{name}", arrays)] for name, v in sorted(parameters.items())]
    attributes = [
        [name, _encode(value, f"{where}.{name}", arrays)] for name, value in sorted(_learnt(estimator, parameters))
    ]
    return ["estimator", f"{kind.__module__}:{kind.__qualname__}", encoded_parameters, attributes]


def _learnt(estimator: BaseEstimator, parameters: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the attributes of an estimator without its parameters, or the `learnt_state` of a fitted one."""
    found = [
        (name, value)
        for name, value in vars(estimator).items()
        if not (name in parameters or (name.startswith("_") and _is_training_state(value)))
    ]
    return list(estimator.learnt_state().items()) if found and hasattr(estimator, "learnt_state") else found


def _is_training_state(value: Any) -> bool:
    """Return whether a value is a random generator, or an optimizer or loss function of scikit-learn."""
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return True
    return type(value).__module__.startswith(_OF_TRAINING)
