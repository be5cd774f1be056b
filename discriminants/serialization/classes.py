"""Classes by name, and estimators from their descriptions."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator

from discriminants.serialization.learners import LEARNERS
from discriminants.serialization.scikit_learn import CLASSIFIERS, OTHERS, Listed
from discriminants.util.errors import ModelFormatError, UntrustedClassError

_SCIKIT_LEARN = {**CLASSIFIERS, **OTHERS}


def scikit_learn_classifiers() -> list[str]:
    """Return the sorted import paths of the scikit-learn classifiers that can be made by name and saved in a model
    file.
    """
    return sorted(f"{listed.module}.{name}" for name, listed in CLASSIFIERS.items())


def make_estimator(
    name: str, parameters: dict[str, Any], attributes: dict[str, Any], trusted: tuple[str | type, ...]
) -> BaseEstimator:
    """Make an estimator of the class `module:Class` with these parameters and learned attributes.

    Classes, and classes of modules, in `trusted` are also allowed, unchecked, in addition to the listed ones of
    scikit-learn and this package. Raises ModelFormatError if the class is not allowed, does not accept the parameters,
    or cannot have learned the attributes.
    """
    kind, listed = _class_named(name, trusted)
    if listed is not None and "n_jobs" in parameters:
        parameters = parameters | {"n_jobs": None}  # a file must not determine the number of processes
    try:
        estimator = kind(**parameters)
        if listed is not None and hasattr(kind, "_parameter_constraints"):
            estimator._validate_params()
    except (TypeError, ValueError) as error:
        raise ModelFormatError(f"class {name!r} refused its parameters: {error}") from error
    if listed is not None:
        listed.suited(estimator)
    if attributes and listed is None and hasattr(estimator, "restore_state"):
        estimator.restore_state(attributes)
        return estimator
    set_by_itself = set(vars(estimator))
    taken = estimator.get_params(deep=False)
    for attribute, value in attributes.items():
        if not attribute.isidentifier() or attribute.startswith("__") or attribute in taken or hasattr(kind, attribute):
            raise ModelFormatError(f"{attribute!r} is not a learned attribute of class {name!r}")
        setattr(estimator, attribute, value)
    if listed is not None and attributes.keys() - set_by_itself:
        listed.whole(estimator)
    return estimator


def refuse_search(estimator: Any, where: str) -> None:
    """Raise ModelFormatError for a parameter search, whose folds and candidates do not belong to a model."""
    from sklearn.model_selection._search import BaseSearchCV  # slow to import

    if isinstance(estimator, BaseSearchCV):
        raise ModelFormatError(
            f"{where}: a parameter search cannot be saved in a model file. Use its best_estimator_; if the search is "
            "part of another estimator, fit that estimator with the best_estimator_"
        )


def require_known(estimator: Any, trusted: tuple[str | type, ...] = ()) -> None:
    """Raise ModelFormatError for an estimator or part, fitted or not, that `make_estimator` would refuse."""
    kind = type(estimator)
    refuse_search(estimator, kind.__name__)
    _, listed = _class_named(f"{kind.__module__}:{kind.__qualname__}", trusted)
    if listed is not None:
        listed.suited(estimator)
    for value in estimator.get_params(deep=False).values():
        for part in _estimators_in(value):
            require_known(part, trusted)


def _estimators_in(value: Any) -> Iterator[BaseEstimator]:
    if isinstance(value, BaseEstimator):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _estimators_in(item)


def _class_named(name: str, trusted: tuple[str | type, ...]) -> tuple[Any, Listed | None]:
    """Return the class of that name and its requirements; nothing is imported before the name is allowed."""
    module, _, qualified = name.partition(":")
    for given in trusted:
        if isinstance(given, type) and name == f"{given.__module__}:{given.__qualname__}":
            return given, None
    modules = [each for each in trusted if isinstance(each, str)]
    listed = _SCIKIT_LEARN.get(qualified)
    if listed is not None and _lies_in(module, listed.module):
        # Use the documented module: the private one may differ in this version.
        return getattr(import_module(listed.module), qualified), listed
    listed = LEARNERS.get(qualified)
    if listed is not None and module == listed.module:
        return getattr(import_module(module), qualified), listed
    if not any(_lies_in(module, prefix) for prefix in modules):
        if _lies_in(module, "sklearn") or _lies_in(module, "discriminants"):
            raise ModelFormatError(
                f"class {name!r} is not allowed in a model file. Expected a listed class, or its module in trusted"
            )
        known = ", ".join(("sklearn", "discriminants", *modules))
        raise UntrustedClassError(f"class {name!r} is outside the trusted modules {known}")
    try:
        kind: Any = import_module(module)
        for part in qualified.split("."):
            kind = getattr(kind, part)
    except (ImportError, AttributeError) as error:
        raise ModelFormatError(f"class {name!r} is not installed: {error}") from error
    if not (isinstance(kind, type) and issubclass(kind, BaseEstimator)):
        raise ModelFormatError(f"{name!r} is not an estimator class")
    if not any(_lies_in(kind.__module__, prefix) for prefix in modules):
        raise ModelFormatError(f"class {name!r} belongs to another package, {kind.__module__}")
    return kind, None


def _lies_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")
