"""Descriptions of all settings, from their classes; a settings file with every default.

A setting's description is the docstring below it in its class, or in a base class. It is read only when needed:
pydantic's `use_attribute_docstrings` parses the sources at every import, which takes 0.15 s.
"""

import ast
import json
import re
import types
from collections.abc import Iterator, Mapping
from functools import cache
from inspect import cleandoc, getsource
from itertools import pairwise
from pathlib import Path
from textwrap import dedent, wrap
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic_core import PydanticUndefined

from asr.training.config import AUTO, TrainingConfig
from asr.util.config_base import Settings

_WIDTH = 110
_NAMES: Mapping[Any, str] = {bool: "true or false", int: "integer", float: "number", str: "text", Path: "path"}
_BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


class Setting(NamedTuple):
    """A setting: name in its table, valid values, default (None if it has none), and description."""

    name: str
    values: str
    default: Any
    text: str


class Table(NamedTuple):
    """A table of settings: name in brackets, "" at the top; whether it is absent by default; and its settings."""

    name: str
    optional: bool
    text: str
    settings: list[Setting]


def tables() -> Iterator[Table]:
    """Yield all tables of a settings file, in its order.

    Raises
    ------
    ValueError
        For a setting without a description.
    """
    return _tables(TrainingConfig, TrainingConfig(), "", "Settings of the whole training.")


def annotated_file() -> str:
    """Return a settings file, in TOML, with the description and the default of every setting.

    Settings without a value by default are comments. Settings of `[hybrid_features]` are left out if `[features]` has
    the same default, because those of `[features]` hold for both.
    """
    lines = ["# Settings of `asr train`. Each setting has its default here; a file needs only those that"]
    lines += ["# differ. A comment has the description and the valid values.", ""]
    for table in tables():
        off = "# " if table.optional else ""
        lines += ["", *_comment(table.text), *([f"{off}[{table.name}]"] if table.name else []), ""]
        for setting in table.settings:
            given = "" if setting.default is None else toml(setting.default)
            out = off or ("" if given else "# ")
            lines += [*_comment(setting.text), f"# {setting.values}", f"{out}{setting.name} = {given}".rstrip(), ""]
    return "\n".join(lines).rstrip() + "\n"


def toml(value: Any) -> str:
    """Return a value as TOML writes it.

    Examples
    --------
    >>> from asr.training.annotated_settings import toml
    >>> toml((1, "auto", True))
    '[1, "auto", true]'
    """
    return f"[{', '.join(map(toml, value))}]" if isinstance(value, tuple) else json.dumps(value)


def _tables(kind: type[Settings], defaults: Settings | None, name: str, text: str) -> Iterator[Table]:
    own, inner = [], []
    for key, field in kind.model_fields.items():
        if key not in _descriptions(kind):
            raise ValueError(f"{kind.__module__}.{kind.__name__}.{key}: no docstring describes the setting.")
        default = field.get_default(call_default_factory=True) if defaults is None else getattr(defaults, key)
        kinds = (field.annotation, *(get_args(field.annotation) if get_origin(field.annotation) is not tuple else ()))
        table = next((part for part in kinds if _is_table(part)), None)
        if table is not None:
            inner.append((table, default, f"{name}.{key}".removeprefix("."), _descriptions(kind)[key]))
            continue
        if (name, key) == ("features", "sample_rate"):
            default = AUTO
        own.append(Setting(key, _values(field.annotation, field.metadata), _known(default), _descriptions(kind)[key]))
    if name == "hybrid_features":
        text += " It takes the settings of [features], except these, and others that it sets."
        shared = TrainingConfig().features
        own = [
            each for each in own if _known(getattr(shared, each.name)) != each.default and each.name != "sample_rate"
        ]
    yield Table(name, defaults is None, text, own)
    for table, default, path, description in inner:
        yield from _tables(table, default, path, description)


def _known(default: Any) -> Any:
    return None if default is PydanticUndefined else default


def _is_table(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Settings)


@cache
def _descriptions(kind: type[Settings]) -> dict[str, str]:
    """Return the docstrings below the fields of a class and its bases."""
    found: dict[str, str] = {}
    for base in reversed([base for base in kind.__mro__ if _is_table(base)]):
        body = ast.parse(dedent(getsource(base))).body[0].body  # type: ignore[attr-defined]
        for field, below in pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(field.target, ast.Name):
                found[field.target.id] = " ".join(cleandoc(ast.literal_eval(below.value)).split())
    return found


def _values(kind: Any, limits: Any = ()) -> str:
    """Describe the valid values of a type with pydantic's limits."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        inner = [limit for part in parts[1:] for limit in getattr(part, "metadata", [part])]
        return _values(parts[0], [*inner, *limits])
    if origin in (Union, types.UnionType):
        return ", or ".join(_values(part, limits) for part in parts if part is not type(None))
    if origin is Literal:
        return " or ".join(toml(part) for part in parts)
    if origin is tuple:
        if _is_table(parts[0]):
            return f"list of tables with {', '.join(parts[0].model_fields)}; or the path of a file"
        return "list of " + re.sub("^(integer|number)", r"\1s", _values(parts[0]))
    if origin is dict:
        return "table"
    bounds = {name: getattr(limit, name) for limit in limits for name in _BOUNDS if hasattr(limit, name)}
    shown = {name: f"{bound:g}" if isinstance(bound, float) else str(bound) for name, bound in bounds.items()}
    if shown.keys() == {"ge", "le"}:
        return f"{_NAMES[kind]} from {shown['ge']} to {shown['le']}"
    return ", ".join([_NAMES[kind], *(f"{_BOUNDS[name]} {bound}" for name, bound in shown.items())])


def _comment(text: str) -> list[str]:
    return wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_long_words=False)
