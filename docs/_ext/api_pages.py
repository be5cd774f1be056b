"""The pages of the API, reference/api/generated/: one a package, with its functions, and one a class."""

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from generated import write_page
from public_names import PACKAGES, public_members, public_names
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sphinx.application import Sphinx

from discriminants import Kernel

_KINDS = ["Classifiers", "Regressors", "Other estimators", "Kernels", "Classes", "Exceptions", "Functions"]
_LITERAL = re.compile(r"(``.*?``|`[^`]*`)", re.DOTALL)
_MARKUP = re.compile(r"([*|])|(?<=\w)(_)(?!\w)")


def _kind(item: Any) -> str:
    if not inspect.isclass(item):
        return "Functions"
    if issubclass(item, BaseEstimator):
        found = [ClassifierMixin, RegressorMixin, item]
        return _KINDS[next(number for number, base in enumerate(found) if issubclass(item, base))]
    return "Kernels" if issubclass(item, Kernel) else "Exceptions" if issubclass(item, Exception) else "Classes"


def _heading(text: str, line: str) -> list[str]:
    return [text, line * len(text), ""]


def _class_page(package: str, name: str, kind: type) -> list[str]:
    members = ", ".join(public_members(kind))
    options = [f"   :members: {members}"] if members else []
    lines = [
        *_heading(name, "="),
        f".. currentmodule:: {package}",
        "",
        f".. autoclass:: {package}.{name}",
        *options,
        "",
    ]
    if issubclass(kind, BaseEstimator):
        lines += ["``get_params``, ``set_params`` and ``score`` are those of scikit-learn's estimators."]
    return lines


def _package_page(package: str, names: dict[str, Any]) -> list[str]:
    summary = (import_module(package).__doc__ or "").split("\n\n")[0]
    lines = [*_heading(package, "="), _escaped(summary), "", f".. currentmodule:: {package}", ""]
    for kind in _KINDS:
        own = [name for name, item in names.items() if _kind(item) == kind]
        if own:
            lines += [*_heading(kind, "-"), ".. autosummary::", "", *(f"   {name}" for name in own), ""]
        if kind == "Functions":
            lines += [line for name in own for line in (f".. autofunction:: {package}.{name}", "")]
    classes = [name for name, item in names.items() if inspect.isclass(item)]
    return [*lines, ".. toctree::", "   :hidden:", "", *(f"   {package}.{name}" for name in classes)]


def _write(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "reference" / "api" / "generated"
    pages = {}
    for package in PACKAGES:
        names = public_names(package)
        pages[package] = _package_page(package, names)
        for name, item in names.items():
            if inspect.isclass(item):
                pages[f"{package}.{name}"] = _class_page(package, name, item)
    for old in set(folder.glob("*.rst")) - {folder / f"{page}.rst" for page in pages}:
        old.unlink()
    for page, lines in pages.items():
        write_page(folder / f"{page}.rst", lines)


def _escape(app: Sphinx, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    """Keep characters of formulas from being read as markup; text in backticks is code, and examples stay."""
    head, examples, rest = "\n".join(lines).partition("\nExamples\n---")
    lines[:] = (_escaped(head) + examples + rest).split("\n")


def _escaped(text: str) -> str:
    parts = _LITERAL.split(text)
    parts[::2] = [_MARKUP.sub(r"\\\g<0>", part) for part in parts[::2]]
    parts[1::2] = [f"``{part.strip('`')}``" for part in parts[1::2]]
    return "".join(parts)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before the pages are read."""
    app.connect("builder-inited", _write)
    app.connect("autodoc-process-docstring", _escape, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
