"""Type checks of the arguments of public functions, from their annotations."""

import os
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from functools import cache, wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from asr.api.shared_arguments import complete_docstring
from asr.api.sound import Audio
from asr.recognition.grammars import GrammarChoice
from asr.util.errors import ArgumentError, printable

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")
Class = TypeVar("Class", bound=type)

_OWN_CHECKS = (Audio, Audio | None, GrammarChoice)
"""Types with their own checks, because annotations cannot express all valid forms."""
_MAX_SHOWN_LENGTH = 80


def checked(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Decorate a function so that it raises ArgumentError for arguments that do not match the annotations."""
    known = signature(function)

    @wraps(function)
    def call(*arguments: Parameters.args, **options: Parameters.kwargs) -> Returned:
        hints = _hints(function)
        for name, value in known.bind(*arguments, **options).arguments.items():
            if name in hints and not _fits(value, hints[name]):
                shown = f"{printable(repr(value), _MAX_SHOWN_LENGTH)} ({type(value).__name__})"
                where = function.__qualname__.removesuffix(".__init__")
                wanted = "text without null characters" if _has_null(value) else _described(hints[name])
                raise ArgumentError(f"{where}: {name} is {shown}. Expected {wanted}")
        return function(*arguments, **options)

    call.__doc__ = complete_docstring(function, function.__doc__)
    return call


def checked_methods(owner: Class) -> Class:
    """Decorate a class so that its constructor and public methods are `checked`."""
    for name, member in list(vars(owner).items()):
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(member, types.FunctionType):
            setattr(owner, name, checked(member))
        elif isinstance(member, classmethod):
            setattr(owner, name, classmethod(checked(member.__func__)))
    return owner


def optional_path(path: str | os.PathLike[str] | None) -> Path | None:
    """Return the path as a `Path`, or None."""
    return None if path is None else Path(path)


@cache
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations to check.

    The rate is checked with the audio, and keyword dictionaries in the functions that receive them.
    """
    kinds = {name: parameter.kind for name, parameter in signature(function).parameters.items()}
    return {
        name: hint
        for name, hint in get_type_hints(function).items()
        if name not in ("rate", "return") and kinds[name] is not Parameter.VAR_KEYWORD
    }


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value has an annotated type; items of lists and mappings are checked too."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any or hint in _OWN_CHECKS:
        return True
    if origin in (Union, types.UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if origin is Mapping:
        return isinstance(value, Mapping) and all(_fits(k, parts[0]) and _fits(v, parts[1]) for k, v in value.items())
    if origin in (Sequence, Iterable):
        if isinstance(value, str | bytes | bytearray | Mapping | os.PathLike) or hasattr(value, "read"):
            return False
        if origin is Iterable and not isinstance(value, list | tuple | np.ndarray):  # may be consumed or slow to read
            return isinstance(value, Iterable)
        if not isinstance(value, Collection) or isinstance(value, Set):
            return False
        return parts[0] in _OWN_CHECKS or all(_fits(item, parts[0]) for item in value)
    return _is_of(value, hint if origin is None else origin)


def _has_null(value: Any) -> bool:
    return isinstance(value, str | os.PathLike) and "\0" in str(value)


def _is_float(value: Any) -> bool:
    try:
        float(value)
    except OverflowError:  # integers with more than 308 digits
        return False
    return True


def _is_of(value: Any, kind: Any) -> bool:
    if kind is bool:
        return isinstance(value, bool | np.bool_)
    if kind is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    if kind is float:
        return not isinstance(value, bool) and isinstance(value, Real) and _is_float(value)
    if kind is str or kind is os.PathLike:
        return isinstance(value, kind) and not _has_null(value)
    if kind is None:
        return value is None
    if getattr(kind, "_is_protocol", False):
        return all(hasattr(value, name) for name in vars(kind) if not name.startswith("_"))
    return isinstance(value, kind)


_NAMES = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "text",
    os.PathLike: "a path",
    type(None): "None",
}


def _described(hint: Any) -> str:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(_described, parts)))
    if origin is Literal:
        return " or ".join(map(repr, parts))
    if origin is Mapping:
        return "a mapping (dict)"
    if origin in (Sequence, Iterable):
        return f"a list of ({_described(parts[0])})" if get_args(parts[0]) else f"a list of {_described(parts[0])}"
    kind = hint if origin is None else origin
    return _NAMES.get(kind, getattr(kind, "__name__", str(kind)))
