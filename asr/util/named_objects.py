"""Import of a class or function that the user names as `package.module:Class`."""

from importlib import import_module
from typing import Any

from asr.util.errors import ConfigError

REMEDY = "Expected package.module:Class; PYTHONPATH lists further folders of modules"


def is_import_path(name: str) -> bool:
    """Whether a name has the form `package.module:Class`, unlike registered names."""
    return ":" in name


def imported(name: str, what: str) -> Any:
    """Import the object `package.module:Class`; the name must come from the user, never from a model file.

    Raises ConfigError, which starts with `what`, if the module cannot be imported or has no such object.
    """
    module, _, qualified = name.partition(":")
    try:
        found = import_module(module)
        for part in qualified.split("."):
            found = getattr(found, part)
    except Exception as error:  # the code of another package can raise anything
        raise ConfigError(f"{what} {name!r} cannot be imported: {error}. {REMEDY}") from error
    return found
