"""Base of all tables of settings: the model, bounded numbers, and error messages.

Each number has bounds beyond any sensible value. They reject typos and malicious files on reading, instead of hours
later when a model is saved or memory is exhausted.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral
from reprlib import Repr
from typing import Any, Self, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from asr.util.errors import Issue

DEEPEST = 20
"""Maximum depth of nested tables and lists."""
MAX_INTEGER = 2**63 - 1
MAX_NAME_LENGTH = 4096


class Settings(BaseModel):
    """Frozen table of settings, without unknown names and non-finite numbers.

    Text is not converted to numbers, nor floats and booleans to integers. Lists are accepted for tuples, and integers
    of other types, such as NumPy's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _as_written(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        return {name: _with_tuples(value) for name, value in values.items()}

    def disagreements(self) -> Iterator[tuple[str, str]]:
        """Yield conflicts between valid settings: the one to change first, and the reason."""
        return iter(())

    @model_validator(mode="after")
    def _agreeing(self) -> Self:
        refuse(type(self), self, self.disagreements())
        return self


def refuse(table: type[Settings], value: Any, reasons: Iterable[tuple[str, str]]) -> None:
    """Raise ValidationError with all reasons, each with the setting to change first."""
    lines = []
    for name, why in reasons:
        parts = tuple(name.split("."))
        kind = PydanticCustomError(_DISAGREEMENT, "{reason}", {"reason": why, "depth": len(parts)})
        lines.append(InitErrorDetails(type=kind, loc=parts, input=value))
    if lines:
        raise ValidationError.from_exception_data(table.__name__, lines)


_DISAGREEMENT = "disagreement"


def _with_tuples(value: Any) -> Any:
    """Convert JSON or TOML lists to tuples, and integers to Python's."""
    return tuple(map(_whole, value)) if isinstance(value, list | tuple) else _whole(value)


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else value


def faults_in_value(value: Any, *, finite: bool = True) -> Iterator[tuple[str, str]]:
    """Yield the parts of `value` that cannot be written, by name ("gmm.mixtures.1"), and the reasons.

    Valid values are those of both JSON and TOML: text, 64-bit integers, numbers (finite by default), booleans, and
    lists and tables of these, at most 20 deep. Excessive depth is reported last.
    """
    waiting: list[tuple[tuple[str, ...], Any]] = [((), value)]
    while waiting:
        name, part = waiting.pop()
        fault = None
        if len(name) > DEEPEST:
            yield name[0], f"has lists or tables nested more than {DEEPEST} deep"
            return
        if isinstance(part, dict):
            waiting += [((*name, str(key)), inner) for key, inner in part.items()]
        elif isinstance(part, list | tuple):
            waiting += [((*name, str(number)), inner) for number, inner in enumerate(part)]
        elif isinstance(part, int):
            if abs(part) > MAX_INTEGER:
                fault = f"must be an integer between -{MAX_INTEGER} and {MAX_INTEGER}"
        elif isinstance(part, float):
            if finite and not abs(part) < float("inf"):
                fault = f"must be a finite number, not {part}"
        elif not isinstance(part, str | None):
            fault = f"must be text, a number, or a list or table of them, not a {type(part).__name__}"
        if fault is not None:
            yield ".".join(name) or "it", fault


def fault_in_value(value: Any) -> str | None:
    """Return why `value` cannot be written, with the name of the part; None if it can."""
    return next((f"{name}: {fault}" for name, fault in faults_in_value(value)), None)


def printable_name(name: str) -> str:
    """Return the name; ValueError if it is empty, very long or not printable."""
    if not name or not name.isprintable() or len(name) > MAX_NAME_LENGTH:
        raise ValueError(f"must be a printable name of at most {MAX_NAME_LENGTH} characters")
    return name


def distinct(values: tuple[float, ...]) -> tuple[float, ...]:
    """Return the values; ValueError if two are written equally, because they name copies."""
    if len({f"{value:g}" for value in values}) < len(values):
        raise ValueError("must differ from each other in their first six digits")
    return values


CONFLICT = "settings-conflict"
"""Code of a conflict between valid settings; other issues of settings have "settings"."""


def faults(error: ValidationError, table: type[Settings] | None = None) -> list[Issue]:
    """Return all issues found by pydantic, each with its setting.

    With `table`, unknown names come with similar valid ones.
    """
    problems: dict[str, list[Any]] = {}
    disagreements = []
    for problem in error.errors(include_url=False):
        # pydantic's names include the alternative types.
        parts = [str(part) for part in problem["loc"] if not str(part).startswith(_KINDS_TRIED)]
        if problem["type"] == _DISAGREEMENT:
            told_by = ".".join(parts[: len(parts) - problem["ctx"]["depth"]])
            phrase = ": ".join(filter(None, (told_by, problem["ctx"]["reason"])))
            disagreements.append(Issue(CONFLICT, phrase, setting=".".join(parts)))
        else:
            problems.setdefault(".".join(parts), []).append(problem)
    # If a word is allowed instead of a list, only faults of the list are relevant.
    texts = {name: of for name, of in problems.items() if not any(other.startswith(f"{name}.") for other in problems)}
    invalid = [Issue("settings", _phrase(name, of, table), setting=name or "settings") for name, of in texts.items()]
    return invalid + disagreements


