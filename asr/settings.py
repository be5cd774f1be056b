"""What all tables of settings have in common: the base model, numbers with bounds, and how a fault is told.

Every number has a lower and an upper bound that no sensible use meets. They are there so that a slip of the keyboard,
or a file made up to do harm, is refused on reading and not hours later, when a model is saved or the memory is full.
"""

import difflib
from typing import Any, ClassVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

DEEPEST = 20
"""Tables and lists inside each other."""
LARGEST_INTEGER = 2**63 - 1
LONGEST_NAME = 4096


class Settings(BaseModel):
    """A table of settings: frozen, without names that are no settings, and without numbers that are not finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    old_names: ClassVar[dict[str, str]] = {}
    """Names that a setting had once, in files that are still read, and the name it has now."""

    @model_validator(mode="before")
    @classmethod
    def _new_names(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        both = [old for old, new in cls.old_names.items() if old in values and new in values]
        if both:
            raise ValueError(f"{both[0]} is the old name of {cls.old_names[both[0]]}; give one of them")
        return {cls.old_names.get(name, name): value for name, value in values.items()}


def fault_in_value(value: Any, *, finite: bool = True) -> str | None:
    """Why `value` could not be written down again, after the name of the part at fault; None if it could.

    Values are what JSON and TOML share: text, integers of 64 bits, numbers (finite ones, unless told otherwise), truth
    values, and lists and tables of them, up to 20 deep.
    """
    waiting: list[tuple[tuple[str, ...], Any]] = [((), value)]
    while waiting:
        name, part = waiting.pop()
        fault = None
        if len(name) > DEEPEST:
            return f"{name[0]}: has lists or tables inside each other, more than {DEEPEST} deep"
        if isinstance(part, dict):
            waiting += [((*name, str(key)), inner) for key, inner in part.items()]
        elif isinstance(part, list | tuple):
            waiting += [((*name, str(number)), inner) for number, inner in enumerate(part)]
        elif isinstance(part, int):
            if abs(part) > LARGEST_INTEGER:
                fault = f"must be an integer between -{LARGEST_INTEGER} and {LARGEST_INTEGER}"
        elif isinstance(part, float):
            if finite and not abs(part) < float("inf"):
                fault = f"must be a finite number, not {part}"
        elif not isinstance(part, str | None):
            fault = f"must be text, a number, or a list or table of them, not a {type(part).__name__}"
        if fault is not None:
            return f"{'.'.join(name) or 'it'}: {fault}"
    return None


def printable_name(name: str) -> str:
    """The name of something outside; ValueError if it is empty, very long or holds what cannot be printed."""
    if not name or not name.isprintable() or len(name) > LONGEST_NAME:
        raise ValueError(f"must be a name of at most {LONGEST_NAME} characters, all of which can be printed")
    return name


def distinct(values: tuple[float, ...]) -> tuple[float, ...]:
    """The values; ValueError if two are written alike, since copies are named after them."""
    if len({f"{value:g}" for value in values}) < len(values):
        raise ValueError("must be different from each other in their first six digits")
    return values


def faults(error: ValidationError, table: type[Settings] | None = None) -> dict[str, str]:
    """A phrase for every setting that is wrong, by its name with the names of its tables before it.

    With `table`, that of the settings read, a name that is none comes with those it may have been meant for.
    """
    found: dict[str, str] = {}
    for problem in error.errors():
        # Among the names pydantic has the kinds of value that it tried.
        parts = [str(part) for part in problem["loc"] if not str(part).startswith(("function-", "tuple[", "literal["))]
        where = ".".join(parts) or "settings"
        if problem["type"] == "extra_forbidden":
            found[where] = f"{where} is no setting{_meant(parts, table)}"
        elif problem["type"] == "missing":
            found[where] = f"{where} is missing"
        elif isinstance(problem["input"], dict | BaseModel):
            # The fault lies in how several settings of a table go together, which the message names.
            found[where] = f"{where}: {problem['msg'].removeprefix('Value error, ')}"
        else:
            found[where] = f"{where}: {problem['msg'].removeprefix('Value error, ')}, not {_shown(problem['input'])}"
    return found


def _meant(parts: list[str], table: type[Settings] | None) -> str:
    """`; did you mean gmm.mixtures?` for a name like one of its table, or like one of another."""
    if table is None:
        return ""
    names = _setting_names(table)
    place, name = ".".join(parts[:-1]), parts[-1]
    beside = [other.rpartition(".")[2] for other in names if other.rpartition(".")[0] == place]
    near = [f"{place}.{other}".removeprefix(".") for other in difflib.get_close_matches(name, beside, 1, 0.7)]
    near = near or [other for other in names if other.rpartition(".")[2] == name]
    return f"; did you mean {' or '.join(near[:3])}?" if near else ""


def _setting_names(table: type[BaseModel], before: str = "") -> list[str]:
    """Every setting's name, with those of its tables before it."""
    names = []
    for name, field in table.model_fields.items():
        names.append(before + name)
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                names += _setting_names(kind, f"{before}{name}.")
    return names


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits, tables without end
        return f"this {type(value).__name__}"
