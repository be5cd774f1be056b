"""The public names of `asr` and `discriminants`: what the API reference describes, and what stays compatible."""

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

from discriminants import Kernel

PACKAGES: dict[str, tuple[str, ...]] = {
    "asr": (),
    "asr.grammar": (),
    "asr.lexicon": (),
    "asr.validation": (),
    "asr.corpus.data_directory": ("DataDirectory", "Utterance", "read_data_directory"),
    "asr.corpus.writing": ("write_data_directory",),
    "asr.scoring.comparison": ("SystemComparison",),
    "asr.scoring.wer": ("ScoreReport", "score_utterances"),
    "asr.training.config": ("load_config",),
    "discriminants": (),
}
"""Packages and modules with their public names; an empty list means those of `__all__`."""


def public_names(package: str) -> dict[str, Any]:
    """Return the public classes and functions of a package, by name."""
    module = import_module(package)
    return {name: getattr(module, name) for name in PACKAGES[package] or sorted(module.__all__)}


def public_members(kind: type) -> dict[str, Callable[..., Any]]:
    """Return the public methods and properties of a class that this project defines, base classes first.

    Methods of kernels are described once, with their base.
    """
    if issubclass(kind, Kernel) and kind is not Kernel:
        return {}
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith(("asr", "discriminants")):
            found |= {name: member for name, member in vars(base).items() if not name.startswith("_")}
    methods = {name: _function(member) for name, member in found.items()}
    return {name: method for name, method in methods.items() if method is not None and method.__doc__}


def _function(member: Any) -> Any:
    if isinstance(member, property):
        return member.fget
    member = getattr(member, "__func__", None) or getattr(member, "func", None) or getattr(member, "fn", member)
    return member if inspect.isfunction(member) else None
