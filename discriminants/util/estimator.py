"""Estimators declared by their parameters: constructor, constraints and documentation from class and bases."""

from dataclasses import MISSING, Field, dataclass, field
from inspect import signature
from numbers import Integral, Real
from typing import Any, TypeVar, dataclass_transform

from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions

from discriminants.util.docstrings import (
    SHARED_BY_CLASSES,
    SHARED_BY_FITS,
    SHARED_BY_METHODS,
    completed,
    with_example,
)

__all__ = ["COUNT", "NOT_NEGATIVE", "POSITIVE", "SHARE", "estimator", "field", "parameter"]

Class = TypeVar("Class", bound=type)

COUNT = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
SHARE = Interval(Real, 0, 1, closed="neither")

_FITS = ("fit", "partial_fit")
_METHODS = (*_FITS, "predict", "decision_function", "predict_proba", "predict_log_proba", "transform")


def parameter(*allowed: Any, default: Any = MISSING, kw_only: bool = True) -> Any:
    """Declare a constructor parameter with its allowed values: a set of strings, or a constraint of scikit-learn."""
    constraints = [StrOptions(values) if isinstance(values, set) else values for values in allowed]
    return field(default=default, kw_only=kw_only, metadata={"constraints": constraints})


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field, parameter))
def estimator(cls: Class) -> Class:
    """Complete a scikit-learn estimator from its class body and its bases.

    - `__init__`, unless the class defines one. Its parameters are the annotated names with a default, base classes
      first. They are keywords, except with `kw_only=False`. `field(init=False)` is a fitted attribute or a fixed value.
    - `_parameter_constraints`: for each parameter those of the nearest class that defines some.
    - `__doc__` of the class and of its methods: missing entries come from the bases, then from shared descriptions
      (`util.docstrings.completed`). A public class has an example (`util.docstrings.with_example`).
    """
    kind: Any = cls
    metadata = {name: value.metadata for name, value in vars(cls).items() if isinstance(value, Field)}
    allowed = {name: values["constraints"] for name, values in metadata.items() if "constraints" in values}
    kind._declared = cls.__doc__, vars(cls).get("_parameter_constraints", {}) | allowed
    kind = dataclass(init="__init__" not in vars(cls), repr=False, eq=False, match_args=False, kw_only=True)(kind)
    parameters = signature(kind).parameters
    constraints: dict[str, list[Any]] = {}
    for base in reversed(kind.__mro__):
        constraints |= vars(base).get("_declared", (None, vars(base).get("_parameter_constraints", {})))[1]
    kind._parameter_constraints = {name: constraints[name] for name in parameters if name in constraints}
    if kind._declared[0]:  # python -OO leaves docstrings out
        docs = [vars(base).get("_declared", (base.__doc__,))[0] for base in kind.__mro__]
        if not cls.__name__.startswith("_"):
            docs[0] = with_example(docs[0], cls.__name__, regressor=issubclass(cls, RegressorMixin))
        kind.__doc__ = completed([*docs, SHARED_BY_CLASSES], parameters.values())
    for name in _METHODS:
        if name in vars(cls):
            names = dict.fromkeys([name, "fit"] if name in _FITS else [name])
            found = [vars(base).get(each) for each in names for base in kind.__mro__]
            own, *others = [
                getattr(method, "fn", method) for method in found if method
            ]  # `fn` of `available_if_streaming`
            if not own.__doc__:
                continue
            docs = [own.__doc__, *(getattr(method, "_declared", method.__doc__) for method in others)]
            docs += [SHARED_BY_METHODS, *([SHARED_BY_FITS] if name in _FITS else [])]
            own._declared, own.__doc__ = own.__doc__, completed(docs, list(signature(own).parameters.values())[1:])
    return cls
