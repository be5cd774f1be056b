"""Estimators declared by their parameters: constructor, constraints and documentation from a class and its bases."""

from dataclasses import MISSING, Field, dataclass, field
from inspect import Parameter, cleandoc, signature
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar, dataclass_transform

from sklearn.utils._param_validation import Interval, StrOptions

__all__ = ["COUNT", "NOT_NEGATIVE", "POSITIVE", "SHARE", "estimator", "field", "parameter"]

Class = TypeVar("Class", bound=type)

COUNT = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
SHARE = Interval(Real, 0, 1, closed="neither")

# Parameters that mean the same in classes without a common base.
SHARED = """
kernel : str, Kernel or callable
    "gaussian", "ard_gaussian", "laplacian", "exponential", "compact_gaussian", "polynomial", "sigmoid", "linear",
    "precomputed"; a kernel object, which brings parameters of its own; or a function of two arrays that returns the
    kernel matrix.
sigma : float, "scale" or ndarray of shape (n_samples,)
    Width of a kernel given by name, in the units of X; "scale" is the root of the summed feature variances. An array
    gives each sample a width of its own.
penalty : {"identity", "kernel"}
    P of a penalty mu alpha'P alpha: the identity (Mika 2002), or the kernel values among the centres, so that the
    penalty is the squared norm in the space of the kernel (Suykens et al. 2002). The second needs a symmetric kernel
    without large negative eigenvalues.
max_samples_per_class : int, optional
    Samples of a class that are learnt from, drawn at random; None takes all. The shares of the classes are those of
    all samples.
posterior : {"gaussian", "platt", "multinomial"}
    How outputs become posteriors (`discriminants.posteriors.output_models`): by normal densities (Andelic 2007); by a
    sigmoid of each; or by a multinomial logistic layer on all of them.
random_state : int, RandomState or None
    Seed or generator of the random numbers.
"""


class _Entry(NamedTuple):
    """One entry of a section: names with one type and text."""

    names: list[str]
    kind: str
    text: list[str]


def parameter(*allowed: Any, default: Any = MISSING, kw_only: bool = True) -> Any:
    """A constructor parameter and its allowed values: a set of strings, or a constraint of scikit-learn."""
    constraints = [StrOptions(values) if isinstance(values, set) else values for values in allowed]
    return field(default=default, kw_only=kw_only, metadata={"constraints": constraints})


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field, parameter))
def estimator(cls: Class) -> Class:
    """Complete a scikit-learn estimator from its class body and its bases.

    - `__init__`, unless the class has one: annotated names with a default are its parameters, base classes first. They
      are keywords, but for `kw_only=False`; `field(init=False)` is a fitted attribute or a fixed value.
    - `_parameter_constraints`: for each parameter those of the nearest class that has some.
    - `__doc__`: the sections Parameters, with defaults, and Attributes take what the class does not document from its
      bases, then from `SHARED`. An entry without text inherits it; one without a type adds its text to the inherited
      text. References come from the nearest base that has some.
    """
    kind: Any = cls
    own = {name: value.metadata for name, value in vars(cls).items() if isinstance(value, Field)}
    own = {name: metadata["constraints"] for name, metadata in own.items() if "constraints" in metadata}
    kind._declared = cls.__doc__, vars(cls).get("_parameter_constraints", {}) | own
    kind = dataclass(init="__init__" not in vars(cls), repr=False, eq=False, match_args=False, kw_only=True)(kind)
    parameters = signature(kind).parameters
    constraints: dict[str, list[Any]] = {}
    for base in reversed(kind.__mro__):
        constraints |= vars(base).get("_declared", (None, vars(base).get("_parameter_constraints", {})))[1]
    kind._parameter_constraints = {name: constraints[name] for name in parameters if name in constraints}
    if kind.__doc__:
        kind.__doc__ = _completed(kind, parameters.values())
    return cls


def _completed(kind: type, parameters: Any) -> str:
    """The docstring of a class with inherited parameters, attributes and references."""
    docs = [vars(base).get("_declared", (base.__doc__,))[0] for base in kind.__mro__]
    sections = [_sections(cleandoc(doc or "")) for doc in docs]
    described = [_entries(section.get("Parameters", [])) for section in sections] + [_entries(SHARED.splitlines())]
    attributes = [_entries(section.get("Attributes", [])) for section in sections]
    names = dict.fromkeys(name for entries in attributes for entry in entries for name in entry.names)
    parts = {
        "": sections[0][""],
        "Parameters": _lines([(p.name, *_with_default(p, *_described(p.name, described))) for p in parameters]),
        "Attributes": _lines([(name, *_described(name, attributes)) for name in names]),
        "References": next((section["References"] for section in sections if "References" in section), []),
    }
    parts |= {title: lines for title, lines in sections[0].items() if title not in parts}
    heads = {title: [title, "-" * len(title)] if title else [] for title in parts}
    return "\n\n".join("\n".join(heads[title] + lines).rstrip() for title, lines in parts.items() if lines) + "\n"


def _sections(doc: str) -> dict[str, list[str]]:
    """Lines below each heading of a docstring; those before the first heading are below ""."""
    lines, title = doc.splitlines(), ""
    found: dict[str, list[str]] = {title: []}
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if below.startswith("---"):
            title = line
            found[title] = []
        elif not line.startswith("---"):
            found[title].append(line)
    return {title: "\n".join(section).rstrip().splitlines() for title, section in found.items()}


def _entries(lines: list[str]) -> list[_Entry]:
    found: list[_Entry] = []
    for line in lines:
        if line and not line.startswith(" "):
            names, _, kind = line.partition(" : ")
            found.append(_Entry(names.split(", "), kind, []))
        elif found:
            found[-1].text.append(line)
    return found


def _described(name: str, sources: list[list[_Entry]]) -> tuple[str, list[str]]:
    """Type and text of a name, from the first of the sources that has it."""
    for i, entries in enumerate(sources):
        for entry in entries:
            if name in entry.names:
                if entry.kind and entry.text:
                    return entry.kind, entry.text
                kind, text = _described(name, sources[i + 1 :])
                return entry.kind or kind, text + entry.text
    return "", []


def _with_default(parameter: Parameter, kind: str, text: list[str]) -> tuple[str, list[str]]:
    if parameter.default is Parameter.empty:
        return kind, text
    default = f'"{parameter.default}"' if isinstance(parameter.default, str) else repr(parameter.default)
    return f"{kind.removesuffix(', optional')}, default={default}".removeprefix(", "), text


def _lines(descriptions: list[tuple[str, str, list[str]]]) -> list[str]:
    """Names with their types and texts as lines of a section."""
    return [line for name, kind, text in descriptions for line in (f"{name} : {kind}" if kind else name, *text)]
