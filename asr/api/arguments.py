"""Arguments of public functions: type checks from their annotations, shared documentation, and transcripts."""

import os
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from functools import cache, wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from asr.api.sound import Audio
from asr.recognition.grammars import GrammarChoice
from asr.scoring.files import read_transcripts
from asr.scoring.references import References, read_hypotheses, read_references
from asr.util.errors import ArgumentError, printable
from asr.util.unicode_text import nfc
from discriminants.util.docstrings import completed

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")
Class = TypeVar("Class", bound=type)

_OWN_CHECKS = (Audio, Audio | None, GrammarChoice)
"""Types with their own checks, because annotations cannot express all valid forms."""
_MAX_SHOWN_LENGTH = 80
_NAMES = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "text",
    os.PathLike: "a path",
    type(None): "None",
}
SHARED = """
Parameters
----------
model : path or Recognizer
    Model file made by `train` or `tune`, or a loaded recognizer.
data : path
    Kaldi data directory.
lexicon : path
    Pronunciations, in the format of Kaldi, HTK or the CMU dictionary; "graphemes" for letters as phones,
    "phones" for transcripts of phones.
output : path
    Directory for the results.
config : TrainingConfig, path or mapping, optional
    Settings: an object, a TOML file, or tables as in such a file; None for the defaults.
classifier : str or object, optional
    Frame classifier: a name such as "kernel-logistic" or "package.module:Class", or an object like scikit-learn's. None
    for the one in the settings.
grammar : str, int, path, list of sentences, Grammar or None
    As in `Recognizer.with_grammar`.
audio : path, binary file object, array, or (array, rate)
    As in `Recognizer.recognize`.
rate : int, optional
    Sampling rate of an array in Hz.
adapt : bool, "input-network", "fmllr" or "vtln"
    Method of speaker adaptation, as in `Recognizer.recognize_all`.
speaker_transforms : path, optional
    File of speaker transforms. Its speakers keep their transforms; others are added to it.
root : path, optional
    Directory from which relative paths in `wav.scp` and `feats.scp` start.
strip_stress : bool, optional
    Whether to remove stress digits of the lexicon's phones. None removes them if these are the CMU dictionary's.
formats : str or list of str
    Further files for each recording: "textgrid", "elan", "csv", "json" or "audacity".
upsample : bool
    Whether to convert audio with a lower rate than the model's instead of raising an error.
tests : list of paths
    Data directories that models will be tested on.
jobs : int, default=all cores
    Number of cores of this machine; results do not depend on it.
cluster : str, optional
    Address of a dask scheduler, `tcp://HOST:PORT`, whose workers are used instead of this machine.
workers : Workers, default=SerialWorkers()
    Processes or machines that work on utterances, made by `discriminants.parallel.workers.workers_for`.
"""
Transcripts: TypeAlias = str | os.PathLike[str] | Mapping[str, str | Sequence[str]] | Iterable[str | Sequence[str]]
"""Transcripts: the path of a file, words or text by utterance, or a list with one text per utterance."""


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


def complete_docstring(function: Callable[..., Any], docstring: str | None) -> str | None:
    """Return the docstring with descriptions of the shared arguments that it lacks."""
    if not docstring:  # python -OO leaves it out
        return docstring
    documented = [
        each.replace(default=Parameter.empty) if each.name in ("jobs", "workers") else each
        for each in signature(function).parameters.values()
        if each.name not in ("self", "cls") and each.kind is not Parameter.VAR_KEYWORD
    ]
    return completed([docstring, SHARED], documented)


def is_list(transcripts: Transcripts) -> bool:
    """Return whether these are texts without the ids of utterances."""
    return not isinstance(transcripts, str | os.PathLike | Mapping)


def given_transcripts(given: Transcripts) -> dict[str, tuple[str, ...]]:
    """Return words by utterance; a list is numbered from 0."""
    if isinstance(given, str | os.PathLike):
        return read_transcripts(Path(given))
    by_utterance = given if isinstance(given, Mapping) else {str(number): text for number, text in enumerate(given)}
    return {
        nfc(name): tuple(map(nfc, said.split() if isinstance(said, str) else said))
        for name, said in by_utterance.items()
    }


def given_references(given: Transcripts) -> References:
    """Return references, with the speakers and segments of an STM file; texts in Python have no alternatives."""
    if isinstance(given, str | os.PathLike):
        return read_references(Path(given))
    return References(given_transcripts(given))


def given_hypotheses(given: Transcripts, references: References) -> dict[str, tuple[str, ...]]:
    """Return recognized words by utterance, or by segment of the references."""
    if isinstance(given, str | os.PathLike):
        return read_hypotheses(Path(given), references)
    return given_transcripts(given)


def name_of(given: Transcripts, otherwise: str) -> str:
    """Return the name of transcripts in messages."""
    return str(given) if isinstance(given, str | os.PathLike) else otherwise