_KINDS_TRIED = ("function-", "tuple[", "literal[", "constrained-")


def _phrase(name: str, problems: list[Any], table: type[Settings] | None) -> str:
    """Describe the faults of one setting, which may have alternative types."""
    first, value = problems[0], problems[0]["input"]
    if first["type"] == "extra_forbidden":
        return f"{name} is not known" if table is None else f"{name} is not a setting{_meant(name.split('.'), table)}"
    if first["type"] == "missing":
        return f"{name} is missing"
    right = [_right(problem) for problem in problems]
    wanted = " or ".join([right[0], *(one.removeprefix("must be ") for one in right[1:])])
    where = name or "settings"
    if first["type"] == "file" or (first["type"] == "value_error" and isinstance(value, dict | BaseModel)):
        return f"{where}: {wanted}"  # a file named by the setting, or a whole table
    if first["type"] not in _TYPES:
        return f"{where}: {wanted}, not {_shown(value)}"
    return f"{where}: {wanted}, not {_shown(value)}{_kind(value)}{_remedy(first['type'], value)}"


_TYPES = {
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "text",
    "path_type": "the path of a file or folder",
    "tuple_type": "a list in square brackets",
    "list_type": "a list in square brackets",
    "dict_type": "a table of names and values",
    "model_type": "a table of settings",
}
"""Expected values for pydantic's type errors."""
_LIMITS = {
    "greater_than": "greater than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "literal_error": "{expected}",
    "finite_number": "a finite number",
}


def _right(problem: Mapping[str, Any]) -> str:
    """Describe the valid values: `must be at least 0`."""
    kind, given = problem["type"], problem.get("ctx", {})
    if kind in _TYPES:
        return f"must be {_TYPES[kind]}"
    if kind in _LIMITS:
        limits = {name: f"{limit:g}" if isinstance(limit, float) else limit for name, limit in given.items()}
        return f"must be {_LIMITS[kind].format(**limits)}"
    if kind in ("too_short", "too_long"):
        limit = f"at least {given['min_length']}" if kind == "too_short" else f"at most {given['max_length']}"
        return f"must have {limit} {'entry' if limit.endswith(' 1') else 'entries'}"
    message: str = problem["msg"]
    return message.removeprefix("Value error, ").replace("Input should be", "must be")


_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "a boolean"),
    (str, "text"),
    (int, "a whole number"),
    (float, "a number with a decimal point"),
    ((list, tuple), "a list"),
)


def _kind(value: Any) -> str:
    kinds = [name for types, name in _KINDS if isinstance(value, types)]
    return f" ({kinds[0]})" if kinds else ""


_IN_QUOTES = {"int_type": r"[-+]?\d{1,18}", "float_type": r"[-+]?(\d{1,18}(\.\d*)?|\.\d+)", "bool_type": "true|false"}


def _remedy(wanted: str, value: Any) -> str:
    """Return the notation of the value that was probably intended."""
    if isinstance(value, str) and re.fullmatch(_IN_QUOTES.get(wanted, "(?!)"), value, re.ASCII):
        return ". Write it without quotes"
    if wanted == "int_type" and isinstance(value, float) and value.is_integer() and abs(value) < MAX_INTEGER:
        return f". Write {int(value)}"
    if wanted == "tuple_type" and isinstance(value, int | float) and not isinstance(value, bool):
        return f". Write [{_shown(value)}]"
    return ""


def _meant(parts: list[str], table: type[Settings]) -> str:
    """Return a suggestion such as `; did you mean gmm.mixtures?`, from the same table or another one."""
    names = _setting_names(table)
    place, name = ".".join(parts[:-1]), parts[-1]
    beside = [other.rpartition(".")[2] for other in names if other.rpartition(".")[0] == place]
    near = [f"{place}.{other}".removeprefix(".") for other in difflib.get_close_matches(name, beside, 1, 0.7)]
    if not near:
        last = {other: other.rpartition(".")[2] for other in names}
        like = difflib.get_close_matches(name, set(last.values()), 1, 0.7)  # prefer the same name to a similar one
        near = [other for other in names if last[other] in like]
    return f". Did you mean {' or '.join(near[:3])}?" if near else ""


def _setting_names(table: type[BaseModel], before: str = "") -> list[str]:
    names = []
    for name, field in table.model_fields.items():
        names.append(before + name)
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                names += _setting_names(kind, f"{before}{name}.")
    return names


_LISTED = Repr()
_LISTED.maxstring = _LISTED.maxother = _LISTED.maxlong = 100


def _shown(value: Any) -> str:
    """Format a value as in a file, shortened in the middle if long."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | BaseModel):
        return "a table"
    if value is None:
        return "nothing"
    try:
        return _LISTED.repr(list(value) if isinstance(value, tuple) else value)
    except (ValueError, RecursionError):  # integers with thousands of digits, infinite nesting
        return f"this {type(value).__name__}"
